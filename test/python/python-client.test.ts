/** The Python client: its own tests, alone and against a real service, and what pip installs from its folder. */

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { suite, test } from "node:test";
import { promisify } from "node:util";
import { AGENTS } from "../../src/agents/install.ts";
import { LABELS } from "../../src/base/channel-labels.ts";
import { packageFolder } from "../agents/built.ts";
import { noPython } from "../client-cases/python-driver.ts";
import { endAfter, temporaryFolder } from "../fixtures/ends.ts";
import { startRunning } from "../http/running-service.ts";

const run = promisify(execFile);
const folder = join(packageFolder, "python");
const missing = noPython();
const { version } = JSON.parse(readFileSync(join(packageFolder, "package.json"), "utf8")) as {
  version: string;
};

function python(args: string[], env: Record<string, string> = {}) {
  const bare = { PATH: process.env.PATH ?? "", HOME: process.env.HOME ?? "", ...env };
  return run("python3", ["-B", "-W", "error::ResourceWarning", ...args], { env: bare, cwd: folder });
}

async function passes(name: string, env: Record<string, string> = {}): Promise<void> {
  const { stderr } = await python(["-m", "unittest", "-v", `tests/${name}.py`], env);
  assert.match(stderr, /^Ran [1-9]\d* tests? [^\n]*\n\nOK$/m, stderr);
}

suite("Python client", { concurrency: false }, () => {
  test("alone: hostile servers, threads, forks, the environment", async (t) => {
    if (missing === undefined) await passes("test_alone");
    else t.skip(missing);
  });

  test("a fact's life with a real service", async (t) => {
    if (missing !== undefined) {
      t.skip(missing);
      return;
    }
    const running = endAfter(t, await startRunning({}, undefined, { warm: false }));
    await passes("test_service", { SIDEBAND_API_URL: running.url, SIDEBAND_API_KEY: running.key });
  });

  test("mypy finds nothing wrong in its types", async (t) => {
    const found = await run("mypy", ["--cache-dir", "/dev/null", "sideband", "tests"], { cwd: folder }).catch(
      (error) => (error.code === "ENOENT" ? undefined : Promise.reject(new Error(error.stdout))),
    );
    if (found === undefined) t.skip("no mypy on this machine");
    else assert.match(found.stdout, /^Success: no issues found in 3 source files$/m);
  });

  test("it has the standard labels and the version of the package", async (t) => {
    if (missing !== undefined) {
      t.skip(missing);
      return;
    }
    const { stdout } = await python(["-c", "import json, sideband; print(json.dumps(sideband.LABELS))"]);
    assert.deepEqual(JSON.parse(stdout), LABELS);
    assert.match(
      readFileSync(join(folder, "pyproject.toml"), "utf8"),
      new RegExp(`^version = "${version}"$`, "m"),
    );
  });

  test("Hermes gets this file from the installer, and the repository has no other copy", () => {
    const files = join(packageFolder, "agents");
    const source = readFileSync(join(folder, "sideband", "__init__.py"), "utf8");
    const hermes = AGENTS.find(({ name }) => name === "hermes")!;
    const system = { home: "/t", platform: process.platform, isUsual: true };
    const pieces = hermes.pieces({
      ...system,
      files,
      target: "/t",
      openclawModule: "",
      command: ["sideband"],
    });
    assert.equal(pieces.find(({ path }) => path === "/t/plugins/sideband/client.py")?.text, source);
    assert.deepEqual(
      readdirSync(join(files, "hermes", "sideband")).filter((name) => name.endsWith(".py")),
      ["__init__.py"],
    );
    const provider = readFileSync(join(files, "hermes", "sideband", "__init__.py"), "utf8");
    assert.doesNotMatch(provider, /^(?:import|from) (?:urllib|http|socket)\b/m);
  });

  test("the wheel has the client, its types and nothing else, and a program imports it", async (t) => {
    if (missing !== undefined) {
      t.skip(missing);
      return;
    }
    const made = temporaryFolder(t);
    const { stdout } = await python(["build_wheel.py", made]);
    const wheel = stdout.trim();
    const { stdout: list } = await python(["-m", "zipfile", "-l", wheel]);
    const names = list
      .trim()
      .split("\n")
      .slice(1)
      .map((line) => line.split(/\s/)[0]);
    const described = `sideband-${version}.dist-info`;
    assert.deepEqual(names, [
      ...["sideband/__init__.py", "sideband/py.typed"],
      ...[`${described}/METADATA`, `${described}/WHEEL`, `${described}/RECORD`],
    ]);
    const program =
      "import sideband; print(sideband.__file__, sideband.Sideband(base_url='http://[::1]').include)";
    const { stdout: printed } = await run("python3", ["-B", "-c", program], {
      cwd: made,
      env: { PATH: process.env.PATH ?? "", PYTHONPATH: wheel },
    });
    assert.equal(printed, `${join(wheel, "sideband", "__init__.py")} index\n`);
  });
});
