/** The commands of a clone: npm start and its data folder, and what the scripts say before npm ci. */

import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, existsSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { test } from "node:test";
import { builtSideband, packageFolder } from "../agents/built.ts";
import { temporaryFolder } from "../fixtures/ends.ts";

/** Without the programs of this repository's packages. */
const PATH = (process.env.PATH ?? "")
  .split(delimiter)
  .filter((folder) => !folder.includes("node_modules"))
  .join(delimiter);

/** What npm start runs, in a folder as clone and home, until it is ready. */
async function startIn(clone: string, settings: NodeJS.ProcessEnv = {}, ...args: string[]) {
  const program = builtSideband();
  const env = { PATH, HOME: clone, SIDEBAND_LOG_LEVEL: "silent", ...settings };
  const service = spawn(process.execPath, [program, "serve", "--port", "0", ...args], { cwd: clone, env });
  const said = { out: "", err: "" };
  service.stderr.setEncoding("utf8").on("data", (text) => {
    said.err += text;
  });
  for await (const chunk of service.stdout) {
    said.out += chunk;
    if (said.out.includes("\nadmin token in ")) break;
  }
  service.kill("SIGTERM");
  await once(service, "close");
  return said;
}

test("npm start uses the data folder of the command line", async (t) => {
  const { scripts } = (await import("../../package.json", { with: { type: "json" } })).default;
  assert.equal(scripts.start, "node bin/sideband.js serve");
  const clone = temporaryFolder(t);
  const first = await startIn(clone);
  assert.ok(
    first.out.includes(`admin token in ${join(clone, ".sideband", "data", "admin.token")};`),
    first.out,
  );
  assert.deepEqual([first.err, existsSync(join(clone, "data"))], ["", false]);
  const named = join(clone, "named");
  for (const said of [
    await startIn(clone, { SIDEBAND_DATA: named }),
    await startIn(clone, {}, "--data", named),
  ]) {
    assert.ok(said.out.includes(`admin token in ${join(named, "admin.token")};`), said.out);
    assert.equal(said.err, "");
  }
});

test("before npm ci the scripts say in one line that it is missing", async (t) => {
  const clone = temporaryFolder(t);
  for (const name of ["package.json", "scripts"])
    cpSync(join(packageFolder, name), join(clone, name), { recursive: true });
  writeFileSync(join(clone, ".npmrc"), "update-notifier=false\n");
  for (const script of ["test", "build", "check", "lint", "bench"]) {
    const { status, err } = await new Promise<{ status: number; err: string }>((resolve) => {
      const options = { cwd: clone, env: { PATH, HOME: clone } };
      execFile("npm", ["run", "--silent", script], options, (error, _, text) =>
        resolve({ status: Number(error?.code ?? 0), err: text }),
      );
    });
    assert.deepEqual([status, err], [1, "the packages are not installed: run npm ci first\n"], script);
  }
});
