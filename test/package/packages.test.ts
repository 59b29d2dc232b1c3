/** The packages beside `sideband`, packed as npm would publish them, and used in a new project in every way that is promised. */

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, suite, test } from "node:test";
import { build } from "esbuild";
import { builtSideband, packageFolder } from "../agents/built.ts";

const CLIENT_BYTES_MAX = 255_000;
const NODE_MS_MAX = 15_000;
const NODE_TRIES = 5;

suite("packages", { concurrency: false }, () => {
  let folder = "";
  const project = (name: string) => join(folder, "node_modules", "@sideband", name);
  const node = (file: string, text: string) => {
    writeFileSync(join(folder, file), text);
    const run = (triesLeft: number): string => {
      try {
        const options = { cwd: folder, encoding: "utf8", timeout: NODE_MS_MAX } as const;
        return execFileSync(process.execPath, ["--no-warnings", file], options);
      } catch (error) {
        // V8 of Node 20 now and then waits for itself when a process ends while it still compiles WebAssembly.
        if ((error as NodeJS.ErrnoException).code !== "ETIMEDOUT" || triesLeft === 0) throw error;
        return run(triesLeft - 1);
      }
    };
    return run(NODE_TRIES - 1);
  };

  before(() => {
    builtSideband();
    execFileSync(process.execPath, [join(packageFolder, "scripts", "build-packages.js")]);
    folder = mkdtempSync(join(tmpdir(), "sideband-packages-"));
    writeFileSync(join(folder, "package.json"), "{}");
    const args = ["pack", "./client", "./block", "--pack-destination", folder, "--silent"];
    const packages = join(packageFolder, "dist", "packages");
    const printed = execFileSync("npm", args, { cwd: packages, encoding: "utf8" });
    const tarballs = printed.trim().split("\n").slice(-2);
    for (const [i, name] of ["client", "block"].entries()) {
      mkdirSync(project(name), { recursive: true });
      execFileSync("tar", ["-xzf", join(folder, tarballs[i]), "-C", project(name), "--strip-components=1"]);
    }
    // What npm would install beside them.
    cpSync(join(packageFolder, "node_modules", "@noble"), join(folder, "node_modules", "@noble"), {
      recursive: true,
    });
  });
  after(() => rmSync(folder, { recursive: true, force: true }));

  test("the client has no dependency, no install script, and at most 255 KB; the block has two dependencies", () => {
    const manifest = (name: string) => JSON.parse(readFileSync(join(project(name), "package.json"), "utf8"));
    const { dependencies, scripts, version } = manifest("client");
    assert.deepEqual([dependencies, scripts], [{}, undefined]);
    assert.equal(version, JSON.parse(readFileSync(join(packageFolder, "package.json"), "utf8")).version);
    const bytes = bytesIn(project("client"));
    assert.ok(bytes <= CLIENT_BYTES_MAX, `${bytes} bytes`);
    assert.deepEqual(Object.keys(manifest("block").dependencies), ["@noble/ciphers", "@noble/hashes"]);
    assert.equal(manifest("block").scripts, undefined);
  });

  test("Node: import, and require", () => {
    const names = JSON.stringify(CLIENT_MODULES);
    const imported = `import { open, seal, newKey } from "@sideband/block";\n${ROUND_TRIP}
for (const name of ${names}) console.log(Object.keys(await import(name)).length > 0);`;
    const required = `const { open, seal, newKey } = require("@sideband/block");
for (const name of ${names}) console.log(Object.keys(require(name)).length > 0);
(async () => {${ROUND_TRIP}})();`;
    const loaded = "true\n".repeat(CLIENT_MODULES.length);
    assert.equal(node("program.mjs", imported), `${PRINTED}${loaded}`);
    assert.equal(node("program.cjs", required), `${loaded}${PRINTED}`);
  });

  test("TypeScript: modules of both kinds compile, and a wrong call does not", () => {
    const files = ["program.mts", "program.cts"];
    for (const file of files) writeFileSync(join(folder, file), TYPED);
    const compiler = join(packageFolder, "node_modules", "typescript", "bin", "tsc");
    const args = [
      ...["--module", "node16", "--target", "es2022", "--lib", "es2022,dom", "--strict", "--noEmit"],
      // Our own declarations are checked, TypeScript's are not.
      ...["--skipDefaultLibCheck", "--types", ""],
    ];
    execFileSync(process.execPath, [compiler, ...args, ...files], {
      cwd: folder,
      stdio: ["ignore", "inherit", "inherit"],
    });
  });

  test("esbuild bundles both for a browser, without node: modules", async () => {
    for (const name of ["@sideband/client", "@sideband/block"]) {
      const { outputFiles } = await build({
        stdin: { contents: `export * from "${name}"`, resolveDir: folder },
        bundle: true,
        write: false,
        format: "iife",
        globalName: "part",
        platform: "browser",
        target: "es2022",
        logLevel: "silent",
      });
      // It loads where neither Node nor the address of the module is known.
      const text = `${outputFiles[0].text}\nreturn Object.keys(part).length`;
      assert.ok(new Function("process", "require", text)(undefined, undefined) > 2);
      assert.doesNotMatch(outputFiles[0].text, /(?:from|require\()\s*"node:/);
    }
  });
});

const CLIENT_MODULES = ["@sideband/client", "@sideband/client/tools", "@sideband/client/ai-sdk"];

const ROUND_TRIP = `
const key = newKey();
const facts = { "USER.name": "Ada", "ORDER.number": "4711" };
for (const compress of [true, false]) {
  const block = await seal({ key, user: "u", facts, compress });
  const { ok, facts: read, counter } = await open({ key, user: "u", text: "see " + block });
  console.log(ok, JSON.stringify(read), counter);
}
`;
const PRINTED = 'true {"USER.name":"Ada","ORDER.number":"4711"} 1\n'.repeat(2);

const TYPED = `
import { newKey, open, seal, type Opened } from "@sideband/block";
import { Sideband } from "@sideband/client";
import { MODEL_TOOLS } from "@sideband/client/tools";

export async function main(): Promise<number> {
  const key: string = newKey();
  const text: string = await seal({ key, user: "u", facts: { "USER.name": "Ada" } });
  const opened: Opened = await open({ key: [key], user: "u", text });
  if (!opened.ok) return opened.reason.length;
  // @ts-expect-error: a value is a text
  await seal({ key, user: "u", facts: { "USER.name": 1 }, after: opened });
  const memory = new Sideband();
  // @ts-expect-error: no such label
  await memory.encode("ada", "USER.nmae", "Ada");
  return opened.counter + MODEL_TOOLS.length;
}
`;

function bytesIn(folder: string): number {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .map((path) => statSync(join(folder, path)))
    .reduce((sum, stat) => sum + (stat.isFile() ? stat.size : 0), 0);
}
