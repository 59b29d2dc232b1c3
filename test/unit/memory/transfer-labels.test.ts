/** Export and import of labels, of keys that are bound to a user, and of one user alone. */

import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { noStep } from "../../../src/base/steps.ts";
import { encodeFacts } from "../../../src/memory/encode.ts";
import type { ExportLine } from "../../../src/memory/export-lines.ts";
import { addLabel, changeLabel, changeStrict, removeLabel } from "../../../src/memory/label-terms.ts";
import { Labels } from "../../../src/memory/labels.ts";
import type { Store } from "../../../src/memory/ports.ts";
import type { KeyRecord } from "../../../src/memory/records.ts";
import { type ExportOptions, exportLines, importLines } from "../../../src/memory/transfer.ts";
import { fieldsOf, rowsOf } from "../../fixtures/fields.ts";
import { ACCOUNT, caller, memoryServices, NEW_LABEL, temporaryStore } from "./memory-services.ts";
import { KEY } from "./transfer-lines.ts";

const nowMs = Date.parse("2027-01-01T00:00:00Z");
const NO_MORE = {
  facts: 0,
  keys: 0,
  requests: 0,
  leftOut: [],
  labelsAdded: [],
  notTaken: { keys: 0, requests: 0, settings: 0, users: 0 },
};
const BOUND: KeyRecord = {
  ...KEY,
  note: "for ada",
  user: "ada",
  access: "read",
  expiresAtMs: null,
  lastUsedAtMs: null,
};

async function exported(store: Store, options: Partial<ExportOptions> = {}): Promise<ExportLine[]> {
  const lines: ExportLine[] = [];
  for await (const line of exportLines(store, { nowMs, ...options })) lines.push(line);
  return lines;
}

const importInto = (store: Store, lines: readonly unknown[], withKeys = true) =>
  importLines(
    store,
    (async function* () {
      for (const line of lines) yield JSON.stringify(line);
    })(),
    { nowMs, atStep: noStep, withKeys },
  );

/** Two accounts with a key and a label of their own each, and users with facts on them. */
async function filledStore(context: TestContext): Promise<Store> {
  const { services, store } = await memoryServices(context);
  await store.addKey(BOUND);
  await store.addKey({ ...BOUND, id: "key2", account: "globex", hash: "cd".repeat(32), user: null });
  await addLabel(services, ACCOUNT, NEW_LABEL);
  await addLabel(services, ACCOUNT, { ...NEW_LABEL, label: "FAMILY.child" });
  await changeLabel(services, ACCOUNT, "USER.os", { hidden: true });
  await addLabel(services, "globex", { ...NEW_LABEL, label: "PETS.dog" });
  for (const [account, userId, label] of [
    [ACCOUNT, "ada", "FAMILY.child"],
    [ACCOUNT, "eve", "USER.name"],
    ["globex", "ada", "PETS.dog"],
  ]) {
    const facts = [{ label, value: `${label} of ${userId}` }];
    await encodeFacts(services, { ...caller, account }, { userId, facts, operation: "encode" });
  }
  return store;
}

const textOf = (line: ExportLine) => {
  if (line.kind === "key") return `key ${line.key.account} ${line.key.user} ${line.key.access}`;
  if (line.kind === "label") return `label ${line.account} ${line.label.label} ${line.label.hidden}`;
  if (line.kind === "account") return `account ${line.account} ${line.strict}`;
  return line.kind === "user" ? `user ${line.account} ${line.facts.map(({ value }) => value)}` : line.kind;
};

test("labels come through before the facts on them, with bound keys, and an import may be repeated", async (context) => {
  const lines = await exported(await filledStore(context));
  assert.deepEqual(lines.map(textOf), [
    "key acme ada read",
    "key globex null read",
    "label acme USER.os true",
    "label acme FAMILY.wife false",
    "label acme FAMILY.child false",
    "label globex PETS.dog false",
    "user acme FAMILY.child of ada",
    "user acme USER.name of eve",
    "user globex PETS.dog of ada",
  ]);
  const copy = await temporaryStore(context);
  // Takes the first channel, and has one of the labels, with other terms.
  for (const label of ["PETS.cat", "FAMILY.wife"])
    await copy.addLabel(ACCOUNT, { ...NEW_LABEL, label, description: "As it was.", createdAtMs: 1 });
  for (let i = 0; i < 2; i++) {
    const labelsAdded = i === 0 ? ["FAMILY.child", "PETS.dog"] : [];
    const keys = i === 0 ? 2 : 0;
    assert.deepEqual(await importInto(copy, lines), { ...NO_MORE, lines: 9, facts: 3, keys, labelsAdded });
    const own = (await new Labels(copy).of(ACCOUNT)).all.slice(40);
    assert.deepEqual(rowsOf(own, "label", "channel", "description"), [
      ["PETS.cat", 40, "As it was."],
      ["FAMILY.wife", 41, "As it was."],
      ["FAMILY.child", 42, NEW_LABEL.description],
    ]);
    const again = (await exported(copy)).map(textOf).filter((text) => text !== "label acme PETS.cat false");
    assert.deepEqual(again, lines.map(textOf));
  }
});

test("a whole account takes its removed labels along, so that the others keep their channels", async (context) => {
  const { services, store } = await memoryServices(context);
  for (const label of ["FAMILY.wife", "FAMILY.child"])
    await addLabel(services, ACCOUNT, { ...NEW_LABEL, label }, { writtenBy: "codex" });
  await removeLabel(services, ACCOUNT, "FAMILY.wife");
  const lines = await exported(store, { account: ACCOUNT });
  const copy = await temporaryStore(context);
  assert.deepEqual(await importInto(copy, lines), { ...NO_MORE, lines: 2, labelsAdded: ["FAMILY.child"] });
  assert.deepEqual(await copy.readLabels(ACCOUNT), await store.readLabels(ACCOUNT));
  assert.deepEqual(fieldsOf((await new Labels(copy).of(ACCOUNT)).all.slice(40), "channel"), [41]);
});

test("a strict account comes through with its keys, and what its persons had made before; the import may be repeated", async (context) => {
  const { services, store } = await memoryServices(context);
  await store.addKey(BOUND);
  const facts = [{ label: "PETS.cat", value: "Byron", newLabel: true }];
  await encodeFacts(services, caller, { userId: "ada", facts, operation: "encode" });
  await changeStrict(services, ACCOUNT, true);
  const lines = await exported(store);
  const strict = { kind: "account", account: ACCOUNT, strict: true };
  assert.deepEqual(lines[1], strict);
  assert.deepEqual(await exported(store, { account: ACCOUNT, userId: "ada" }), lines.slice(2));
  const copy = await temporaryStore(context);
  for (const keys of [1, 0])
    assert.deepEqual(await importInto(copy, lines), { ...NO_MORE, lines: 3, facts: 1, keys });
  assert.equal(await copy.readStrict(ACCOUNT), true);
  assert.deepEqual((await exported(copy)).map(textOf), lines.map(textOf));
  // Without keys a file is anybody's: the setting is only counted, and a strict account takes no other labels.
  const free = await temporaryStore(context);
  await free.addKey(BOUND);
  const settings = { ...NO_MORE.notTaken, keys: 1, settings: 1 };
  assert.deepEqual(await importInto(free, lines, false), {
    ...NO_MORE,
    lines: 3,
    facts: 1,
    notTaken: settings,
  });
  assert.equal(await free.readStrict(ACCOUNT), false);
  await assert.rejects(importInto(copy, lines, false), { code: "unknown_label" });
  for (const wrong of [
    { strict: "yes" },
    { strict: false },
    { monthlyLimit: -1 },
    { account: 5 },
    { account: "A B" },
  ])
    await assert.rejects(importInto(copy, [{ ...strict, ...wrong }]), { code: "invalid_request" });
});

test("an account that never had a key keeps its labels, and that it is strict", async (context) => {
  const { services, store } = await memoryServices(context);
  for (const account of ["default", "garage"]) {
    await addLabel(services, account, NEW_LABEL);
    await changeStrict(services, account, true);
  }
  const facts = [{ label: NEW_LABEL.label, value: "Grace" }];
  await encodeFacts(
    services,
    { ...caller, account: "garage" },
    { userId: "ada", facts, operation: "encode" },
  );
  const copy = await temporaryStore(context);
  await importInto(copy, await exported(store));
  for (const account of ["default", "garage"]) {
    assert.deepEqual(await copy.readLabels(account), await store.readLabels(account));
    assert.equal(await copy.readStrict(account), true, account);
  }
});

test("a label for which an account has no room is left out and reported; one on another's channel is none", async (context) => {
  const store = await temporaryStore(context);
  const label = { ...NEW_LABEL, channel: 40, createdAtMs: 1 };
  const lineOf = (change: object) => ({ kind: "label", account: ACCOUNT, label: { ...label, ...change } });
  const others = [
    lineOf({ channel: 3, hidden: true }),
    lineOf({ channel: 3, label: "USER.name", hidden: true }),
  ];
  assert.deepEqual(await importInto(store, others), { ...NO_MORE, lines: 2 });
  assert.deepEqual(await store.readLabels(ACCOUNT), []);
  context.mock.method(store, "addLabel", async () => ({ outcome: "full" }) as const);
  assert.deepEqual(await importInto(store, [lineOf({})]), {
    ...NO_MORE,
    lines: 1,
    leftOut: ["line 1: the label FAMILY.wife of account acme: the account has no free one"],
  });
});

test("an export of one user has its facts and the account's labels, and neither keys nor other users", async (context) => {
  const store = await filledStore(context);
  const lines = await exported(store, { account: ACCOUNT, userId: "ada" });
  assert.deepEqual(lines.map(textOf), [
    "label acme USER.os true",
    "label acme FAMILY.wife false",
    "label acme FAMILY.child false",
    "user acme FAMILY.child of ada",
  ]);
});
