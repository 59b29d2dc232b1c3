/** The test run itself: a set-up that fails and a test that does not end are told, and the run ends. */

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { type TestContext, test } from "node:test";
import { fileURLToPath } from "node:url";
import { writeStandIn } from "../fixtures/stand-in.ts";

/** A run that hangs is killed after this and has no exit status. */
const TIMEOUT_MS = 120_000;
/** Tests with a service that must be closed in the end, or the run does not end. */
const WITH_SERVICE = "test/http/website";

async function run(script: string, args: readonly string[], env: Record<string, string> = {}) {
  const path = fileURLToPath(new URL(script, import.meta.url));
  const child = spawn(process.execPath, ["--import", "tsx", "--test-reporter=spec", path, ...args], {
    env: { ...process.env, ...env },
    stdio: ["ignore", "pipe", "pipe"],
    timeout: TIMEOUT_MS,
    killSignal: "SIGKILL",
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text) => {
      output += text;
    });
  }
  const [status] = (await once(child, "close")) as [number | null];
  return { status, output };
}

function standIn(t: TestContext, name: string): string {
  const folder = mkdtempSync(join(tmpdir(), "sideband-stand-in-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const bin = join(folder, "bin");
  writeStandIn(bin, name);
  return bin;
}

test("a PostgreSQL that does not start ends the run, with its reason", async (t) => {
  const { status, output } = await run("../all.ts", ["test/unit/store/postgres-migrations", WITH_SERVICE], {
    TEST_POSTGRES_BIN: standIn(t, "initdb"),
  });
  assert.equal(status, 1, output);
  assert.match(output, /the stand-in says no/);
  assert.match(output, /^ℹ fail [1-9]/m);
});

test("a browser that does not start ends the run, with its reason", async (t) => {
  const { status, output } = await run("../all.ts", ["test/e2e/docs", WITH_SERVICE], {
    PATH: `${standIn(t, "chromium")}${delimiter}${process.env.PATH}`,
  });
  assert.equal(status, 1, output);
  assert.match(output, /the stand-in says no/);
  assert.match(output, /^ℹ fail [1-9]/m);
});

test("a run that takes too long is ended, and what was still running is named", async () => {
  const { status, output } = await run("../fixtures/endless-run.ts", ["test"]);
  assert.equal(status, 1, output);
  assert.match(
    output,
    /longer than 0\.3 s\. Still running: the outer test; the outer test > the test that does not end$/m,
  );
});

test("a run that something keeps alive after its last test is ended, and what it is is named", async () => {
  const { status, output } = await run("../fixtures/endless-run.ts", ["open"]);
  assert.equal(status, 1, output);
  assert.match(output, /longer than 0\.3 s\. No test was running: .*\(.*Timeout.*\)/);
});
