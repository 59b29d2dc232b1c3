/** Earlier values and their restoring, what changed for a user page by page, and going back. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { encodeFacts, type FactInput, type WriteInput } from "../../../src/memory/encode.ts";
import { type ForgetInput, forgetFact } from "../../../src/memory/facts.ts";
import {
  type FactEvent,
  factHistory,
  type RollbackInput,
  restoreFact,
  rollBack,
  userChanges,
} from "../../../src/memory/history.ts";
import { addLabel } from "../../../src/memory/label-terms.ts";
import type { MemoryServices } from "../../../src/memory/services.ts";
import { fieldsOf, rowsOf } from "../../fixtures/fields.ts";
import { viewOf } from "../../fixtures/views.ts";
import { ACCOUNT, caller, memoryServices, requester } from "./memory-services.ts";

const userId = "ada";
const label = "USER.name";

/** Calls about one user. */
function callsOf(services: MemoryServices) {
  return {
    write: async (value: string, { project, writtenBy, ...fact }: Partial<FactInput & WriteInput> = {}) => {
      const facts = [{ label, value, ...fact }];
      const input = { userId, project, writtenBy, facts, operation: "encode" } as const;
      return (await encodeFacts(services, caller, input)).facts[0].revision;
    },
    forget: (options: Partial<ForgetInput> = {}) =>
      forgetFact(services, ACCOUNT, { userId, label, keepHistory: true, ...options }),
    history: async (project?: string) => {
      const { place, revisions } = await factHistory(services, ACCOUNT, { userId, label, project });
      return [place, ...revisions.map(({ value }) => value)];
    },
    restore: async (revision: number, options: { project?: string; ifRevision?: number } = {}) =>
      (await restoreFact(services, caller, { userId, label, revision, ...options })).facts[0],
    changes: async (options: { project?: string; sinceMs?: number } = {}) =>
      (await userChanges(services, ACCOUNT, { userId, limit: 100, ...options })).events,
    rollBack: (toMs: number, options: Partial<RollbackInput> = {}) =>
      rollBack(services, caller, { userId, toMs, ...options }),
  };
}

const notFound = { code: "fact_not_found" };

test("the history of a fact is that of the innermost place where it is, and else of the innermost where it was", async (context) => {
  const { services } = await memoryServices(context);
  const { write, forget, history } = callsOf(services);
  await assert.rejects(history(), notFound);
  await write("person 1");
  await write("person 2");
  await write("loom", { project: "loom", scope: "project" });
  await write("tree", { project: "loom/tree", scope: "worktree" });
  await write("os", { label: "USER.os" });
  assert.deepEqual(await history(), ["", "person 2", "person 1"]);
  assert.deepEqual(await history("loom"), ["loom", "loom"]);
  assert.deepEqual(await history("loom/tree"), ["loom/tree", "tree"]);
  assert.deepEqual(await history("other"), ["", "person 2", "person 1"]);
  await forget({ project: "loom/tree", scope: "worktree" });
  assert.deepEqual(await history("loom/tree"), ["loom", "loom"]);
  await forget({ project: "loom", scope: "project" });
  await forget();
  assert.deepEqual(await history("loom/tree"), ["loom/tree", "tree"]);
  assert.deepEqual(await history(), ["", "person 2", "person 1"]);
});

test("a history has as many earlier values as are to be kept, without the present one", async (context) => {
  const { services } = await memoryServices(context);
  const { write, forget } = callsOf(services);
  for (const value of ["one", "two", "three", "four"]) await write(value);
  const keeping = (historyMax: number) => callsOf({ ...services, historyMax });
  assert.deepEqual(await keeping(2).history(), ["", "four", "three", "two"]);
  assert.deepEqual(await keeping(0).history(), ["", "four"]);
  await forget();
  assert.deepEqual(await keeping(2).history(), ["", "four", "three"]);
  await assert.rejects(keeping(0).history(), notFound);
  assert.deepEqual(await keeping(0).changes(), []);
});

test("a revision is restored at its place, with the revision that the fact must have, and no other is", async (context) => {
  const { services } = await memoryServices(context);
  const { write, forget, restore, history } = callsOf(services);
  const missing = { code: "not_found", extra: { param: "revision" } };
  await assert.rejects(restore(1), missing);
  const person = await write("person 1");
  await write("person 2");
  const loom = await write("loom", { project: "loom", scope: "project" });
  const tree = await write("tree", { project: "loom/tree", scope: "worktree" });
  const name = { project: "loom/tree" };
  await assert.rejects(restore(loom), missing);
  await assert.rejects(restore(tree, { project: "loom" }), missing);
  await assert.rejects(restore(99), missing);
  await assert.rejects(restore(await write("Linux", { label: "USER.os" })), missing);
  assert.equal((await restore(loom, name)).place, "loom");
  assert.equal((await restore(tree, name)).place, "loom/tree");
  const restored = await restore(person, name);
  assert.deepEqual([restored.place, restored.value, restored.previous?.value], ["", "person 1", "person 2"]);
  await assert.rejects(restore(person, { ifRevision: person }), { code: "revision_mismatch" });
  await forget();
  assert.equal((await restore(person, { ifRevision: 0 })).value, "person 1");
  assert.deepEqual(await history(), ["", "person 1", "person 1", "person 2", "person 1"]);
});

test("a value that is written and forgotten in one millisecond is in the changes twice, on pages of any length", async (context) => {
  const { services } = await memoryServices(context);
  const { write, forget } = callsOf(services);
  await write("Ada");
  await forget();
  for (const limit of [1, 2]) {
    const events: FactEvent[] = [];
    let pages = 0;
    for (let isMore = true; isMore; pages++) {
      const page = await userChanges(services, ACCOUNT, { userId, limit, after: events.at(-1) });
      assert.ok(page.events.length <= limit);
      events.push(...page.events);
      isMore = page.isMore;
    }
    assert.deepEqual(fieldsOf(events, "kind"), ["forgotten", "written"]);
    assert.equal(pages, 2 / limit);
  }
});

test("a change has the value that it replaced, of its own place, and none after an end", async (context) => {
  const { services, clock } = await memoryServices(context);
  const { write, forget, changes } = callsOf(services);
  const step = async (act: () => Promise<unknown>) => {
    await act();
    clock.advance(1000);
  };
  await step(() => write("one"));
  await step(() => write("two"));
  await step(() => write("loom", { project: "loom", scope: "project" }));
  await step(() => forget());
  await step(() => write("three", { ttlS: 2 }));
  clock.advance(2000);
  await step(() => write("four"));
  const sinceMs = clock.now();
  await write("five");
  const shown = (events: readonly FactEvent[]) => events.map(({ kind, value, was }) => [kind, value, was]);
  assert.deepEqual(shown(await changes()), [
    ["written", "five", "four"],
    ["written", "four", undefined],
    ["expired", "three", undefined],
    ["written", "three", undefined],
    ["forgotten", "two", undefined],
    ["written", "loom", undefined],
    ["written", "two", "one"],
    ["written", "one", undefined],
  ]);
  assert.deepEqual(shown(await changes({ sinceMs })), [["written", "five", "four"]]);
});

test("the changes are what was written and what has ended, the newest first, at a place and those inside it", async (context) => {
  const { services, clock } = await memoryServices(context);
  const { write, forget, changes } = callsOf(services);
  assert.deepEqual(await changes(), []);
  await write("Ada", { writtenBy: "tests" });
  clock.advance(1000);
  await write("Grace", { label: "USER.role", project: "loom", scope: "project" });
  await write("Eve", { project: "loom", scope: "project", ttlS: 2 });
  clock.advance(1000);
  await write("Lin", { project: "loom/tree", scope: "worktree" });
  await write("Mae", { project: "loomed", scope: "project" });
  await write("Ada L.");
  clock.advance(1000);
  await forget();
  const brief = ({ atMs, kind, place, value }: FactEvent) => [atMs, kind, place, value].join(" ");
  const all = await changes();
  assert.deepEqual(all.map(brief), [
    "3000 forgotten  Ada L.",
    "3000 expired loom Eve",
    "2000 written  Ada L.",
    "2000 written loomed Mae",
    "2000 written loom/tree Lin",
    "1000 written loom Eve",
    "1000 written loom Grace",
    "0 written  Ada",
  ]);
  const { label: name, writtenBy, sessionId, revision } = all[7];
  assert.deepEqual([name, writtenBy, sessionId, revision], [label, "tests", null, 1]);
  assert.equal(all[6].label, "USER.role");
  assert.deepEqual((await changes({ project: "loom" })).map(brief), [
    "3000 expired loom Eve",
    "2000 written loom/tree Lin",
    "1000 written loom Eve",
    "1000 written loom Grace",
  ]);
  assert.deepEqual((await changes({ project: "loom/tree" })).map(brief), ["2000 written loom/tree Lin"]);
  assert.equal((await changes({ sinceMs: 2000 })).length, 5);
  assert.equal((await changes({ sinceMs: 2001 })).length, 2);
});

test("a user is put back to a moment: what was there comes back, what was not goes, and the history stays", async (context) => {
  const { services, clock, blocks, factsOf } = await memoryServices(context);
  const { write, forget, rollBack, changes } = callsOf(services);
  await write("Ada");
  await write("Linux", { label: "USER.os" });
  await write("Lyon", { label: "USER.location" });
  clock.advance(1000);
  await forget({ label: "USER.location" });
  await write("Grace");
  clock.advance(1000);
  await write("poet", { label: "USER.role" });
  clock.advance(1000);
  await blocks.of(requester, viewOf(userId));

  const rolledBack = (of: string, from: string | null, to: string | null) => ({
    place: "",
    label: of,
    from,
    to,
  });
  const plan = await rollBack(500, { dryRun: true });
  const all = [
    rolledBack(label, "Grace", "Ada"),
    rolledBack("USER.location", null, "Lyon"),
    rolledBack("USER.role", "poet", null),
  ];
  const byLabel = (a: { label: string }, b: { label: string }) => (a.label < b.label ? -1 : 1);
  assert.deepEqual([...plan.changes].sort(byLabel), [all[1], all[0], all[2]]);
  assert.deepEqual([plan.unreached, plan.isDone, plan.used], [[], false, undefined]);
  assert.equal(factsOf(userId).length, 3, "a plan writes nothing");
  assert.equal(blocks.cachedCount, 1);

  // What ended at the moment itself was not there any more, and what began was.
  assert.deepEqual((await rollBack(1000, { dryRun: true })).changes, [all[2]]);
  assert.deepEqual((await rollBack(2000, { dryRun: true })).changes, []);
  assert.deepEqual((await rollBack(-1, { dryRun: true })).changes.length, 3);

  const done = await rollBack(500, { writtenBy: "me", sessionId: "night" });
  assert.deepEqual(done.changes, plan.changes);
  assert.deepEqual([done.isDone, done.used], [true, 7]);
  assert.equal(blocks.cachedCount, 0);
  assert.deepEqual(
    factsOf(userId)
      .map(({ value, writtenBy, sessionId }) => [value, writtenBy, sessionId].join())
      .sort(),
    ["Ada,me,night", "Linux,,", "Lyon,me,night"],
  );
  assert.equal((await changes()).filter(({ kind }) => kind === "forgotten").length, 2);
  const again = await rollBack(500);
  assert.deepEqual([again.changes, again.isDone, again.used], [[], true, undefined]);
});

test("what has expired stays away when a user is put back, and what comes back has the end that it had", async (context) => {
  const { services, clock, factsOf } = await memoryServices(context);
  const { write, rollBack } = callsOf(services);
  const terms = { description: "what is brewing", example: "", oneOf: null, maxBytes: null, scope: null };
  await addLabel(services, ACCOUNT, { ...terms, label: "KITCHEN.tea", ttlS: 3600, hidden: false });
  clock.advance(1000);
  await write("short", { ttlS: 10 });
  await write("long", { label: "USER.os", ttlS: 1000 });
  await write("oolong", { label: "KITCHEN.tea" });
  clock.advance(5000);
  await write("lasting", { label: "USER.os" });
  await write("sencha", { label: "KITCHEN.tea" });
  clock.advance(6000);
  await write("later");
  const { changes } = await rollBack(1500);
  assert.deepEqual(rowsOf(changes, "label", "to"), [
    [label, null],
    ["USER.os", "long"],
    ["KITCHEN.tea", "oolong"],
  ]);
  assert.deepEqual(rowsOf(factsOf(userId), "value", "expiresAtMs"), [
    ["oolong", 1_000 + 3_600_000],
    ["long", 1_000 + 1_000_000],
  ]);
});

test("a project is put back with its worktrees, and the person's own facts stay", async (context) => {
  const { services, clock } = await memoryServices(context);
  const { write, rollBack, history } = callsOf(services);
  clock.advance(1000);
  await write("person");
  await write("loom", { project: "loom", scope: "project" });
  await write("tree", { project: "loom/tree", scope: "worktree" });
  await write("other", { project: "loomed", scope: "project" });
  const { changes } = await rollBack(0, { project: "loom" });
  assert.deepEqual(fieldsOf(changes, "place"), ["loom", "loom/tree"]);
  assert.deepEqual(await history("loom/tree"), ["", "person"]);
  assert.deepEqual((await rollBack(0)).changes.length, 2);
});

test("nobody is put back to the future, and a rollback says who asks for it in the form of any write", async (context) => {
  const { services, clock } = await memoryServices(context);
  const { write, rollBack } = callsOf(services);
  clock.advance(1000);
  await write("Ada");
  const invalid = (param: string) => ({ code: "invalid_request", extra: { param } });
  await assert.rejects(rollBack(1001), invalid("to"));
  assert.deepEqual((await rollBack(1000)).changes, []);
  await assert.rejects(rollBack(0, { writtenBy: "a\u0000b" }), invalid("written_by"));
  await assert.rejects(rollBack(0, { sessionId: "a\u0000b" }), invalid("session_id"));
  await assert.rejects(rollBack(0, { userId: "" }), invalid("user_id"));
});

test("what expires is history from its end on, before it is swept", async (context) => {
  const { services, clock } = await memoryServices(context);
  const { write, changes } = callsOf(services);
  await write("Ada", { ttlS: 1 });
  const seen = async () => {
    const { revisions } = await factHistory(services, ACCOUNT, { userId, label });
    const ends = revisions.map((fact) => "ended" in fact && fact.ended);
    return [ends, (await changes()).map(({ kind }) => kind)];
  };
  clock.advance(999);
  assert.deepEqual(await seen(), [[false], ["written"]]);
  clock.advance(1);
  assert.deepEqual(await seen(), [["expired"], ["expired", "written"]]);
});

test("a rollback lists its changes by place and channel", async (context) => {
  const { services, clock } = await memoryServices(context);
  const { write, forget, rollBack } = callsOf(services);
  const places = [{}, { project: "loom", scope: "project" }, { project: "attic", scope: "project" }] as const;
  for (const place of places) {
    await write("Ada", place);
    await write("poet", { label: "USER.role", ...place });
  }
  await write("London", { label: "USER.location" });
  clock.advance(1000);
  await forget({ label: "USER.location" });
  for (const place of places) {
    await forget(place);
    await write("engineer", { label: "USER.role", ...place });
  }
  assert.deepEqual(
    (await rollBack(500, { dryRun: true })).changes.map((change) => `${change.place} ${change.label}`),
    [
      " USER.name",
      " USER.role",
      " USER.location",
      ...["attic", "loom"].flatMap((place) => [`${place} USER.name`, `${place} USER.role`]),
    ],
  );
});

test("a restoring that is refused now is answered as before under its Idempotency-Key", async (context) => {
  const { services } = await memoryServices(context);
  const { write, forget } = callsOf(services);
  const revision = await write("Ada");
  await write("Grace");
  const restore = (idempotencyKey?: string) =>
    restoreFact(services, caller, { userId, label, revision, idempotencyKey });
  const first = await restore("once");
  const again = await restore("once");
  assert.deepEqual([again.replayed, again.facts[0].revision], [true, first.facts[0].revision]);
  await forget({ keepHistory: false });
  assert.equal((await restore("once")).replayed, true);
  await assert.rejects(restore("other"), { code: "not_found" });
});
