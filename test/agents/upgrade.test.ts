/** An upgrade of the package, with two installed copies of it: the owner of the old release hands over at the next use. */

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, type TestContext, test } from "node:test";
import { OwnerClient } from "../../src/door-client/owner-client.ts";
import { endOwner, inputOf, PATIENCE_MS } from "./host.ts";
import { type PackedProject, packedProject } from "./packed.ts";

const VERSIONS = ["0.9.0", "0.10.0"] as const;
let packed: PackedProject;
let scripts: readonly string[];

before(() => {
  packed = packedProject();
  const modules = join(packed.folder, "node_modules");
  scripts = VERSIONS.map((version) => {
    const copy = join(modules, `sideband-${version}`);
    cpSync(join(modules, "sideband"), copy, { recursive: true });
    const manifest = JSON.parse(readFileSync(join(copy, "package.json"), "utf8"));
    writeFileSync(join(copy, "package.json"), JSON.stringify({ ...manifest, version }));
    return join(copy, manifest.bin.sideband);
  });
});
after(() => packed?.end());

interface Finished {
  readonly status: number | null;
  readonly out: string;
  readonly err: string;
}

/** A data folder, and both releases as commands on it. */
function newFolder(t: TestContext) {
  const home = mkdtempSync(join(tmpdir(), "sideband-upgrade-"));
  const data = join(home, "data");
  t.after(async () => {
    await endOwner(data);
    rmSync(home, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
  });
  const env = {
    PATH: process.env.PATH ?? "",
    HOME: home,
    SIDEBAND_DATA: data,
    SIDEBAND_PORT: "0",
    USER: "ada",
    SIDEBAND_TIMEOUT_MS: PATIENCE_MS,
  };
  const start = (release: 0 | 1, args: readonly string[], input = "") => {
    const stdin = inputOf(input);
    const child = spawn(process.execPath, [scripts[release], ...args], {
      cwd: home,
      env,
      stdio: [stdin, "pipe", "pipe"],
    });
    closeSync(stdin);
    return child;
  };
  const run = async (release: 0 | 1, args: string[], input = ""): Promise<Finished> => {
    const child = start(release, args, input);
    const text = { out: "", err: "" };
    child.stdout!.on("data", (chunk) => {
      text.out += chunk;
    });
    child.stderr!.on("data", (chunk) => {
      text.err += chunk;
    });
    const [status] = await once(child, "close");
    return { status, ...text };
  };
  const owner = () => OwnerClient.of(data).owner(Number(PATIENCE_MS));
  return { data, run, start, owner };
}

const START = JSON.stringify({ hook_event_name: "SessionStart", source: "startup" });

test("the owner of the old release hands over at the next use of the new one, and no fact is lost", async (t) => {
  const { data, run, owner } = newFolder(t);
  const remembered = await run(0, ["remember", "USER.name", "Ada", "--user", "ada"]);
  assert.equal(remembered.status, 0, remembered.err);
  const old = await owner();
  assert.equal(old?.version, VERSIONS[0]);
  // Five at once: one of them starts the new owner, and none ends it again.
  const hooks = await Promise.all(Array.from({ length: 5 }, () => run(1, ["hook", "--user", "ada"], START)));
  for (const { status, out, err } of hooks) {
    assert.deepEqual([status, err], [0, ""]);
    assert.match(out, /USER\.name=Ada/);
  }
  const present = await owner();
  assert.equal(present?.version, VERSIONS[1]);
  assert.notEqual(present.pid, old.pid);
  assert.equal(readFileSync(join(data, "owner.log"), "utf8"), "", "no owner failed");
  // A session of the old release that still runs uses the new owner.
  const facts = await run(0, ["facts", "--user", "ada"]);
  assert.deepEqual([facts.status, facts.err], [0, ""]);
  assert.match(facts.out, /USER\.name.*Ada/);
  assert.deepEqual(await owner(), present);
});

test("an operator's command of the new release takes over, too; a service of the old one stays", async (t) => {
  const { run, start, owner } = newFolder(t);
  await run(0, ["remember", "USER.name", "Ada", "--user", "ada"]);
  const exported = await run(1, ["accounts", "export"]);
  assert.equal(exported.status, 0, exported.err);
  assert.match(exported.out, /"value":"Ada"/);
  assert.notEqual((await owner())?.version, VERSIONS[0]);
  const service = start(0, ["serve"]);
  t.after(() => service.kill("SIGKILL"));
  await once(service.stdout!, "data");
  while ((await owner())?.pid !== service.pid) await new Promise((resolve) => setTimeout(resolve, 20));
  const facts = await run(1, ["facts", "--user", "ada"]);
  assert.deepEqual([facts.status, facts.err], [0, ""]);
  assert.equal((await owner())?.pid, service.pid);
  service.kill("SIGTERM");
  await once(service, "close");
});
