/** The export of a large user: several lines, each of them bounded, and what becomes of it beside other changes. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { LABELS } from "../../../src/base/channel-labels.ts";
import { noStep } from "../../../src/base/steps.ts";
import type { Store } from "../../../src/memory/ports.ts";
import { exportLines, importLines } from "../../../src/memory/transfer.ts";
import { changesOf } from "../../fixtures/views.ts";
import { temporaryStore } from "./memory-services.ts";

const IMPORT_MS = Date.parse("2027-01-01T00:00:00Z");

async function* linesOf(lines: readonly string[]): AsyncGenerator<string> {
  yield* lines;
}

/** A user whose export has several lines: 40 places with 40 facts of 1,000 characters. */
async function largeUser(store: Store): Promise<string[]> {
  const places = Array.from({ length: 40 }, (_, i) => `project-${String(i).padStart(2, "0")}`);
  for (const [i, place] of places.entries()) {
    const changes = LABELS.map((label) => ({
      place,
      label,
      value: `${i} ${label} ${"v".repeat(1_000)}`,
      updatedAtMs: i,
      expiresAtMs: null,
    }));
    await store.write({ account: "acme", userId: "ada", changes, places: [place], nowMs: i });
  }
  return places;
}

const ADA = { account: "acme", userId: "ada", nowMs: IMPORT_MS };

test("a large user is exported in lines of half a megabyte, and comes back whole", async (context) => {
  const store = await temporaryStore(context);
  const places = await largeUser(store);
  const lines: string[] = [];
  for await (const line of exportLines(store, ADA)) lines.push(JSON.stringify(line));
  assert.ok(lines.length > 2);
  for (const line of lines) assert.ok(line.length < 700_000, `${line.length}`);
  const other = await temporaryStore(context);
  assert.equal(
    (await importLines(other, linesOf(lines), { nowMs: IMPORT_MS, atStep: noStep, withKeys: true })).facts,
    places.length * LABELS.length,
  );
  const valuesIn = async (from: Store) => {
    const life = await from.readLife("acme", "ada", { nowMs: IMPORT_MS });
    return life?.facts.map(({ place, label, value }) => [place, label, value]);
  };
  assert.deepEqual(await valuesIn(other), await valuesIn(store));
});

test("an export fails where a project was moved or forgotten beside it, and takes what was written", async (context) => {
  const store = await temporaryStore(context);
  const places = await largeUser(store);
  const exportBeside = async (change: () => Promise<unknown>) => {
    const lines = exportLines(store, ADA);
    const { value: first } = await lines.next();
    await change();
    const rest: unknown[] = [];
    for await (const line of lines) rest.push(line);
    return JSON.stringify([first, rest]);
  };
  const changes = changesOf([[0, "written beside it"]]).map((change) => ({
    ...change,
    place: places.at(-1)!,
  }));
  const write = () => store.write({ ...ADA, changes, places: [places.at(-1)!] });
  assert.match(await exportBeside(write), /written beside it/);
  const forget = () => store.forgetUser("acme", "ada", places.at(-1)!);
  await assert.rejects(exportBeside(forget), { code: "overloaded", message: /moved or forgotten meanwhile/ });
  await assert.rejects(
    exportBeside(() => store.forgetUser("acme", "ada")),
    { code: "overloaded" },
  );
});
