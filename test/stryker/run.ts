/**
 * Mutation testing: npm run test:stryker -- FOLDER [PART …]. Stryker puts every small fault it knows into the files of a
 * folder of src, one at a time, or into those whose path contains one of the parts, and runs the tests of the table that
 * reach the fault. What no test notices is printed, but for the faults that scores.md lists.
 * Needs Node 24 and Stryker, which npx fetches into its cache. The report is in test/output/stryker.
 */

import { spawn } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { PostgresServer } from "../../bench/store/postgres-server.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));

/** The folders, each with the files of its tests, and the names of tests that are left out because they take seconds. */
const TESTS: Readonly<
  Record<string, { readonly files: RegExp; readonly left?: RegExp; readonly postgres?: true }>
> = {
  "src/http/request": {
    files: /^test\/unit\/http\/(?!one-write|bare-answers)/,
    left: /of thousands of requests|between two requests of|bodies come to their/,
  },
  "src/memory": { files: /^test\/unit\/memory\// },
  "src/blockwork": { files: /^test\/unit\/(blockwork\/|memory\/(blocks|flush))/ },
  "src/store/lmdb": {
    files: /^test\/unit\/store\/(lmdb|group-commit|life-source)/,
    left: /compacting beside writers|a folder has one owner/,
  },
  "src/sdk": { files: /^test\/unit\/(sdk\/|agent-side\/memory-section)/ },
  "src/store/postgres/queries": {
    files: /^test\/unit\/store\/(postgres(-writes|-events|-queries)?\.test|keys-watch)/,
    postgres: true,
  },
};

interface Report {
  readonly files: Readonly<Record<string, { readonly source: string; readonly mutants: readonly Mutant[] }>>;
}
interface Mutant {
  readonly mutatorName: string;
  readonly replacement?: string;
  readonly status: string;
  readonly location: { readonly start: Place; readonly end: Place };
}
interface Place {
  readonly line: number;
  readonly column: number;
}

const [folder, ...parts] = process.argv.slice(2);
if (folder === undefined || TESTS[folder] === undefined) {
  console.error(
    `npm run test:stryker -- FOLDER [PART …], where FOLDER is one of: ${Object.keys(TESTS).join(", ")}`,
  );
  process.exit(2);
}
const filesIn = (path: string) =>
  readdirSync(join(ROOT, path), { recursive: true, encoding: "utf8" }).map((name) => join(path, name));
const mutate = filesIn(folder).filter(
  (path) => path.endsWith(".ts") && (parts.length === 0 || parts.some((part) => path.includes(part))),
);
const tests = filesIn("test").filter((path) => path.endsWith(".test.ts") && TESTS[folder].files.test(path));

const output = join(ROOT, "test/output/stryker");
const report = join(output, `${folder.replaceAll("/", "-")}.json`);
// Where memory is a folder, the tests that write to disk do not wait for it.
const scratch = mkdtempSync(join(existsSync("/dev/shm") ? "/dev/shm" : tmpdir(), "sideband-stryker-"));
mkdirSync(output, { recursive: true });
const config = join(scratch, "stryker.config.json");
writeFileSync(
  config,
  JSON.stringify({
    mutate,
    plugins: [fileURLToPath(new URL("./test-runner.ts", import.meta.url))],
    testRunner: "in-process",
    testRunnerNodeArgs: ["--no-warnings"],
    // The types of code with faults are nobody's business: Node strips them.
    disableTypeChecks: false,
    tsconfigFile: "absent.json",
    coverageAnalysis: "perTest",
    // What is computed once while a module loads needs a process for each fault.
    ignoreStatic: true,
    // Messages, names of metrics and lines of the log; a text that decides something is compared elsewhere.
    mutator: { excludedMutations: ["StringLiteral"] },
    ignorers: ["assertions"],
    concurrency: 2,
    dryRunTimeoutMinutes: 30,
    // For what never lets go of the processor, which others may use too.
    timeoutMS: 30_000,
    timeoutFactor: 4,
    tempDirName: join(scratch, "sandbox"),
    ignorePatterns: ["training", "test/output", "test/hosts", "test/tokenizers", "docs/pictures"],
    reporters: ["progress-append-only", "json"],
    jsonReporter: { fileName: report },
    // A later run repeats only what a change of the code or of the tests may have changed.
    incremental: true,
    incrementalFile: report.replace(/json$/, "incremental.json"),
    allowConsoleColors: false,
    // Its warnings are of processes that the test runner has ended.
    logLevel: "error",
  }),
);

// One for all processes, which waits for no disk. A process that is killed leaves none behind.
const server = TESTS[folder].postgres
  ? await PostgresServer.start(["fsync=off", "synchronous_commit=off", "full_page_writes=off"])
  : undefined;
const child = spawn("stryker", ["run", config], {
  cwd: ROOT,
  stdio: "inherit",
  // A group of its own: a process with a fault that never ends would outlive it.
  detached: true,
  env: {
    ...process.env,
    TMPDIR: scratch,
    ...(server === undefined ? {} : { TEST_POSTGRES_URL: server.url() }),
    STRYKER_TEST_FILES: JSON.stringify(tests),
    STRYKER_TESTS_LEFT: TESTS[folder].left?.source ?? "",
  },
});
for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => child.kill(signal));
child.once("exit", async (status) => {
  endGroup(child.pid!);
  await server?.remove();
  rmSync(scratch, { recursive: true, force: true, maxRetries: 5 });
  if (status === 0) print(JSON.parse(readFileSync(report, "utf8")) as Report);
  process.exitCode = status ?? 1;
});

function endGroup(pid: number): void {
  try {
    process.kill(-pid, "SIGKILL");
  } catch {
    // All of it has ended.
  }
}

/** scores.md lists the faults that no answer shows, each as a line of `file: from → to`. */
function print({ files }: Report): void {
  // Each as often as it is listed: two faults of a file may read the same.
  const known = readFileSync(new URL("./scores.md", import.meta.url), "utf8").split("\n");
  const counts: Record<string, number> = {};
  let listedCount = 0;
  for (const [path, { source, mutants }] of Object.entries(files))
    for (const mutant of mutants) {
      const { status, location } = mutant;
      counts[status] = (counts[status] ?? 0) + 1;
      if (status !== "Survived" && status !== "NoCoverage") continue;
      const change = `${path}: ${changeOf(source, mutant)}`;
      const listed = known.indexOf(`- \`${change}\``);
      if (listed >= 0) {
        known.splice(listed, 1);
        listedCount += 1;
      } else console.log(`${status} at line ${location.start.line}: ${change}`);
    }
  const { Killed = 0, Timeout = 0, Survived = 0, NoCoverage = 0 } = counts;
  const noticed = Killed + Timeout;
  const judged = noticed + Survived + NoCoverage - listedCount;
  const percent = ((100 * noticed) / judged).toFixed(1);
  console.log(
    `${folder}: ${noticed} of ${judged} noticed (${percent} %), ${listedCount} more are listed in scores.md`,
  );
  console.log(counts);
}

function changeOf(source: string, { location: { start, end }, replacement = "" }: Mutant): string {
  const lines = source.split("\n").slice(start.line - 1, end.line);
  lines[lines.length - 1] = lines[lines.length - 1].slice(0, end.column - 1);
  lines[0] = lines[0].slice(start.column - 1);
  return `${shortened(lines)} → ${shortened(replacement.split("\n"))}`;
}

/** Of what takes several lines, the first two and the last. */
function shortened(lines: readonly string[]): string {
  const [first, ...others] = lines.map((line, i) => (i === 0 ? line : line.trim()));
  return others.length < 2
    ? [first, ...others].join(" ")
    : `${first} ${others[0]} … ${others[others.length - 1]}`;
}
