/** The law by itself: a past that is written again, a move, and what a refused write leaves. */

import assert from "node:assert/strict";
import { test } from "node:test";
import type { Failure } from "../../../src/base/errors.ts";
import { atOnce } from "../../../src/base/slices.ts";
import type { FoundFact } from "../../../src/memory/law/found-user.ts";
import { pastOf } from "../../../src/memory/law/imports.ts";
import * as law from "../../../src/memory/law/law.ts";
import { UserMemory } from "../../../src/memory/law/user-memory.ts";
import type { Change, FactRecord, PastValue, WriteRequest } from "../../../src/memory/ports.ts";
import { labelAt } from "../../fixtures/views.ts";

const applyLaw = (...given: Parameters<typeof law.applyLaw>) => atOnce(law.applyLaw(...given));

const START = Date.UTC(2026, 10, 15, 12);
const NOTHING_FOUND = { replay: undefined, used: 0, others: 0, gone: new Set<string>() };

function fact(place: string, number: number, value: string, more: Partial<FactRecord> = {}): FactRecord {
  return {
    place,
    label: labelAt(number),
    value,
    revision: 1,
    updatedAtMs: START,
    sinceMs: START,
    expiresAtMs: null,
    writtenBy: null,
    sessionId: null,
    ordinal: 1,
    ...more,
  };
}

const foundAs = (present: FactRecord): FoundFact => {
  const { place, label, ordinal: last } = present;
  return { place, label, present, earlier: [], last };
};

function memoryOf(facts: readonly FactRecord[], isWhole = true): UserMemory {
  const revision = Math.max(0, ...facts.map((one) => one.revision));
  return new UserMemory({ revision, facts: facts.length, heads: 0, named: facts.map(foundAs), isWhole }, 8);
}

function request(changes: readonly Change[], nowMs = START + 1_000): WriteRequest {
  return { account: "acme", userId: "ada", changes, places: [""], nowMs };
}

test("the steps of a past are made at their times, and not before the value that they follow has expired", () => {
  const value = (text: string, more: Partial<PastValue> = {}): PastValue => {
    const { place: _, label: __, expiresAtMs: ___, ...plain } = fact("loom", 0, text);
    return { ...plain, ...more };
  };
  const steps = (...values: PastValue[]) =>
    pastOf({ place: "loom", label: "USER.name" }, values).map(({ step: { change, nowMs } }) => [
      change.value,
      (change.updatedAtMs ?? START) - START,
      nowMs - START,
      change.expiresAtMs == null ? null : change.expiresAtMs - START,
    ]);
  assert.deepEqual(steps(value("a", { expiresAtMs: START + 9 })), [["a", 0, 0, 9]]);
  assert.deepEqual(steps(value("a", { updatedAtMs: START + 5, expiresAtMs: START + 9 })), [
    ["a", 0, 0, 9],
    ["a", 5, 5, 9],
  ]);
  const at = (ms: number) => ({ updatedAtMs: START + ms, sinceMs: START + ms });
  const replaced = value("a", { ended: "replaced", endedAtMs: START + 7 });
  assert.deepEqual(steps(replaced, value("b", at(7))), [
    ["a", 0, 0, null],
    ["b", 7, 7, null],
  ]);
  assert.deepEqual(steps(replaced, value("b", at(8))), [
    ["a", 0, 0, null],
    ["b", 7, 7, null],
    ["b", 8, 8, null],
  ]);
  const expired = value("a", { ended: "expired", endedAtMs: START + 7 });
  assert.deepEqual(steps(expired, value("b", at(3))), [
    ["a", 0, 0, 7],
    [null, 0, 7, null],
    ["b", 3, 7, null],
  ]);
  const forgotten = value("a", { ended: "forgotten", endedAtMs: START + 7 });
  assert.deepEqual(steps(forgotten), [
    ["a", 0, 0, null],
    [null, 0, 7, null],
  ]);
});

test("a move leaves nothing at the old place, and each fact once", () => {
  const facts = [
    fact("old", 1, "a", { revision: 1 }),
    fact("old/x", 1, "b", { revision: 2 }),
    fact("", 1, "c", { revision: 3 }),
  ];
  const memory = memoryOf(facts);
  const { outcome } = applyLaw(memory, request([{ kind: "move", from: "old", to: "new" }]), NOTHING_FOUND);
  assert.ok(outcome.outcome === "stored");
  assert.equal(outcome.report?.moved, 2);
  assert.equal(memory.facts, 3);
  const now = memory.names.flatMap((name) => memory.live(name, START + 1_000) ?? []);
  assert.deepEqual(now.map(({ place, value }) => [place, value]).sort(), [
    ["", "c"],
    ["new", "a"],
    ["new/x", "b"],
  ]);
});

test("revisions go on after those of a user who is gone, and a refused write leaves nothing", () => {
  const memory = new UserMemory(
    {
      revision: 41,
      facts: 0,
      heads: 0,
      named: [{ place: "", label: "USER.name", present: undefined, earlier: [], last: 0 }],
    },
    8,
  );
  const set = (value: string, more = {}): Change => ({ place: "", label: "USER.name", value, ...more });
  const terms = { label: "USER.name", oneOf: ["Ada"], maxBytes: null };
  assert.throws(
    () => atOnce(memory.attempt(law.applyLaw(memory, request([set("Bob", { terms })]), NOTHING_FOUND))),
    { code: "invalid_value" },
  );
  assert.deepEqual([memory.revision, memory.facts, [...memory.differences()]], [41, 0, []]);
  const { outcome } = applyLaw(memory, request([set("Ada", { terms, ifRevision: 0 })]), NOTHING_FOUND);
  assert.ok(outcome.outcome === "stored");
  assert.equal(outcome.changes[0].revision, 42);
  // What held for the fact of before does not hold for this one.
  const { outcome: late } = applyLaw(memory, request([set("Ada", { ifRevision: 41 })]), NOTHING_FOUND);
  assert.equal(late.outcome, "conflict");
});

test("a memory of 10,000 facts takes no further one, and lets old ones be changed and forgotten", () => {
  const named = [0, 1].map((number) => ({
    place: "",
    label: labelAt(number),
    present: undefined,
    earlier: [],
    last: 0,
  }));
  const full = { revision: 10_000, facts: 10_000, heads: 0 };
  const changes: Change[] = [{ place: "", label: "USER.project", value: "one more" }];
  const memory = new UserMemory({ ...full, named }, 8);
  assert.throws(() => atOnce(memory.attempt(law.applyLaw(memory, request(changes), NOTHING_FOUND))), {
    code: "memory_full",
  });
  const known = foundAs(fact("", 1, "old"));
  const again = new UserMemory({ ...full, named: [known] }, 8);
  assert.equal(applyLaw(again, request(changes), NOTHING_FOUND).outcome.outcome, "stored");
});

test("a memory of 50,000 labels, most with only earlier values, takes no further one; each can be written, end, be forgotten and renamed", () => {
  const free = (label: string): FoundFact => ({ place: "", label, present: undefined, earlier: [], last: 0 });
  const head: FoundFact = { place: "", label: "USER.gpu", present: undefined, earlier: [], last: 3 };
  const ending = foundAs(fact("", 1, "old", { expiresAtMs: START + 1 }));
  const known = foundAs(fact("", 2, "kept"));
  /** What becomes of a change of a user with so many labels that have only earlier values. */
  const decided = (heads: number, change: Change, named: FoundFact[]) => {
    const memory = new UserMemory({ revision: 90_000, facts: 2, heads, named }, 8);
    try {
      const { outcome } = applyLaw(memory, request([change]), NOTHING_FOUND);
      return [outcome.outcome, memory.facts + memory.heads];
    } catch (error) {
      return [(error as Failure).code];
    }
  };
  const add: Change = { place: "", label: "USER.name", value: "one more" };
  assert.deepEqual(decided(49_997, add, [free("USER.name")]), ["stored", 50_000]);
  assert.deepEqual(decided(49_998, add, [free("USER.name")]), ["memory_full"]);
  const forget = (label: string, keepHistory: boolean): Change => ({
    place: "",
    label,
    value: null,
    keepHistory,
  });
  const { label } = known;
  for (const [change, named, left] of [
    [{ place: "", label: "USER.gpu", value: "again" }, head, 50_000],
    [forget(label, true), known, 50_000],
    [forget(label, false), known, 49_999],
    [forget("USER.gpu", false), head, 49_999],
    [{ kind: "expire", place: "", label: ending.label }, ending, 50_000],
  ] as const)
    assert.deepEqual(decided(49_998, change, [named]), ["stored", left]);
  const rename = { kind: "rename", label, places: [""], to: "USER.name", merge: false } as const;
  const terms = { label: "USER.name", oneOf: null, maxBytes: null };
  assert.deepEqual(decided(49_998, { ...rename, terms }, [known, free("USER.name")]), ["stored", 50_000]);
});

test("a place takes 1,000 facts, a person has facts in 1,000 projects and worktrees, and a move may not pass either", () => {
  const free = (place: string, number: number): FoundFact => {
    return { place, label: labelAt(number), present: undefined, earlier: [], last: 0 };
  };
  /** What becomes of a change of a user with so many facts at a place, and so many places. */
  const decided = (change: Change, named: FoundFact[], places: number, factsAt: Record<string, number>) => {
    const counts = { places, factsAt: (place: string) => factsAt[place] ?? 0 };
    const isWhole = change.kind === "move";
    const user = { revision: 5_000, facts: 5_000, heads: 0, named, isWhole, counts };
    try {
      return applyLaw(new UserMemory(user, 8), request([change]), NOTHING_FOUND).outcome.outcome;
    } catch (error) {
      return (error as Failure).code;
    }
  };
  const set = (place: string): Change => ({ place, label: labelAt(0), value: "one more" });
  for (const [facts, outcome] of [
    [999, "stored"],
    [1_000, "memory_full"],
  ] as const) {
    for (const place of ["", "loom", "loom/x"])
      assert.equal(decided(set(place), [free(place, 0), free("", 0)], 3, { [place]: facts }), outcome);
    const known = foundAs(fact("loom", 0, "old"));
    assert.equal(decided(set("loom"), [known, free("", 0)], 3, { loom: facts }), "stored", "it is replaced");
  }
  assert.equal(decided(set("new"), [free("new", 0), free("", 0)], 999, {}), "stored");
  assert.equal(decided(set("new"), [free("new", 0), free("", 0)], 1_000, {}), "memory_full");
  assert.equal(decided(set("old"), [free("old", 0), free("", 0)], 1_000, { old: 1 }), "stored");
  assert.equal(decided(set(""), [free("", 0)], 1_000, {}), "stored", "the person's own is none of them");
  const move: Change = { kind: "move", from: "old", to: "new" };
  const moved = [foundAs(fact("old", 0, "a"))];
  assert.equal(decided(move, moved, 1_000, { old: 1 }), "stored", "one goes, one comes");
  assert.equal(decided(move, moved, 1_000, { old: 2 }), "memory_full");
  assert.equal(decided(move, moved, 3, { old: 1, new: 1_000 }), "memory_full");
});

test("a request names every fact that it may change or count", () => {
  const forget: Change = { kind: "forget", label: "USER.gpu", places: ["", "loom"], otherwise: "loom" };
  const { names, inside, history } = law.readingOf({ changes: [forget], places: [""] });
  assert.deepEqual(names, [
    { place: "", label: "USER.gpu" },
    { place: "loom", label: "USER.gpu" },
  ]);
  assert.deepEqual([inside, history], [[], false]);
  assert.equal(law.readingOf({ changes: [{ kind: "move", from: "a", to: "b" }], places: [] }).history, true);
});
