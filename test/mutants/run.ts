/**
 * Puts one fault at a time into a scratch copy of the code and runs the tests that must notice it:
 * npm run test:mutants [-- NAME …] [--quick] [--write]. Without names all mutants run, with --quick the few that run
 * before every merge; either way all must apply to the code as it is. The exit status is 1 when one does not, when a fault
 * goes unnoticed that should not, or when the tests of a mutant fail without it. --write keeps what was
 * found in test/mutants/table.md.
 */

import { spawn } from "node:child_process";
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { MUTANTS } from "./all.ts";
import { applyTo, type Mutant } from "./mutant.ts";

interface TestRun {
  readonly passed: boolean;
  /** The names of the tests that failed, in order. */
  readonly failed: readonly string[];
  readonly seconds: number;
}

interface Finding {
  readonly mutant: Mutant;
  readonly noticedBy: string | undefined;
  readonly fault: string | undefined;
  readonly seconds: number;
}

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
/** Also what tests build: a build with a fault in it must not come into the repository. */
const COPIED = [
  ...["src", "test", "bench", "scripts", "docs", "agents", "python", "bin", "dist"],
  ...["package.json", "tsconfig.json", "tsconfig.build.json"],
];
const LINKED = ["node_modules", "models", "README.md", "AGENTS.md", "CHANGELOG.md", "package-lock.json"];
const AT_ONCE = 2;
const RUN_LIMIT_MS = 120_000;
const TABLE = join(ROOT, "test/mutants/table.md");
const UNNOTICED = "not noticed:";
const NOT_ENDED = "(the tests did not end)";

/** A copy of the repository in which faults are put. */
class Scratch {
  readonly folder = mkdtempSync(join(tmpdir(), "sideband-mutants-"));

  constructor() {
    for (const name of COPIED.filter((name) => existsSync(join(ROOT, name))))
      cpSync(join(ROOT, name), join(this.folder, name), {
        recursive: true,
        // What is older than its sources is built anew.
        preserveTimestamps: true,
        filter: (path) => !path.startsWith(join(ROOT, "test/output")) && !path.endsWith("node_modules"),
      });
    for (const name of LINKED) symlinkSync(join(ROOT, name), join(this.folder, name));
  }

  async runWith(mutant: Mutant): Promise<TestRun> {
    const path = join(this.folder, mutant.file);
    const text = readFileSync(path, "utf8");
    writeFileSync(path, applyTo(text, mutant));
    try {
      return await this.run(mutant);
    } finally {
      writeFileSync(path, text);
    }
  }

  run({ tests, only }: Mutant): Promise<TestRun> {
    const startedMs = performance.now();
    const pattern = only === undefined ? [] : [`--test-name-pattern=${only}`];
    const args = ["--import", "tsx", "--test-reporter=tap", ...pattern, "test/test-process.ts", ...tests];
    const child = spawn(process.execPath, args, {
      cwd: this.folder,
      detached: true,
      stdio: ["ignore", "pipe", "ignore"],
    });
    let output = "";
    child.stdout.on("data", (chunk) => {
      output += chunk;
    });
    return new Promise((resolve) => {
      const timer = setTimeout(() => process.kill(-child.pid!, "SIGKILL"), RUN_LIMIT_MS);
      child.once("close", (status, signal) => {
        clearTimeout(timer);
        const failed = [...output.matchAll(/^ *not ok \d+ - (.*)$/gm)].map(([, name]) => name.trim());
        if (signal !== null) failed.push(NOT_ENDED);
        // With a pattern, the test that stands for a file that cannot be loaded is skipped.
        const loaded = !/ can be loaded # SKIP/.test(output);
        resolve({ passed: status === 0 && loaded, failed, seconds: (performance.now() - startedMs) / 1000 });
      });
    });
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { quick: { type: "boolean", default: false }, write: { type: "boolean", default: false } },
});
const unknown = positionals.find((name) => !MUTANTS.some((mutant) => mutant.name === name));
if (unknown !== undefined) {
  console.error(`there is no mutant ${unknown}`);
  process.exit(2);
}
const chosen = MUTANTS.filter(({ name }) => positionals.length === 0 || positionals.includes(name)).filter(
  ({ quick }) => !values.quick || quick,
);

const outdated = (positionals.length === 0 ? MUTANTS : chosen).flatMap(faultOf);
for (const fault of outdated) console.error(`✖ ${fault}`);
if (outdated.length > 0) process.exit(1);
const findings = await runAll(chosen);
const wrong = findings.filter(({ fault }) => fault !== undefined);
const noticed = findings.filter(({ noticedBy }) => noticedBy !== undefined).length;
for (const { mutant, fault } of wrong) console.log(`✖ ${mutant.name}: ${fault}`);
console.log(`${findings.length} faults, ${noticed} noticed, ${wrong.length} not as expected`);
if (values.write) writeFileSync(TABLE, tableOf(findings, readFileSync(TABLE, "utf8")));
process.exitCode = wrong.length === 0 ? 0 : 1;

/** What is wrong with the mutant itself: it does not apply, has the name of another, or names a test that is not there. */
function faultOf(mutant: Mutant): string[] {
  const { name, file, tests } = mutant;
  const missing = [file, ...tests].find((path) => !existsSync(join(ROOT, path)));
  if (missing !== undefined) return [`${name}: there is no ${missing}`];
  if (MUTANTS.find((other) => other.name === name) !== mutant) return [`${name}: another has this name`];
  try {
    applyTo(readFileSync(join(ROOT, file), "utf8"), mutant);
    return [];
  } catch (error) {
    return [(error as Error).message];
  }
}

async function runAll(mutants: readonly Mutant[]): Promise<Finding[]> {
  const waiting = [...mutants];
  const findings: Finding[] = [];
  const sound = new Map<string, Promise<TestRun>>();
  const work = async () => {
    const scratch = new Scratch();
    try {
      for (let mutant = waiting.shift(); mutant !== undefined; mutant = waiting.shift()) {
        const finding = await judge(scratch, mutant, sound);
        findings.push(finding);
        const mark = finding.fault === undefined ? "✔" : "✖";
        console.log(
          `${mark} ${mutant.name} (${finding.seconds.toFixed(0)} s): ${finding.noticedBy ?? "unnoticed"}`,
        );
      }
    } finally {
      scratch.remove();
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return mutants.map((mutant) => findings.find((finding) => finding.mutant === mutant)!);
}

/** @param sound the runs without a fault, by what they run: a test that fails anyway notices nothing */
async function judge(
  scratch: Scratch,
  mutant: Mutant,
  sound: Map<string, Promise<TestRun>>,
): Promise<Finding> {
  const tests = JSON.stringify([mutant.tests, mutant.only]);
  const before = sound.get(tests) ?? scratch.run(mutant);
  sound.set(tests, before);
  const none = { mutant, noticedBy: undefined, seconds: 0 };
  if (!(await before).passed)
    return { ...none, fault: `its tests fail without it: ${(await before).failed.join("; ")}` };
  let run: TestRun;
  try {
    run = await scratch.runWith(mutant);
  } catch (error) {
    return { ...none, fault: (error as Error).message };
  }
  const { seconds } = run;
  if (!run.passed) return { mutant, noticedBy: run.failed[0] ?? NOT_ENDED, seconds, fault: undefined };
  return { ...none, seconds, fault: mutant.unnoticed === undefined ? "no test notices it" : undefined };
}

/** With the rows of the mutants that did not run as they are. */
function tableOf(findings: readonly Finding[], before: string): string {
  const kept = new Map([...before.matchAll(/^\| ([a-z0-9-]+) \|.*$/gm)].map(([row, name]) => [name, row]));
  for (const finding of findings) kept.set(finding.mutant.name, rowOf(finding));
  const rows = MUTANTS.flatMap(({ name }) => kept.get(name) ?? []);
  const unnoticed = rows.filter((row) => row.includes(UNNOTICED)).length;
  return `# Faults, and the tests that notice them

Made by \`npm run test:mutants -- --write\`: each fault is put into the code alone, and the tests named in its entry are run.
${rows.length - unnoticed} of ${rows.length} are noticed.

| fault | what is wrong then | the first test that notices it |
|---|---|---|
${rows.join("\n")}
`;
}

function rowOf({ mutant: { name, fault, unnoticed }, noticedBy }: Finding): string {
  const cells = [name, fault, noticedBy ?? `${UNNOTICED} ${unnoticed ?? "no test"}`];
  return `| ${cells.map((text) => text.replaceAll("|", "\\|").replaceAll("\n", " ")).join(" | ")} |`;
}
