/** Person and project: where facts go, what is read, and how two memories become one. */

import assert from "node:assert/strict";
import { test } from "node:test";
import type { AgentMemory } from "../../../src/agent-side/agent-memory.ts";
import { MEMORY_TOOLS } from "../../../src/agent-side/memory-tools.ts";
import { projectUserId, scopedMemory } from "../../../src/agent-side/scope.ts";

/** A memory in this process, with the errors of a service. */
function plainMemory() {
  const users = new Map<string, Map<string, string>>();
  const factsOf = (user: string) => users.get(user) ?? new Map<string, string>();
  const missing = () => Object.assign(new Error("none"), { code: "fact_not_found" });
  const memory = {
    async encode(user: string, label: string, value: string) {
      users.set(user, factsOf(user).set(label, value));
      return { label, value, channel_count: factsOf(user).size };
    },
    async decode(user: string, label: string) {
      const value = factsOf(user).get(label);
      if (value === undefined) throw missing();
      return { label, value };
    },
    async forget(user: string, label: string) {
      if (!factsOf(user).delete(label)) throw missing();
    },
    async facts(user: string) {
      return { facts: [...factsOf(user)].map(([label, value]) => ({ label, value })) };
    },
    async context(user: string) {
      const lines = [...factsOf(user)].map(([label, value]) => `${label}=${value}`);
      return { plain_index: lines.join("\n"), fdm_block: lines.length === 0 ? "" : `[MEM] ${user} [/MEM]` };
    },
    async flush(user: string) {
      const fits = user !== "ada";
      return {
        status: "ok",
        channel_count: 1,
        lossless: fits,
        overflow: fits ? [] : ["USER.os"],
        fdm_block: `[MEM] ${user} [/MEM]`,
      };
    },
    async read(user: string, block: string) {
      if (!block.includes(` ${user} `)) throw Object.assign(new Error("no"), { code: "block_unreadable" });
      return { user_id: user };
    },
  } as unknown as AgentMemory;
  return { memory, factsOf };
}

const tool = (name: string) => MEMORY_TOOLS.find((entry) => entry.name === name)!;

test("USER and PREF go to the person, TASK and PROJ to the project, and the scope can be named", async () => {
  const { memory, factsOf } = plainMemory();
  const scoped = scopedMemory(memory, () => "loom-1");
  const remember = (label: string, value: string, scope?: string) =>
    tool("remember").run(scoped, "ada", { label, value, ...(scope === undefined ? {} : { scope }) });
  for (const label of ["USER.name", "PREF.tone", "TASK.next", "PROJ.goal"]) await remember(label, label);
  await remember("PREF.tone", "dry", "project");
  await remember("TASK.next", "sleep", "person");
  assert.deepEqual([...factsOf("ada").keys()], ["USER.name", "PREF.tone", "TASK.next"]);
  assert.deepEqual(
    [...factsOf(projectUserId("ada", "loom-1")).keys()],
    ["TASK.next", "PROJ.goal", "PREF.tone"],
  );
  // What is read is what the section shows: the project's, and else the person's.
  const recall = async (input: Record<string, string>) =>
    (await tool("recall").run(scoped, "ada", input)).value;
  assert.equal(await recall({ label: "PREF.tone" }), "dry");
  assert.equal(await recall({ label: "PREF.tone", scope: "person" }), "PREF.tone");
  assert.equal(await recall({ label: "USER.name" }), "USER.name");
  const { plain_index, fdm_block, channel_count } = await scoped.context("ada");
  assert.equal(plain_index, "USER.name=USER.name\nPREF.tone=dry\nTASK.next=TASK.next\nPROJ.goal=PROJ.goal");
  assert.equal(fdm_block, "[MEM] ada [/MEM]\n[MEM] ada/loom-1 [/MEM]");
  assert.equal(channel_count, 4);
  const list = (scope: string) => tool("list").run(scoped, "ada", { scope });
  assert.equal((await list("person")).channel_count, 3);
  // What is shown is what is forgotten.
  assert.equal((await tool("forget").run(scoped, "ada", { label: "PREF.tone" })).forgotten, true);
  assert.equal(await recall({ label: "PREF.tone" }), "PREF.tone");
  assert.equal((await tool("forget").run(scoped, "ada", { label: "USER.name" })).forgotten, true);
  assert.equal(factsOf("ada").has("USER.name"), false);
});

test("outside of a project everything is the person's, and a project cannot be named", async () => {
  const { memory, factsOf } = plainMemory();
  const scoped = scopedMemory(memory, async () => undefined);
  await tool("remember").run(scoped, "ada", { label: "TASK.next", value: "x" });
  assert.deepEqual([...factsOf("ada").keys()], ["TASK.next"]);
  const named = tool("remember").run(scoped, "ada", { label: "TASK.next", value: "x", scope: "project" });
  await assert.rejects(named, { code: "no_project" });
});

test("a flush is of both, and a block is read by whomever it belongs to", async () => {
  const scoped = scopedMemory(plainMemory().memory, () => "loom-1");
  const { lossless, overflow, fdm_block } = await scoped.flush("ada");
  assert.deepEqual([lossless, overflow], [false, ["USER.os"]]);
  for (const user of ["ada", "ada/loom-1"]) {
    assert.equal((await scoped.read("ada", `[MEM] ${user} [/MEM]`)).user_id, user);
  }
  assert.equal(fdm_block.split("[MEM]").length, 3);
  await assert.rejects(scoped.read("ada", "[MEM] eve [/MEM]"), { code: "block_unreadable" });
});
