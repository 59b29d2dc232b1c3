/** The test run itself: whatever goes wrong in it is told and counted, and the run ends. */

import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { on, once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { before, suite, type TestContext, test } from "node:test";
import { fileURLToPath } from "node:url";
import { temporaryFolder } from "../fixtures/ends.ts";
import { writeStandIn } from "../fixtures/stand-in.ts";
import { missingPackages } from "../prepare.ts";

/** A run that hangs is killed after this and has no exit status. */
const TIMEOUT_MS = 120_000;
/** Tests with a service that the hooks after the last test must close. */
const WITH_SERVICE = "test/http/console-session.test.ts";

function start(script: string, args: readonly string[], env: Record<string, string> = {}): ChildProcess {
  const path = fileURLToPath(new URL(script, import.meta.url));
  return spawn(process.execPath, ["--import", "tsx", "--test-reporter=spec", path, ...args], {
    env: { ...process.env, ...env },
    stdio: ["ignore", "pipe", "pipe"],
    timeout: TIMEOUT_MS,
    killSignal: "SIGKILL",
  });
}

async function end(child: ChildProcess) {
  let output = "";
  for (const stream of [child.stdout!, child.stderr!]) {
    stream.setEncoding("utf8").on("data", (text) => {
      output += text;
    });
  }
  const [status] = (await once(child, "close")) as [number | null];
  return { status, output };
}

const run = (...call: Parameters<typeof start>) => end(start(...call));

function standIn(t: TestContext, name: string): string {
  const bin = join(temporaryFolder(t), "bin");
  writeStandIn(bin, name);
  return bin;
}

/** A run with a process for each list of test files, which have these bodies, and a project with this source. */
function startScratch(
  folder: string,
  processes: readonly (readonly string[])[],
  { source = "export const right = 1;", limitMs = TIMEOUT_MS, env = {} } = {},
) {
  writeFileSync(join(folder, "source.ts"), source);
  writeFileSync(
    join(folder, "tsconfig.json"),
    '{ "compilerOptions": { "types": [], "lib": ["es5"] }, "files": ["source.ts"] }',
  );
  const head = 'import assert from "node:assert/strict";\nimport { test } from "node:test";\n';
  const files = processes.map((bodies, index) =>
    bodies.map((body, number) => {
      const file = join(folder, `scratch-${index}${number === 0 ? "" : `-${number}`}.ts`);
      writeFileSync(file, head + body);
      return file;
    }),
  );
  const lists = files.map((list) => list.join(delimiter));
  return start("../fixtures/scratch-run.ts", [folder, String(limitMs), ...lists], env);
}

/** The last lines: each count once. */
function assertCounts(output: string, counts: { tests: number; pass: number; fail: number }): void {
  const closing = /ℹ tests \d+\n(?:ℹ [a-z]+ \d+\n)*ℹ duration_ms [\d.]+\n$/.exec(output)?.[0] ?? "";
  for (const [name, count] of Object.entries(counts)) {
    assert.ok(closing.includes(`ℹ ${name} ${count}\n`), `${name} is not ${count} in:\n${output}`);
  }
  assert.equal(output.match(/^ℹ tests /gm)?.length, 1, output);
}

const PASSES = 'test("one that passes", () => {});\n';
const SKIPS = 'test("one that is skipped", (t) => t.skip("no such program"));';
const WAITS = 'test("one that waits", () => new Promise((resolve) => setTimeout(resolve, 600_000)));';
const FUNCTIONS = Array.from(
  { length: 2000 },
  (_, i) => `const f${i} = (x: number) => {\n  return x + 1;\n};\n`,
);

/** Each goes wrong in its own way, and none keeps another from being run. One process more than run at a time. */
const FAULTY = [
  [
    'test("one that fails", () => assert.equal(1, 2));',
    'import "./nowhere.ts";',
    `${FUNCTIONS.join("")}test("one in a long file", () => {\n  assert.ok(f0(-1));\n});`,
  ],
  [`${PASSES}test("the end", () => process.kill(process.pid, "SIGKILL"));`],
  [`${PASSES}test("the end", () => process.exit(0));`],
  ['test("one that leaves a timer", () => void setInterval(() => {}, 1000));'],
  [PASSES, SKIPS],
  [PASSES],
];

suite("a run of test files that go wrong", { concurrency: false }, () => {
  let status: number | null;
  let output: string;
  before(async () => {
    const folder = mkdtempSync(join(tmpdir(), "sideband-run-"));
    ({ status, output } = await end(
      startScratch(folder, FAULTY, { env: { CI: "true", TEST_GRACE_MS: "3000" } }),
    ));
    rmSync(folder, { recursive: true });
  });

  test("fails, and adds the counts of all processes up in its last lines", () => {
    assert.equal(status, 1, output);
    assertCounts(output, { tests: 11, pass: 3, fail: 7 });
  });

  test("names a skipped test, and takes it for a failure where CI is set", () => {
    assert.match(
      output,
      /^✖ Skipped: scratch-4\.ts: one that is skipped: no such program\n✖ Tests were skipped/m,
    );
  });

  test("prints a failing test with its reason", () => {
    assert.match(output, /✖ one that fails .*\n +AssertionError .*\n\s+1 !== 2\n/);
  });

  test("names a file that cannot be loaded", () => {
    assert.match(output, /✖ .*scratch-0-1\.ts can be loaded/);
  });

  test("names a process that is killed, or ends itself, before its tests have ended", () => {
    assert.match(
      output,
      /^✖ The test process "scratch-1.ts" ended by SIGKILL before its tests had ended\.$/m,
    );
    assert.match(
      output,
      /^✖ The test process "scratch-2.ts" ended with the exit status 0 before its tests had/m,
    );
  });

  test("names what was left open after the last test, and does not wait for it", () => {
    assert.match(output, /its tests have ended, and something was left open \(.*Timeout.*\)/);
    assert.match(output, /^✖ The test process "scratch-3.ts" ended with the exit status 1\.$/m);
  });

  // Node's own message quotes the expression, for which it parses the whole file.
  test("has an assertion without a message fail at once, in a file however long", () => {
    assert.match(output, /The value must be truthy, and is 0\n/);
  });
});

suite("test run", { concurrency: false }, () => {
  test("a type error ends the run, with what the compiler says", async (t) => {
    const source = 'export const wrong: number = "one";';
    const { status, output } = await end(startScratch(temporaryFolder(t), [[WAITS]], { source }));
    assert.equal(status, 1, output);
    assert.match(output, /^✖ The types are wrong:\nsource\.ts\(1,14\): error TS2322: /m);
    assertCounts(output, { tests: 1, pass: 0, fail: 1 });
  });

  test("a run that takes too long is ended, also where a test never gives way", async (t) => {
    const endless =
      'test("one that never gives way", () => void Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0));';
    const { status, output } = await end(startScratch(temporaryFolder(t), [[endless]], { limitMs: 3000 }));
    assert.equal(status, 1, output);
    assert.match(output, /^✖ The run took longer than 3 s\.$/m);
    assertCounts(output, { tests: 1, pass: 0, fail: 1 });
  });

  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    test(`${signal} ends the processes of the run and what they started`, async (t) => {
      // The output of the run is open as long as one of them has it.
      const starts = `
        import { spawn } from "node:child_process";
        test("one that starts another", () => void spawn("sleep", ["600"], { stdio: "inherit" }));
        test("one that waits", () => (console.log("waiting"), new Promise(() => setTimeout(() => {}, 600_000))));`;
      // For one of the signals also a second process.
      const child = startScratch(temporaryFolder(t), signal === "SIGINT" ? [[starts], [WAITS]] : [[starts]]);
      const ended = end(child);
      for await (const [text] of on(child.stdout!, "data")) if (text.includes("waiting")) break;
      child.kill(signal);
      const { status, output } = await ended;
      assert.equal(status, 1, output);
      assert.match(output, new RegExp(`^✖ The run was ended by ${signal}\\.$`, "m"));
      assertCounts(output, { tests: 1, pass: 0, fail: 1 });
    });
  }

  test("a skipped test is named at the end, with its reason, and is no failure where CI is not set", async (t) => {
    const { status, output } = await end(startScratch(temporaryFolder(t), [[SKIPS]], { env: { CI: "" } }));
    assert.equal(status, 0, output);
    assert.match(output, /^﹣ Skipped: scratch-0\.ts: one that is skipped: no such program\nℹ tests 1$/m);
    assertCounts(output, { tests: 1, pass: 0, fail: 0 });
  });

  test("a program is missed only where a chosen file needs it", () => {
    const missing = (...files: string[]) => missingPackages(files, () => false).map(({ name }) => name);
    assert.deepEqual(missing("test/agents/packed.test.ts", "test/unit/codec/block.test.ts"), []);
    assert.deepEqual(missing("test/e2e/docs.test.ts"), ["chromium-headless-shell"]);
    assert.deepEqual(missing("test/postgres/poolers.test.ts"), ["pgbouncer"]);
    assert.deepEqual(missing("test/format/reader.test.ts"), ["python3-numpy"]);
    assert.deepEqual(missing("test/python/python-client.test.ts"), ["mypy"]);
    assert.deepEqual(
      missingPackages(["test/e2e/docs.test.ts"], () => true),
      [],
    );
  });

  test("a part that no test file's path contains is an error", async () => {
    const { status, output } = await run("../all.ts", ["no/such/part"]);
    assert.equal(status, 1);
    assert.equal(output, "no test file's path contains no/such/part\n");
  });

  test("a PostgreSQL and a browser that do not start end the run, with their reasons", async (t) => {
    const files = ["test/unit/store/postgres-migrations.test.ts", "test/e2e/docs.test.ts", WITH_SERVICE];
    const { status, output } = await run("../test-process.ts", files, {
      TEST_POSTGRES_BIN: standIn(t, "initdb"),
      PATH: `${standIn(t, "chromium")}${delimiter}${process.env.PATH}`,
    });
    assert.equal(status, 1, output);
    assert.match(output, /the stand-in for initdb says no/);
    assert.match(output, /the stand-in for chromium says no/);
    assert.match(output, /^ℹ fail [1-9]/m);
    assert.doesNotMatch(output, /left open/);
  });

  test("a process that takes too long is ended, and what was still running is named", async () => {
    const { status, output } = await run("../fixtures/endless-run.ts", ["test"]);
    assert.equal(status, 1, output);
    assert.match(
      output,
      /longer than 4 s\. Still running: the outer test; the outer test > the test that does not end$/m,
    );
  });

  test("a process that something keeps alive after its last test is ended in time, and what it is is named", async () => {
    const { status, output } = await run("../fixtures/endless-run.ts", ["open"]);
    assert.equal(status, 1, output);
    assert.match(output, /longer than 4 s\. No test was running: .*\(.*Timeout.*\)/);
  });
});
