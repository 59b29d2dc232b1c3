/** Where a person works: a project takes over what was kept under its path, and tries again where memory was away. */

import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { openProject, projectName } from "../../../src/agents/project.ts";
import { Sideband } from "../../../src/sdk/index.ts";
import { scriptedServer } from "../sdk/scripted-server.ts";

test("a move that met an outage is tried again half a minute later, and one that was answered is not", async (t) => {
  t.mock.timers.enable({ apis: ["Date"], now: Date.UTC(2026, 10, 18) });
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "sideband-open-project-")));
  t.after(() => rmSync(folder, { recursive: true }));
  mkdirSync(join(folder, ".git"));
  writeFileSync(join(folder, ".git", "config"), '[remote "origin"]\n\turl = git@example.com:ada/loom.git\n');
  const project = projectName("example.com/ada/loom");
  let isAway = true;
  const { url, seen } = await scriptedServer(t, () =>
    isAway ? "drop" : { body: { status: "ok", moved: 1 } },
  );
  const memory = new Sideband<string>({ baseUrl: url, retries: 0 });
  const open = () => openProject(memory, "ada", [folder], {});
  const moves = async () => {
    assert.equal(await open(), project);
    return seen.length;
  };
  assert.deepEqual([await moves(), await moves()], [1, 1], "no agent waits at every turn");
  isAway = false;
  t.mock.timers.tick(30_000);
  assert.equal(await moves(), 2);
  assert.equal(seen[1].path, "/users/move");
  t.mock.timers.tick(3_600_000);
  assert.equal(await moves(), 2);
});
