/** Going back over renames: facts are under the labels that they had. */

import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { noStep } from "../../../src/base/steps.ts";
import { encodeFacts } from "../../../src/memory/encode.ts";
import { listFacts } from "../../../src/memory/facts.ts";
import { factHistory, rollBack, userChanges } from "../../../src/memory/history.ts";
import { addLabel, removeLabel } from "../../../src/memory/label-terms.ts";
import { renameFact } from "../../../src/memory/rename.ts";
import { exportLines, importLines } from "../../../src/memory/transfer.ts";
import { rowsOf } from "../../fixtures/fields.ts";
import { ACCOUNT, caller, memoryServices, NEW_LABEL, temporaryStore } from "./memory-services.ts";

const userId = "ada";

/** Calls that are a second apart. */
async function setUp(context: TestContext) {
  const { services, clock, store } = await memoryServices(context, "2026-11-16T12:00:00Z");
  const later = <T>(call: () => Promise<T>) => {
    clock.advance(1000);
    return call();
  };
  return {
    services,
    clock,
    store,
    write: (label: string, value: string, ttlS?: number) =>
      later(() => {
        const facts = [{ label, value, ttlS, newLabel: "certain" as const }];
        return encodeFacts(services, caller, { userId, operation: "encode", facts });
      }),
    rename: (label: string, to: string) => later(() => renameFact(services, caller, { userId, label, to })),
    back: (toMs: number) => later(() => rollBack(services, caller, { userId, toMs })),
    facts: async () => {
      const facts = await listFacts(services, ACCOUNT, { userId });
      return facts.map(({ label, value, expiresAtMs }) => [label, value, expiresAtMs]);
    },
    values: async (label: string) => {
      const { revisions } = await factHistory(services, ACCOUNT, { userId, label });
      return revisions.map((fact) => [fact.value, "ended" in fact ? fact.ended : undefined]);
    },
  };
}

test("a rename is listed, and going back brings the old label with its history, and back again", async (context) => {
  const { services, clock, write, rename, back, facts, values } = await setUp(context);
  await write("PET.cat", "Tom");
  await write("PET.cat", "Mimi", 600);
  const [before, toMs] = [await facts(), clock.now()];
  await rename("PET.cat", "HOME.cat");
  const renamed = await facts();
  const { events } = await userChanges(services, ACCOUNT, { userId, limit: 9 });
  assert.deepEqual(
    events.map(({ kind, label, renamedFrom, atMs }) => [kind, label, renamedFrom, atMs - toMs]),
    [
      ["renamed", "HOME.cat", "PET.cat", 1000],
      ["written", "HOME.cat", undefined, 0],
      ["written", "HOME.cat", undefined, -1000],
    ],
  );
  const { changes } = await back(toMs);
  assert.deepEqual(changes, [
    { place: "", label: "HOME.cat", from: "Mimi", to: null },
    { place: "", label: "PET.cat", from: null, to: "Mimi" },
  ]);
  assert.deepEqual(await facts(), before);
  assert.deepEqual(await values("PET.cat"), [
    ["Mimi", undefined],
    ["Mimi", "renamed"],
    ["Mimi", "renamed"],
    ["Tom", "replaced"],
  ]);
  await back(clock.now() - 1);
  assert.deepEqual(await facts(), renamed);
});

test("labels that were exchanged, or are used again, are what they were", async (context) => {
  const { clock, write, rename, back, facts } = await setUp(context);
  await write("PET.a", "1");
  await write("PET.b", "2");
  const [before, toMs] = [await facts(), clock.now()];
  for (const [label, to] of [
    ["PET.a", "PET.c"],
    ["PET.b", "PET.a"],
    ["PET.c", "PET.b"],
  ])
    await rename(label, to);
  await rename("PET.a", "PET.d");
  await write("PET.a", "3");
  const after = await facts();
  await back(toMs);
  assert.deepEqual(await facts(), before);
  await back(clock.now() - 1);
  assert.deepEqual(await facts(), after);
});

test("a label that its account has removed meanwhile comes back as the person's own", async (context) => {
  const { services, clock, write, rename, back, facts } = await setUp(context);
  await addLabel(services, ACCOUNT, NEW_LABEL);
  await write(NEW_LABEL.label, "Grace");
  const [before, toMs] = [await facts(), clock.now()];
  await rename(NEW_LABEL.label, "PEOPLE.grace");
  await removeLabel(services, ACCOUNT, NEW_LABEL.label);
  await back(toMs);
  assert.deepEqual(await facts(), before);
  await write(NEW_LABEL.label, "Joan");
});

test("an export has what was renamed, and where it is imported going back works as before", async (context) => {
  const { services, clock, store, write, rename } = await setUp(context);
  await write("PET.cat", "Tom");
  const toMs = clock.now();
  await rename("PET.cat", "HOME.cat");
  const lines: string[] = [];
  const nowMs = clock.now();
  for await (const line of exportLines(store, { nowMs, account: ACCOUNT })) lines.push(JSON.stringify(line));
  const other = await temporaryStore(context);
  const all = async function* () {
    yield* lines;
  };
  await importLines(other, all(), { nowMs, withKeys: true, atStep: noStep });
  const there = { ...services, store: other };
  await rollBack(there, caller, { userId, toMs });
  const facts = await other.readLife(ACCOUNT, userId, { nowMs });
  assert.deepEqual(rowsOf(facts?.facts, "label", "value"), [["PET.cat", "Tom"]]);
});
