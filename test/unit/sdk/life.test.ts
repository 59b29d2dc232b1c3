/** A fact's life through the client, against a real service. */

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { outageSection } from "../../../src/agent-side/memory-section.ts";
import { label, Sideband, SidebandError } from "../../../src/sdk/index.ts";
import { fieldsOf, rowsOf } from "../../fixtures/fields.ts";
import { type Running, startRunning } from "../../http/running-service.ts";

let running: Running;
let memory: Sideband<"FAMILY.wife">;
before(async () => {
  running = await startRunning({}, undefined, { warm: false });
  memory = new Sideband({ baseUrl: running.url, apiKey: running.key, writtenBy: "tests" });
});
after(() => running?.end());

async function refusal(call: Promise<unknown>): Promise<SidebandError> {
  const error = await call.then(
    () => undefined,
    (caught: unknown) => caught,
  );
  assert.ok(error instanceof SidebandError);
  return error;
}

test("a write says its revision and what it replaced; the history has it, and it can be restored", async () => {
  const first = await memory.encode("ada", "USER.location", "Lyon");
  assert.equal(first.previous, null);
  assert.equal(first.place, "person");
  const second = await memory.encode("ada", "USER.location", "Paris", { writtenBy: "someone else" });
  const { value, revision, written_by } = second.previous!;
  assert.deepEqual([value, revision, written_by], ["Lyon", first.revision, "tests"]);
  const read = await memory.decode("ada", "USER.location");
  assert.deepEqual([read.value, read.revision, read.written_by], ["Paris", second.revision, "someone else"]);

  const { revisions } = await memory.history("ada", "USER.location");
  assert.deepEqual(rowsOf(revisions, "value", "ended"), [
    ["Paris", undefined],
    ["Lyon", "replaced"],
  ]);
  const restored = await memory.restore("ada", "USER.location", revisions[1].revision);
  assert.deepEqual([restored.value, restored.previous?.value], ["Lyon", "Paris"]);
  assert.equal((await refusal(memory.restore("ada", "USER.location", 1e6))).code, "not_found");
});

test("a write instead of another fact than the present one is refused with that one", async () => {
  const { revision } = await memory.encode("bea", "TASK.owner", "Bea", { ifRevision: 0 });
  const key = "the-same-write";
  const next = { ifRevision: revision, idempotencyKey: key };
  const second = await memory.encode("bea", "TASK.owner", "Cleo", next);
  // A replay is answered as the write was, although the fact has another revision by now.
  assert.equal((await memory.encode("bea", "TASK.owner", "Cleo", next)).revision, second.revision);
  for (const call of [
    () => memory.encode("bea", "TASK.owner", "Dora", { ifRevision: revision }),
    () => memory.encode("bea", "TASK.owner", "Dora", { ifRevision: 0 }),
    () => memory.append("bea", "TASK.owner", "Dora", { ifRevision: revision }),
    () => memory.restore("bea", "TASK.owner", revision, { ifRevision: revision }),
    () => memory.forget("bea", "TASK.owner", { ifRevision: revision }),
    () => memory.encodeBatch("bea", [{ label: "TASK.owner", value: "Dora", ifRevision: revision }]),
  ]) {
    const { code, status, present } = await refusal(call());
    assert.deepEqual([code, status], ["revision_mismatch", 412]);
    assert.deepEqual([present?.value, present?.revision], ["Cleo", second.revision]);
  }
  const { present } = await refusal(memory.encode("bea", "TASK.next", "x", { ifRevision: 7 }));
  assert.equal(present, null);
  await memory.forget("bea", "TASK.owner", { ifRevision: second.revision });
});

test("a list grows and shrinks by items; a full one says which it has", async () => {
  await memory.append("cleo", "PREF.avoid", "nuts");
  assert.equal((await memory.append("cleo", "PREF.avoid", "rain")).value, "nuts; rain");
  const { code, items } = await refusal(memory.append("cleo", "PREF.avoid", "x".repeat(1020)));
  assert.deepEqual([code, items], ["invalid_value", ["nuts", "rain"]]);
  const left = await memory.remove("cleo", "PREF.avoid", "nuts");
  assert.deepEqual([left.value, left.previous?.value], ["rain", "nuts; rain"]);
  const gone = await memory.remove("cleo", "PREF.avoid", "rain");
  assert.deepEqual([gone.value, gone.revision], ["", undefined]);
  assert.equal((await refusal(memory.decode("cleo", "PREF.avoid"))).code, "fact_not_found");
});

test("a fact ends after its time or at its moment", async () => {
  const expiresAt = new Date(Date.now() + 3_600_000);
  const until = await memory.encode("dora", "TASK.reminder", "call", { expiresAt });
  assert.equal(until.expires_at, expiresAt.toISOString());
  const { facts } = await memory.encodeBatch("dora", [
    { label: "TASK.next", value: "test", ttlS: 60 },
    { label: "TASK.current", value: "build" },
  ]);
  assert.deepEqual(
    facts.map(({ expires_at }) => typeof expires_at),
    ["string", "undefined"],
  );
  const both = { ttlS: 60, expiresAt: expiresAt.toISOString() };
  assert.equal((await refusal(memory.append("dora", "PREF.tools", "vim", both))).code, "invalid_request");
});

test("a project's facts are added to the person's, and forgotten alone", async () => {
  const loom = new Sideband({ baseUrl: running.url, apiKey: running.key, project: "loom" });
  await memory.encode("elsa", "USER.name", "Elsa");
  await memory.encode("elsa", "PROJ.goal", "learn");
  assert.equal((await loom.encode("elsa", "PROJ.goal", "weave")).place, "project");
  assert.equal((await loom.encode("elsa", "TASK.next", "warp", { scope: "person" })).place, "person");

  const context = await loom.context("elsa", { include: "index" });
  assert.equal(context.plain_index, "USER.name=Elsa\nTASK.next=warp\nPROJ.goal=weave");
  assert.deepEqual([context.project, context.fdm_block, context.overflow], ["loom", "", []]);
  assert.equal((await memory.decode("elsa", "PROJ.goal")).value, "learn");
  const prompts = [
    await loom.inject("p", "elsa", { include: "index" }),
    await memory.inject("p", "elsa", { include: "index" }),
    await memory.inject("p", "elsa", { include: "index", project: "loom" }),
  ];
  assert.deepEqual(
    prompts.map((prompt) => /PROJ\.goal=(\w+)/.exec(prompt)?.[1]),
    ["weave", "learn", "weave"],
  );
  const { users } = await memory.users({ prefix: "els" });
  assert.deepEqual([users[0].user_id, users[0].projects], ["elsa", ["loom"]]);
  await loom.forgetUser("elsa");
  assert.equal((await loom.decode("elsa", "PROJ.goal")).value, "learn");
});

test("what changed is listed page by page, and taken back", async () => {
  await memory.encode("fay", "USER.os", "Linux");
  const [{ at }] = (await memory.changes("fay")).changes;
  const moment = new Date(Date.parse(at) + 1);
  while (Date.now() <= moment.getTime()) await memory.usage();
  await memory.encode("fay", "USER.os", "Plan 9", { sessionId: "night" });
  await memory.encode("fay", "USER.role", "poet");

  const first = await memory.changes("fay", { since: moment, limit: 1 });
  const second = await memory.changes("fay", { since: moment, limit: 1, cursor: first.next_cursor! });
  assert.deepEqual(rowsOf([...first.changes, ...second.changes], "value", "session_id"), [
    ["poet", undefined],
    ["Plan 9", "night"],
  ]);
  assert.equal(second.next_cursor, null);
  const plan = await memory.rollback("fay", moment, { dryRun: true });
  assert.equal(plan.status, "planned");
  const done = await memory.rollback("fay", moment.toISOString());
  assert.deepEqual([done.status, done.changes], ["ok", plan.changes]);
  assert.deepEqual(fieldsOf((await memory.facts("fay")).facts, "value"), ["Linux"]);
});

test("what is forgotten may leave its history, and is not injected again while memory is away", async () => {
  await memory.encode("gina", "USER.name", "Gina");
  await memory.append("gina", "PREF.tools", "vim");
  let isAway = false;
  const client = new Sideband({
    baseUrl: running.url,
    apiKey: running.key,
    retries: 0,
    onWarning: () => {},
    fetch: (url, init) => (isAway ? Promise.reject(new Error("away")) : fetch(url, init)),
  });
  const inject = async (away: boolean) => {
    isAway = away;
    const prompt = await client.inject("p", "gina", { include: "index", project: "loom" });
    isAway = false;
    return prompt;
  };
  for (const forget of [
    () => client.remove("gina", "PREF.tools", "vim"),
    () => client.forget("gina", "USER.name", { keepHistory: true }),
    () => client.rollback("gina", new Date(0), { partial: true }),
  ]) {
    const prompt = await inject(false);
    const facts = prompt.split("\n").filter((line) => line.includes("="));
    for (const fact of facts) assert.ok((await inject(true)).includes(fact));
    await forget();
    assert.equal(await inject(true), `p\n\n${outageSection()}`);
  }
  const { revisions } = await memory.history("gina", "USER.name");
  assert.deepEqual([revisions[0].value, revisions[0].ended], ["Gina", "forgotten"]);
});

test("an own label is added, used, changed and listed", async () => {
  const unknown = await refusal(memory.encode("hal", label("FAMILY.wive"), "Mary"));
  assert.equal(unknown.code, "unknown_label");
  const terms = { description: "Her name.", oneOf: ["Mary", "Jane"] };
  assert.equal((await memory.addLabel("FAMILY.wife", terms)).channel, 40);
  assert.equal((await memory.addLabel("FAMILY.wife", terms)).own, true);
  assert.equal((await refusal(memory.addLabel("FAMILY.wife", { description: "x" }))).code, "label_exists");
  assert.equal((await refusal(memory.encode("hal", "FAMILY.wife", "Eve"))).code, "invalid_value");
  assert.deepEqual((await memory.changeLabel("FAMILY.wife", { oneOf: null })).one_of, undefined);
  assert.equal((await memory.encode("hal", "FAMILY.wife", "Eve")).channel, 40);
  const { channels, free } = await memory.channels();
  assert.deepEqual([channels.length, channels[40].label, free], [41, "FAMILY.wife", 215]);
});

test("the events of a user, or of all, come as they happen; a stream ends by a break and by its signal", async () => {
  const stop = new AbortController();
  const connections: boolean[] = [];
  let hasBegun = () => {};
  const begun = new Promise<void>((resolve) => {
    hasBegun = resolve;
  });
  const all = memory.events(undefined, {
    signal: stop.signal,
    onConnected(isConnected) {
      connections.push(isConnected);
      hasBegun();
    },
  });
  const first = all.next();
  await begun;
  await memory.encode("eva", "USER.name", "Eva");
  await memory.encode("eve", "USER.name", "Eve");
  const { value } = await first;
  assert.ok(value.kind === "written" && value.revision > 0);
  assert.deepEqual([value.user_id, value.label, value.written_by], ["eva", "USER.name", "tests"]);
  for await (const event of memory.events("eve", { lastEventId: value.id })) {
    assert.equal(event.kind === "written" && event.user_id, "eve");
    break;
  }
  assert.equal((await all.next()).value.user_id, "eve");
  const waiting = all.next();
  stop.abort(new Error("enough"));
  await assert.rejects(waiting, /enough/);
  assert.deepEqual(connections, [true, false]);
});

test("an export has everything of a user, line by line, and nothing of another", async () => {
  await memory.encode("exported", "USER.name", "first");
  await memory.encode("exported", "USER.name", "second", { project: "loom" });
  const lines: string[] = [];
  for await (const line of memory.exportUser("exported")) lines.push(line);
  const text = lines.join("\n");
  assert.ok(lines.every((line) => typeof JSON.parse(line).kind === "string"));
  assert.ok(text.includes("first") && text.includes("second") && !text.includes("Eva"));
  const wrong = new Sideband({ baseUrl: running.url, apiKey: "sb_live_wrong", retries: 0 });
  assert.equal((await refusal(wrong.exportUser("exported").next())).code, "invalid_key");
});
