/** Labels of an account's own: which may be added, what may be changed of them, and what an import may bring. */

import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import {
  addLabel,
  changeLabel,
  checkLabelRecord,
  checkTerms,
  type LabelChange,
  type NewLabel,
  removeLabel,
} from "../../../src/memory/label-terms.ts";
import { AccountLabels, Labels } from "../../../src/memory/labels.ts";
import type { LabelRecord } from "../../../src/memory/records.ts";
import { viewOf } from "../../fixtures/views.ts";
import { ACCOUNT, memoryServices, NEW_LABEL } from "./memory-services.ts";

const invalid = (param: string) => ({ code: "invalid_request", extra: { param } });
const check = (terms: Partial<NewLabel>) => checkTerms({ ...NEW_LABEL, ...terms });

async function labelServices(context: TestContext) {
  const made = await memoryServices(context);
  const { services } = made;
  return {
    ...made,
    add: (terms: Partial<NewLabel> = {}) => addLabel(services, ACCOUNT, { ...NEW_LABEL, ...terms }),
    change: (label: string, change: LabelChange) => changeLabel(services, ACCOUNT, label, change),
  };
}

test("a label is a group and a name of the lengths and letters that are allowed", () => {
  for (const label of ["F.w", "FAMILY_2.wife_2", `${"F".repeat(16)}.${"w".repeat(48)}`, "F.2", "F._"])
    check({ label });
  for (const label of [
    ...["", "FAMILY", ".wife", "FAMILY.", "family.wife", "FAMILY.Wife", "2F.wife", "_F.wife", "F-A.wife"],
    ...["F.wi-fe", "FAMILY.wife ", " FAMILY.wife", "FAMILY.wife.name", "FAMILY wife", "FAMILY.wife\n"],
    ...[`${"F".repeat(17)}.w`, `F.${"w".repeat(49)}`],
  ])
    assert.throws(() => check({ label }), invalid("label"), label);
});

test("a description has 1 to 200 characters, and an example none or as many", () => {
  for (const text of ["é", "😀".repeat(200)]) check({ description: text, example: text });
  check({ example: "" });
  for (const text of ["a\u0000b", "x".repeat(201), "😀".repeat(201)]) {
    assert.throws(() => check({ description: text }), invalid("description"));
    assert.throws(() => check({ example: text }), invalid("example"));
  }
  assert.throws(() => check({ description: "" }), invalid("description"));
});

test("the values of a label are 2 to 32, different, and no longer than it allows", () => {
  const values = (count: number) => Array.from({ length: count }, (_, i) => `value ${i}`);
  for (const oneOf of [values(2), values(32), ["x".repeat(1024), "y"]]) check({ oneOf });
  check({ oneOf: ["abc", "def"], maxBytes: 3 });
  for (const oneOf of [[], values(1), values(33), ["a", "a"], ["a", ""], ["a", "x".repeat(1025)]])
    assert.throws(() => check({ oneOf }), invalid("one_of"));
  assert.throws(() => check({ oneOf: ["abc", "defg"], maxBytes: 3 }), invalid("one_of"));
});

test("no text of a label has a character that cannot be seen, but where the writing needs it", () => {
  const tags = [..."ignore"].map((letter) => String.fromCodePoint(0xe0000 + letter.charCodeAt(0))).join("");
  for (const hidden of ["\u001b[2J", "\u202e", "\u2066", "\u200b", "\ufeff", "\u200f", "\u00ad", tags]) {
    const text = `a${hidden}b`;
    for (const [param, terms] of [
      ["description", { description: text }],
      ["example", { example: text }],
      ["one_of", { oneOf: ["c", text] }],
    ] as const) {
      assert.throws(() => check(terms), invalid(param));
      assert.throws(
        () => checkLabelRecord({ ...NEW_LABEL, channel: 40, createdAtMs: 0, ...terms }),
        invalid(param),
      );
      // One line, which shows the character by its number alone.
      assert.throws(() => check(terms), { message: /^[ -~]+$/ });
    }
  }
  // A heart with its variation selector, a family of joined emoji, a Persian word with its non-joiner, a Hebrew mark.
  for (const text of [
    "\u2764\ufe0f",
    "\u{1f469}\u200d\u{1f467}",
    "\u0645\u06cc\u200c\u062e",
    "\u05d0\u200f!",
    "a < b",
  ])
    check({ description: text, example: text, oneOf: ["c", text] });
});

test("bytes, life and scope of a label have their limits", () => {
  for (const maxBytes of [1, 1024]) check({ maxBytes });
  for (const maxBytes of [0, 1025, 1.5]) assert.throws(() => check({ maxBytes }), invalid("max_bytes"));
  for (const ttlS of [1, 315_360_000]) check({ ttlS });
  for (const ttlS of [0, 1.5, 1e12]) assert.throws(() => check({ ttlS }), invalid("ttl_s"));
  for (const scope of ["person", "project", "worktree"] as const) check({ scope });
  assert.throws(() => check({ scope: "account" as "person" }), invalid("scope"));
});

test("a label is added once: again with the same terms it is there, with others it is refused", async (context) => {
  const { services, add } = await labelServices(context);
  const { isNew, terms } = await add();
  assert.deepEqual([isNew, terms], [true, { ...NEW_LABEL, channel: 40, scope: "person", createdAtMs: 0 }]);
  assert.deepEqual(await add(), { isNew: false, terms });
  const exists = { code: "label_exists", extra: { param: "label" } };
  await assert.rejects(add({ description: "Another." }), exists);
  await assert.rejects(add({ label: "USER.name" }), exists);
  await assert.rejects(add({ label: "wife" }), invalid("label"));
  assert.equal((await add({ label: "FAMILY.child", scope: "project" })).terms.scope, "project");
  const known = await services.labels.of(ACCOUNT);
  assert.deepEqual([known.free, known.all.length, known.at(41)?.label], [214, 42, "FAMILY.child"]);
  assert.deepEqual(await services.labels.namesOf(ACCOUNT, [40, 0, 77]), [
    "FAMILY.wife",
    "USER.name",
    "CHANNEL.77",
  ]);
});

test("an account has 216 labels of its own, and no more", async (context) => {
  const { store, add } = await labelServices(context);
  context.mock.method(store, "addLabel", async () => ({ outcome: "full" }) as const);
  await assert.rejects(add(), { code: "labels_full" });
});

test("labels that are too long together are refused, and the line says what to do", async (context) => {
  const { add, change } = await labelServices(context);
  const oneOf = Array.from({ length: 32 }, (_, i) => `${i}`.padEnd(1_000, "x"));
  for (let i = 0; i < 8; i++) await add({ label: `OWN.l${i}`, oneOf });
  const full = {
    code: "labels_full",
    message:
      "The labels of an account have at most 256 KiB of names, descriptions, examples and one_of together: shorten " +
      "some, or remove labels that no fact uses.",
  };
  await assert.rejects(add({ label: "OWN.more", oneOf }), full);
  const { terms } = await add({ label: "OWN.short" });
  await assert.rejects(change("OWN.short", { oneOf }), full);
  await change("OWN.l0", { oneOf: null });
  assert.deepEqual(await change("OWN.short", { oneOf }), { ...terms, oneOf });
});

test("of one label that is changed by two at once both changes stay", async (context) => {
  const { services, add, change } = await labelServices(context);
  await add();
  await Promise.all([change("FAMILY.wife", { ttlS: 60 }), change("FAMILY.wife", { example: "Joan" })]);
  const { ttlS, example } = await services.labels.find(ACCOUNT, "FAMILY.wife");
  assert.deepEqual([ttlS, example], [60, "Joan"]);
});

test("the scope of a label stays as it is, and who changes it is told so", async (context) => {
  const { add, change } = await labelServices(context);
  await add({ scope: "project" });
  await assert.rejects(change("FAMILY.wife", { scope: "person" } as LabelChange), {
    code: "invalid_request",
    message: "scope cannot be changed: the facts of FAMILY.wife are kept for the project.",
    extra: { param: "scope" },
  });
  await assert.rejects(change("PROJ.goal", { scope: "person" } as LabelChange), invalid("scope"));
  assert.equal((await change("FAMILY.wife", { scope: "project", ttlS: 5 } as LabelChange)).ttlS, 5);
});

test("a label that nothing has is removed; a block that was made before keeps its name", async (context) => {
  const { services, store, add, change } = await labelServices(context);
  const remove = (label: string) => removeLabel(services, ACCOUNT, label);
  await assert.rejects(remove("USER.name"), invalid("label"));
  await assert.rejects(remove("FAMILY.wife"), { code: "not_found" });
  await add();
  const write = (value: string | null) =>
    store.write({ ...viewOf("ada", ACCOUNT), changes: [{ place: "", label: "FAMILY.wife", value }] });
  await write("Grace");
  await assert.rejects(remove("FAMILY.wife"), {
    code: "label_in_use",
    message:
      "The label FAMILY.wife has facts or a history. Forget them with DELETE /facts first, or hide the label.",
  });
  await write(null);
  await remove("FAMILY.wife");
  const labels = await services.labels.of(ACCOUNT);
  assert.deepEqual([labels.all.length, labels.free, labels.find("FAMILY.wife")], [40, 215, undefined]);
  assert.deepEqual(await services.labels.namesOf(ACCOUNT, [40]), ["FAMILY.wife"]);
  await assert.rejects(change("FAMILY.wife", { hidden: true }), { code: "unknown_label" });
  await assert.rejects(remove("FAMILY.wife"), { code: "not_found" });
  assert.equal((await add({ label: "FAMILY.child" })).terms.channel, 41);
  assert.deepEqual((await add({ description: "Another." })).terms.channel, 40);
});

test("who added a label is kept and logged, and so are its change and its removal", async (context) => {
  const { services } = await labelServices(context);
  const lines: unknown[] = [];
  services.labels.onChange = (line, message) => void lines.push([message, line]);
  const author = { keyId: "key1", writtenBy: "codex" };
  await addLabel(services, ACCOUNT, NEW_LABEL, author);
  await addLabel(services, ACCOUNT, NEW_LABEL, { writtenBy: "claude-code" });
  const { createdAtMs, createdBy } = await services.labels.find(ACCOUNT, "FAMILY.wife");
  assert.deepEqual([createdAtMs, createdBy], [0, "codex"]);
  await changeLabel(services, ACCOUNT, "FAMILY.wife", { hidden: true }, author);
  await removeLabel(services, ACCOUNT, "FAMILY.wife", author);
  const line = { account: ACCOUNT, label: "FAMILY.wife", key_id: "key1", written_by: "codex" };
  assert.deepEqual(
    lines,
    ["label added", "label changed", "label removed"].map((message) => [message, line]),
  );
  await assert.rejects(addLabel(services, ACCOUNT, NEW_LABEL, { writtenBy: "a\nb" }), {
    extra: { param: "written_by" },
  });
});

test("of an own label all terms but its scope are changed, and what is not named stays", async (context) => {
  const { services, store, clock, add, change } = await labelServices(context);
  await assert.rejects(change("FAMILY.wife", { hidden: true }), { code: "unknown_label" });
  const { terms } = await add({ oneOf: ["Mary", "Jane"], ttlS: 60 });
  clock.advance(1000);
  assert.deepEqual(await change("FAMILY.wife", { oneOf: null, maxBytes: 9 }), {
    ...terms,
    oneOf: null,
    maxBytes: 9,
  });
  assert.deepEqual(await change("FAMILY.wife", { hidden: true }), {
    ...terms,
    oneOf: null,
    maxBytes: 9,
    hidden: true,
  });
  const [{ createdAtMs, scope }] = await store.readLabels(ACCOUNT);
  assert.deepEqual([createdAtMs, scope], [0, null]);
  await assert.rejects(change("FAMILY.wife", { ttlS: 0 }), invalid("ttl_s"));
  const child = (await add({ label: "FAMILY.child" })).terms;
  assert.deepEqual(await change("FAMILY.child", { ttlS: 5 }), { ...child, ttlS: 5 });
  assert.equal((await services.labels.find(ACCOUNT, "FAMILY.wife")).ttlS, 60);
});

test("of a standard label only whether it is hidden is changed, and that is taken back", async (context) => {
  const { services, change } = await labelServices(context);
  await assert.rejects(change("USER.name", { hidden: true, ttlS: 60 }), invalid("label"));
  const standard = await services.labels.find(ACCOUNT, "USER.name");
  for (const hidden of [true, false])
    assert.deepEqual(await change("USER.name", { hidden }), { ...standard, hidden });
  assert.equal((await services.labels.of(ACCOUNT)).find("USER.os")?.hidden, false);
});

test("a label that another node has added is found, and its name too", async (context) => {
  const { store } = await labelServices(context);
  const labels = new Labels(store);
  await labels.of(ACCOUNT);
  // As long as the store has not told of it.
  const version = await store.keysVersion();
  const versionNow = store.keysVersion.bind(store);
  context.mock.method(store, "keysVersion", (isNow?: boolean) => (isNow ? versionNow() : version));
  await store.addLabel(ACCOUNT, { ...NEW_LABEL, createdAtMs: 0 });
  assert.deepEqual(await labels.namesOf(ACCOUNT, [40]), ["FAMILY.wife"]);
  await store.addLabel(ACCOUNT, { ...NEW_LABEL, label: "FAMILY.child", createdAtMs: 0 });
  assert.equal((await labels.find(ACCOUNT, "FAMILY.child")).channel, 41);
  await store.addLabel(ACCOUNT, { ...NEW_LABEL, label: "FAMILY.son", createdAtMs: 0 });
  assert.deepEqual(await labels.namesOf(ACCOUNT, [40, 42]), ["FAMILY.wife", "FAMILY.son"]);
});

test("standard labels belong to the person, the project or the worktree", () => {
  const { all } = new AccountLabels([]);
  const scopeOf = (label: string) => all.find((terms) => terms.label === label)?.scope;
  assert.deepEqual(["USER.name", "PREF.tone", "PROJ.goal", "PROJ.branch", "TASK.next"].map(scopeOf), [
    "person",
    "person",
    "project",
    "worktree",
    "worktree",
  ]);
});

test("a record that comes from an export has all that a label has", () => {
  const record: LabelRecord = { ...NEW_LABEL, channel: 40, createdAtMs: 0 };
  const { oneOf: _o, maxBytes: _m, ttlS: _t, ...brief } = record;
  for (const sound of [record, brief as LabelRecord, { ...record, channel: 0 }, { ...record, channel: 255 }])
    checkLabelRecord(sound);
  for (const wrong of [
    ...[undefined, null, { ...record, label: 7 }, { ...record, description: undefined }],
    ...[
      { ...record, example: null },
      { ...record, hidden: 1 },
      { ...record, createdAtMs: "0" },
    ],
    ...[
      { ...record, channel: -1 },
      { ...record, channel: 256 },
      { ...record, channel: 1.5 },
    ],
    { ...record, label: "wife" },
    { ...record, createdKey: "sb_live_longer" },
    { ...record, removed: false },
  ])
    assert.throws(() => checkLabelRecord(wrong as LabelRecord), invalid("label"));
  assert.throws(() => checkLabelRecord({ ...record, maxBytes: 0 }), invalid("max_bytes"));
});
