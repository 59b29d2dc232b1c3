/**
 * A process is killed at a random moment while it changes all facts of a user: a rollback, a move, an erasure and
 * an import. Then everything is as before the call, or everything as after it. What was not done is done again, and the
 * next call goes on from there.
 */

import assert from "node:assert/strict";
import { fork } from "node:child_process";
import { once } from "node:events";
import type { Random } from "../../../src/base/random.ts";
import type { Change, PastValue } from "../../../src/memory/ports.ts";
import { bundledProgram } from "../../fixtures/bundled-program.ts";
import { START_MS } from "../life/steps.ts";
import { untilAlone } from "./kills.ts";
import { type OpenNodes, openNodes, type StoreName } from "./stores.ts";

const PLACES = ["loom", ...Array.from({ length: 9 }, (_, i) => `loom/w${i}`)];
const labelsOf = (facts: number) => Array.from({ length: facts / PLACES.length }, (_, i) => `OWN.l${i}`);
const [FIRST_MS, SECOND_MS] = [START_MS - 2_000, START_MS - 1_000];
/** Late enough for some calls to end before. */
const SPAN = 1.2;

/** What the calls make of the user, one after the other; the last begins again. */
export const WHOLE_CALLS = ["rollback", "move", "erase", "import"] as const;
export type WholeCall = (typeof WHOLE_CALLS)[number];

const value = (name: string, ordinal: number, more: Partial<PastValue>): PastValue => ({
  value: `${name} ${ordinal}`,
  revision: ordinal,
  ordinal,
  updatedAtMs: ordinal === 1 ? FIRST_MS : SECOND_MS,
  sinceMs: ordinal === 1 ? FIRST_MS : SECOND_MS,
  writtenBy: null,
  sessionId: null,
  ...more,
});

function changeOf(call: WholeCall, facts: number): Change {
  if (call === "move") return { kind: "move", from: "loom", to: "shed" };
  if (call === "erase") return { kind: "erase", within: null };
  if (call === "rollback") {
    const how = { partial: false, dryRun: false, ttls: new Map() };
    return { kind: "rollback", within: "", toMs: FIRST_MS, ...how };
  }
  const lives = PLACES.flatMap((place) =>
    labelsOf(facts).map((label) => {
      const earlier = value(label, 1, { ended: "replaced", endedAtMs: SECOND_MS });
      return { place, label, values: [earlier, value(label, 2, {})] };
    }),
  );
  return { kind: "import", lives };
}

/** The values of each label at each place after a call, the present one last. */
const LEFT: Record<WholeCall, { readonly at: string; readonly ordinals: readonly number[] } | undefined> = {
  import: { at: "loom", ordinals: [1, 2] },
  rollback: { at: "loom", ordinals: [1, 2, 1] },
  move: { at: "shed", ordinals: [1, 2, 1] },
  erase: undefined,
};

function expectedAfter(call: WholeCall, facts: number): string {
  const left = LEFT[call];
  if (left === undefined) return "";
  const lines = PLACES.flatMap((place) =>
    labelsOf(facts).map((label) => {
      const values = left.ordinals.map((ordinal) => `${label} ${ordinal}`).join();
      return `${place.replace("loom", left.at)} ${label}: ${values}`;
    }),
  );
  return lines.sort().join("\n");
}

const USER = { account: "acme", userId: "ada" };

export async function callWhole(
  { nodes: [{ store }], clock }: OpenNodes,
  call: WholeCall,
  facts: number,
): Promise<void> {
  const changes = [changeOf(call, facts)];
  const { outcome } = await store.write({ ...USER, changes, places: [], nowMs: clock.now() });
  assert.equal(outcome, "stored");
}

async function foundIn({ nodes: [{ store }], clock }: OpenNodes): Promise<string> {
  const life = await store.readLife(USER.account, USER.userId, { nowMs: clock.now() });
  const values = new Map<string, string[]>();
  for (const { place, label, value } of [...(life?.earlier ?? []), ...(life?.facts ?? [])]) {
    const name = `${place} ${label}`;
    values.set(name, [...(values.get(name) ?? []), value]);
  }
  return Array.from(values, ([name, all]) => `${name}: ${all.join()}`)
    .sort()
    .join("\n");
}

/**
 * How many of the killed calls were done, and how many were not. Throws where one was done in part.
 * @param facts of the user, at ten places
 */
export async function killWholeCalls(
  store: StoreName,
  at: string,
  random: Random,
  cycles: number,
  facts: number,
): Promise<{ done: number; undone: number }> {
  const counts = { done: 0, undone: 0 };
  let nodes = await openNodes(store, at);
  const startMs = performance.now();
  await callWhole(nodes, "import", facts);
  const spanMs = (performance.now() - startMs) * SPAN;
  let before: WholeCall = "import";
  for (const call of Array(cycles).fill(WHOLE_CALLS).flat() as WholeCall[]) {
    await nodes.close();
    const afterMs = random.unit() * spanMs;
    await callAndKill([store, at, call, String(facts)], afterMs);
    if (store !== "embedded") await untilAlone(at);
    nodes = await openNodes(store, at);
    const found = await foundIn(nodes);
    const isDone = found === expectedAfter(call, facts);
    assert.ok(
      isDone || found === expectedAfter(before, facts),
      `${call}, killed after ${afterMs.toFixed(1)} ms, was done in part`,
    );
    counts[isDone ? "done" : "undone"] += 1;
    if (!isDone) await callWhole(nodes, call, facts);
    before = call;
  }
  await nodes.close();
  return counts;
}

async function callAndKill(args: readonly string[], afterMs: number): Promise<void> {
  const program = await bundledProgram(new URL("whole-kill-child.ts", import.meta.url));
  const child = fork(program, args, { execArgv: [] });
  child.once("message", () => setTimeout(() => child.kill("SIGKILL"), afterMs));
  const [status, signal] = await once(child, "exit");
  assert.equal(signal, "SIGKILL", `the process ended with ${status}`);
}
