/** A user's line in an export: the whole life comes through, and an import that is repeated adds nothing. */

import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { noStep } from "../../../src/base/steps.ts";
import { encodeFacts, type FactInput, type WriteInput } from "../../../src/memory/encode.ts";
import { forgetFact } from "../../../src/memory/facts.ts";
import { addLabel } from "../../../src/memory/label-terms.ts";
import { Labels } from "../../../src/memory/labels.ts";
import type { EarlierFact, FactRecord, Store } from "../../../src/memory/ports.ts";
import { StoreLayer } from "../../../src/memory/store-layer.ts";
import { exportLines, importLines } from "../../../src/memory/transfer.ts";
import { type ExportedFact, importUserLine, userLine } from "../../../src/memory/user-lines.ts";
import { fieldsOf, rowsOf } from "../../fixtures/fields.ts";
import { ACCOUNT, caller, memoryServices, NEW_LABEL, temporaryStore } from "./memory-services.ts";

const userId = "ada";
const START = "2026-11-15T12:00:00.000Z";
const START_MS = Date.parse(START);

/** A user of whom everything that can happen has happened. */
async function lifeOf(context: TestContext) {
  const { services, store, clock } = await memoryServices(context, START);
  const write = async (label: string, value: string, options: Partial<FactInput & WriteInput> = {}) => {
    const { project, writtenBy, sessionId, ...fact } = options;
    const facts = [{ label, value, ...fact }];
    await encodeFacts(services, caller, {
      userId,
      project,
      writtenBy,
      sessionId,
      facts,
      operation: "encode",
    });
    clock.advance(1000);
  };
  await write("USER.name", "Ada", { writtenBy: "one", sessionId: "first" });
  await write("USER.name", "Ada");
  await write("USER.name", "Grace", { writtenBy: "two" });
  await write("USER.role", "poet", { ttlS: 1 });
  await write("USER.role", "engineer", { ttlS: 86_400 });
  await write("USER.os", "Linux");
  await forgetFact(services, ACCOUNT, { userId, label: "USER.os", keepHistory: true });
  clock.advance(1000);
  await write("USER.os", "Plan 9");
  await write("USER.gpu", "none");
  await forgetFact(services, ACCOUNT, { userId, label: "USER.gpu", keepHistory: true });
  clock.advance(1000);
  await write("PROJ.goal", "weave", { project: "loom" });
  await write("PROJ.goal", "spin", { project: "other" });
  await write("TASK.next", "warp", { project: "loom/tree" });
  await write("USER.location", "London", { sessionId: "second" });
  await write("USER.language", "English", { sessionId: "third" });
  return { store, nowMs: clock.now() };
}

async function exported(store: Store, nowMs: number): Promise<string[]> {
  const lines: string[] = [];
  for await (const line of exportLines(store, { nowMs, account: ACCOUNT })) lines.push(JSON.stringify(line));
  return lines;
}

async function* linesOf(lines: readonly string[]) {
  yield* lines;
}

/** Without what another store numbers anew. */
async function lifeIn(store: Store, nowMs: number) {
  const { facts, earlier } = (await store.readLife(ACCOUNT, userId, { nowMs }))!;
  const bare = <F extends FactRecord | EarlierFact>({ revision: _r, ...fact }: F) => ({
    ...fact,
    code: undefined,
  });
  return { facts: facts.map(bare), earlier: earlier.map(bare) };
}

test("a life comes through an export and an import, and again adds nothing", async (context) => {
  const { store, nowMs } = await lifeOf(context);
  const lines = await exported(store, nowMs);
  const other = await temporaryStore(context);
  const report = await importLines(other, linesOf(lines), { nowMs, atStep: noStep, withKeys: true });
  assert.equal(report.facts, 8);
  const before = await lifeIn(store, nowMs);
  assert.deepEqual(await lifeIn(other, nowMs), before);
  assert.deepEqual(
    before.earlier.map(({ value, ended }) => `${value} ${ended}`),
    ["none forgotten", "Ada replaced", "Linux forgotten", "poet expired"],
  );
  await importLines(other, linesOf(lines), { nowMs, atStep: noStep, withKeys: true });
  assert.deepEqual(await lifeIn(other, nowMs), before);
});

test("facts keep the order in which they were written, and what has expired on the way is not written", async (context) => {
  const { store, nowMs } = await lifeOf(context);
  const lines = await exported(store, nowMs);
  const other = await temporaryStore(context);
  const laterMs = START_MS + 86_400_000 + 10_000;
  const report = await importLines(other, linesOf(lines), { nowMs: laterMs, atStep: noStep, withKeys: true });
  const { facts, earlier } = (await other.readLife(ACCOUNT, userId, { nowMs: laterMs }))!;
  assert.equal(report.facts, facts.length, "what was not written is not counted");
  const inOrder = [...facts].sort((a, b) => a.revision - b.revision);
  assert.deepEqual(fieldsOf(inOrder, "value"), [
    "Grace",
    "Plan 9",
    "weave",
    "spin",
    "warp",
    "London",
    "English",
  ]);
  assert.ok(earlier.every(({ value }) => value !== "engineer"));
});

test("a line leaves out what is the default, and has all that is not", async (context) => {
  const { store, nowMs } = await lifeOf(context);
  const life = (await store.readLife(ACCOUNT, userId, { nowMs }))!;
  const { facts, earlier = [] } = await userLine(ACCOUNT, userId, life, new Labels(store));
  const of = (label: string, list: readonly { label: string }[]) => {
    const { channel: _c, revision: _r, ...fact } = list.find((each) => each.label === label) as ExportedFact;
    return fact;
  };
  assert.deepEqual(of("TASK.next", facts), {
    label: "TASK.next",
    value: "warp",
    updated_at: "2026-11-15T12:00:12.000Z",
    place: "loom/tree",
  });
  assert.deepEqual(of("USER.role", facts), {
    label: "USER.role",
    value: "engineer",
    updated_at: "2026-11-15T12:00:04.000Z",
    ordinal: 2,
    expires_at: "2026-11-16T12:00:04.000Z",
  });
  assert.deepEqual(of("USER.name", earlier), {
    label: "USER.name",
    value: "Ada",
    updated_at: "2026-11-15T12:00:01.000Z",
    since: START,
    written_by: "one",
    session_id: "first",
    ended: "replaced",
    ended_at: "2026-11-15T12:00:02.000Z",
  });
  const alone = await userLine(ACCOUNT, userId, { ...life, earlier: [] }, new Labels(store));
  assert.equal("earlier" in alone, false);
});

const LATER = "2026-11-15T12:00:09.000Z";
const lineOf = (line: object) => JSON.stringify({ kind: "user", account: ACCOUNT, user_id: userId, ...line });
const exportedAs = (value: string, more: object = {}) => {
  return { label: "USER.name", value, channel: 0, revision: 1, updated_at: START, ...more };
};

test("a past is imported in its order, whatever the order of its line", async (context) => {
  const store = await temporaryStore(context);
  const at = (s: number) => new Date(START_MS + s * 1000).toISOString();
  const earlier = [3, 2, 1].map((n) => ({
    ...exportedAs(`${n}`, { revision: n, updated_at: at(n), ended: "replaced", ended_at: at(n + 1) }),
    ...(n === 1 ? {} : { ordinal: n }),
  }));
  const fact = exportedAs("4", {
    revision: 4,
    ordinal: 4,
    updated_at: at(4),
    written_by: null,
    session_id: null,
  });
  await importLines(store, linesOf([lineOf({ facts: [fact], earlier })]), {
    nowMs: START_MS,
    atStep: noStep,
    withKeys: true,
  });
  const life = await lifeIn(store, START_MS + 9000);
  assert.deepEqual(
    rowsOf([...life.earlier, ...life.facts], "value", "ordinal", "sinceMs"),
    [1, 2, 3, 4].map((n) => [`${n}`, n, START_MS + n * 1000]),
  );
});

test("an origin goes along with each value, and one that nobody knows is refused", async (context) => {
  const store = await temporaryStore(context);
  const nowMs = START_MS;
  const options = { nowMs, atStep: noStep, withKeys: true };
  const earlier = [exportedAs("Augusta", { ended: "replaced", ended_at: START, origin: "read" })];
  const facts = [exportedAs("Ada", { revision: 2, ordinal: 2, origin: "said" })];
  await importLines(store, linesOf([lineOf({ facts, earlier })]), options);
  const life = (await store.readLife(ACCOUNT, userId, { nowMs }))!;
  const line = await userLine(ACCOUNT, userId, life, new Labels(store));
  assert.deepEqual(rowsOf([...(line.earlier ?? []), ...line.facts], "value", "origin"), [
    ["Augusta", "read"],
    ["Ada", "said"],
  ]);
  const wrong = lineOf({ facts: [exportedAs("Eve", { origin: "guessed" })] });
  await assert.rejects(
    importLines(store, linesOf([wrong]), options),
    /an origin is one of said, concluded, read/,
  );
});

test("where a fact is known, only its present value is imported, and nothing that ends now", async (context) => {
  const store = await temporaryStore(context);
  const nowMs = Date.parse(LATER);
  const importLine = (line: object) =>
    importLines(store, linesOf([lineOf(line)]), { nowMs, atStep: noStep, withKeys: true });
  await importLine({ facts: [exportedAs("ends", { expires_at: LATER })] });
  assert.equal(await store.readLife(ACCOUNT, userId, { nowMs: START_MS }), undefined);
  await importLine({ facts: [exportedAs("Ada")] });
  const earlier = [exportedAs("Augusta", { ended: "replaced", ended_at: START })];
  await importLine({ facts: [exportedAs("Grace", { ordinal: 2, updated_at: LATER })], earlier });
  const life = await lifeIn(store, nowMs);
  assert.deepEqual(
    [life.facts, life.earlier].map((values) => values.map(({ value }) => value)),
    [["Grace"], ["Ada"]],
  );
});

test("a line whose label is removed while it is written is refused, and can be imported again", async (context) => {
  const { services, store } = await memoryServices(context, START);
  await addLabel(services, ACCOUNT, { ...NEW_LABEL, label: "TEAM.name" });
  const layer = new StoreLayer(store);
  layer.write = async (request) => {
    await store.removeLabel(ACCOUNT, "TEAM.name");
    return store.write(request);
  };
  const labels = await services.labels.of(ACCOUNT);
  const facts = [{ label: "TEAM.name", value: "Loom", channel: 1, revision: 1, updated_at: START }];
  const line = { kind: "user", account: ACCOUNT, user_id: "bo", facts } as const;
  await assert.rejects(importUserLine(layer, line, { labels, nowMs: START_MS }), { code: "unknown_label" });
  const known = await services.labels.of(ACCOUNT);
  assert.equal(await importUserLine(store, line, { labels: known, nowMs: START_MS }), 1);
});
