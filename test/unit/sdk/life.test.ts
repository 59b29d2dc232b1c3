/** A fact's life through the client, against a real service. */

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { outageSection } from "../../../src/agent-side/memory-section.ts";
import { Sideband, SidebandError } from "../../../src/sdk/index.ts";
import { rowsOf } from "../../fixtures/fields.ts";
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
