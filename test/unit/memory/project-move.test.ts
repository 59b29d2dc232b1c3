/** A project under another name: everything goes along, what both have is merged, and a crash between loses nothing. */

import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { encodeFacts } from "../../../src/memory/encode.ts";
import { forgetFact, listFacts } from "../../../src/memory/facts.ts";
import { factHistory } from "../../../src/memory/history.ts";
import { moveProject } from "../../../src/memory/rename.ts";
import { ACCOUNT, caller, memoryServices } from "./memory-services.ts";

const FROM = "loom-1";
const TO = "loom-2";
const userId = "ada";

async function room(context: TestContext) {
  const { services, store, clock } = await memoryServices(context, "2026-11-01T00:00:00Z");
  const write = async (project: string | undefined, label: string, value: string, more: object = {}) => {
    clock.advance(1000);
    const facts = [{ label, value, ...more }];
    await encodeFacts(services, caller, { userId, project, facts, operation: "encode", writtenBy: "codex" });
  };
  const valuesIn = async (project: string) =>
    (await listFacts(services, ACCOUNT, { userId, project })).map(({ label, value }) => `${label}=${value}`);
  const pastIn = async (project: string, label: string) => {
    const { place, revisions } = await factHistory(services, ACCOUNT, { userId, label, project });
    return [
      place,
      ...revisions.map((fact) => ("ended" in fact ? `${fact.value} ${fact.ended}` : fact.value)),
    ];
  };
  const move = () => moveProject(services, ACCOUNT, { userId, from: FROM, to: TO });
  return { services, store, clock, write, valuesIn, pastIn, move };
}

test("facts of a project and its worktrees are moved with their history, times, writers and ends", async (context) => {
  const { services, store, clock, write, valuesIn, pastIn, move } = await room(context);
  await write(undefined, "USER.name", "Ada");
  await write(FROM, "PROJ.goal", "weave");
  await write(FROM, "PROJ.goal", "weave faster");
  await write(`${FROM}/spike`, "TASK.current", "the shuttle", { ttlS: 1000 });
  await write(FROM, "PROJ.stack", "jacquard");
  await forgetFact(services, ACCOUNT, { userId, project: FROM, label: "PROJ.stack", keepHistory: true });
  await write(`${FROM}-other`, "PROJ.goal", "not this one");
  const before = await store.readLife(ACCOUNT, userId, { nowMs: clock.now() });
  clock.advance(50_000);
  assert.equal(await move(), 2);
  assert.deepEqual(await valuesIn(TO), ["USER.name=Ada", "PROJ.goal=weave faster"]);
  assert.deepEqual(await valuesIn(`${TO}/spike`), [
    "USER.name=Ada",
    "TASK.current=the shuttle",
    "PROJ.goal=weave faster",
  ]);
  assert.deepEqual(await pastIn(TO, "PROJ.goal"), [TO, "weave faster", "weave replaced"]);
  assert.deepEqual(await pastIn(TO, "PROJ.stack"), [TO, "jacquard forgotten"]);
  const after = await store.readLife(ACCOUNT, userId, { nowMs: clock.now() });
  const bare = (life: typeof after) =>
    [...life!.facts, ...life!.earlier]
      .map(({ revision: _, ...fact }) => ({
        ...fact,
        code: undefined,
        place: fact.place.replace(/^loom-1(?!-)/, TO),
      }))
      .map((fact) => JSON.stringify(fact))
      .sort();
  assert.deepEqual(bare(after), bare(before));
  assert.deepEqual(await valuesIn(FROM), ["USER.name=Ada"]);
  assert.equal(await move(), 0, "again: nothing is left to move");
});

test("where both have a label the value that was written last counts, and the other is in its history", async (context) => {
  const { services, write, pastIn, valuesIn, move } = await room(context);
  await write(FROM, "PROJ.goal", "old, here");
  await write(TO, "PROJ.goal", "new, there");
  await write(TO, "PROJ.stack", "old, there");
  await write(FROM, "PROJ.stack", "first, here");
  await write(FROM, "PROJ.stack", "new, here");
  await write(FROM, "PROJ.repo", "the same");
  await write(TO, "PROJ.repo", "the same");
  await write(FROM, "PROJ.status", "gone here");
  await forgetFact(services, ACCOUNT, { userId, project: FROM, label: "PROJ.status", keepHistory: true });
  await write(TO, "PROJ.status", "gone there");
  await forgetFact(services, ACCOUNT, { userId, project: TO, label: "PROJ.status", keepHistory: true });
  await move();
  assert.deepEqual(await pastIn(TO, "PROJ.goal"), [
    TO,
    "new, there",
    "old, here replaced",
    "new, there replaced",
  ]);
  assert.deepEqual(await pastIn(TO, "PROJ.stack"), [
    TO,
    "new, here",
    "first, here replaced",
    "old, there replaced",
  ]);
  assert.deepEqual(await pastIn(TO, "PROJ.repo"), [TO, "the same"]);
  assert.deepEqual(await pastIn(TO, "PROJ.status"), [TO, "gone here forgotten", "gone there forgotten"]);
  assert.deepEqual(await valuesIn(FROM), []);
});

test("only whole projects are moved, and a project is not moved to itself", async (context) => {
  const { services, write, valuesIn } = await room(context);
  await write(FROM, "PROJ.goal", "weave");
  for (const [from, to, param] of [
    [`${FROM}/spike`, TO, "from"],
    [FROM, `${TO}/spike`, "to"],
    ["", TO, "project"],
    [FROM, "a\nb", "project"],
  ]) {
    await assert.rejects(moveProject(services, ACCOUNT, { userId, from, to }), {
      code: "invalid_request",
      extra: { param },
    });
  }
  assert.equal(await moveProject(services, ACCOUNT, { userId: "nobody", from: FROM, to: TO }), 0);
  assert.equal(await moveProject(services, ACCOUNT, { userId, from: FROM, to: FROM }), 0);
  assert.deepEqual(await valuesIn(FROM), ["PROJ.goal=weave"]);
});

test("a past meets a present, or the same past, and a value keeps its end and its time", async (context) => {
  const { services, clock, write, pastIn, move } = await room(context);
  const forget = (project: string, label: string) =>
    forgetFact(services, ACCOUNT, { userId, project, label, keepHistory: true });
  await write(FROM, "PROJ.goal", "gone here");
  await forget(FROM, "PROJ.goal");
  await write(TO, "PROJ.goal", "there");
  await write(TO, "PROJ.stack", "gone there");
  await forget(TO, "PROJ.stack");
  await write(FROM, "PROJ.stack", "here", { ttlS: 1000 });
  for (const project of [FROM, TO]) {
    await write(project, "PROJ.status", "gone in both");
    await forget(project, "PROJ.status");
  }
  await write(FROM, "PROJ.repo", "the same");
  await write(TO, "PROJ.repo", "the same");
  await write(FROM, "PROJ.branch", "here");
  clock.advance(-1000);
  await write(TO, "PROJ.branch", "there");
  const writtenMs = clock.now();
  clock.advance(50_000);
  await move();
  assert.deepEqual(await pastIn(TO, "PROJ.goal"), [TO, "there", "gone here replaced", "there replaced"]);
  assert.deepEqual(await pastIn(TO, "PROJ.stack"), [TO, "here", "gone there forgotten"]);
  assert.deepEqual(await pastIn(TO, "PROJ.status"), [TO, "gone in both forgotten"]);
  // Written at the same moment, and after the other.
  assert.deepEqual(await pastIn(TO, "PROJ.branch"), [TO, "there", "here replaced", "there replaced"]);
  const facts = await listFacts(services, ACCOUNT, { userId, project: TO });
  const of = (name: string) => facts.find(({ label }) => label === name);
  assert.equal(of("PROJ.stack")?.expiresAtMs, Date.parse("2026-11-01T00:00:04Z") + 1_000_000);
  assert.equal(of("PROJ.repo")?.updatedAtMs, writtenMs - 1000);
});

test("while the clock stands still the value that was written last counts, wherever it is", async (context) => {
  const { clock, write, pastIn, move } = await room(context);
  const writeAtOnce = async (project: string, label: string, value: string) => {
    clock.advance(-1000);
    await write(project, label, value);
  };
  await writeAtOnce(TO, "PROJ.goal", "older, there");
  await writeAtOnce(FROM, "PROJ.goal", "newer, here");
  await writeAtOnce(FROM, "PROJ.stack", "older, here");
  await writeAtOnce(TO, "PROJ.stack", "newer, there");
  await move();
  assert.deepEqual(await pastIn(TO, "PROJ.goal"), [TO, "newer, here", "older, there replaced"]);
  const [, stack] = await pastIn(TO, "PROJ.stack");
  assert.equal(stack, "newer, there");
});
