/**
 * verify: walks the store and reads every user whole: records and code bits must hold their checksums and belong together.
 * A deep one also rebuilds every user's block from the values, reads it back through the reader and compares every fact; code
 * bits that are kept must give the same block. That takes the time of block work, the other that of the disk.
 */

import { setImmediate } from "node:timers/promises";
import { keptCode } from "../blockwork/fact-code.ts";
import { channelsRead, codableFacts } from "./blocks.ts";
import { innermost, OWN_PLACE, placesOf, sealOwner } from "./places.ts";
import type { Progress, Store, UserState, View } from "./ports.ts";
import { expectedFacts, findReadBackFault } from "./reading.ts";
import type { MemoryServices } from "./services.ts";

interface VerifyFinding {
  /** Empty, like userId, if the record belongs to nobody or is damaged. */
  readonly account: string;
  readonly userId: string;
  readonly fault: string;
}

interface VerifyReport {
  readonly users: number;
  readonly facts: number;
  /** Facts that did not fit into their block; null where no block was built. */
  readonly overflowed: number | null;
  readonly findings: readonly VerifyFinding[];
}

const FINDINGS_MAX = 1_000;
/** Then whatever else waits in the event loop has its turn. */
const TURN_MS = 10;

export async function verifyAll(
  services: MemoryServices,
  options: { account?: string; deep: boolean; progress: Progress; signal: AbortSignal },
): Promise<VerifyReport> {
  const { account: only, deep, progress, signal } = options;
  const total = only === undefined ? await usersIn(services.store) : 0;
  const findings: VerifyFinding[] = [];
  const add = (finding: VerifyFinding) => {
    if (findings.length < FINDINGS_MAX) findings.push(finding);
  };
  let users = 0;
  let facts = 0;
  let overflowed = 0;
  let turnMs = performance.now();
  for await (const { account, userId } of services.store.walkUsers(only)) {
    signal.throwIfAborted();
    users += 1;
    try {
      for (const view of await viewsOf(services, account, userId)) {
        const state = await services.store.readUser(view);
        if (state === undefined) continue;
        facts += state.facts.filter(({ place }) => place === innermost(view.places)).length;
        const { fault, overflow } = await verifyView(services, view, state, deep);
        overflowed += overflow;
        if (fault !== undefined) add({ account, userId, fault });
      }
    } catch (error) {
      add({ account, userId, fault: (error as Error).message });
    }
    progress(users, total);
    if (performance.now() - turnMs < TURN_MS) continue;
    await setImmediate();
    turnMs = performance.now();
  }
  if (only === undefined) {
    for await (const record of services.store.findDamage())
      add({ account: "", userId: "", fault: `the record ${record} fails its checksum` });
  }
  return { users, facts, overflowed: deep ? overflowed : null, findings };
}

/** For the progress alone: 0 if the counter is damaged, which the walk over the records reports. */
async function usersIn(store: Store): Promise<number> {
  try {
    return (await store.statistics()).users;
  } catch {
    return 0;
  }
}

/** The person's own place, and every other one with facts. */
async function viewsOf({ store, clock }: MemoryServices, account: string, userId: string): Promise<View[]> {
  const nowMs = clock.now();
  const described = await store.describeUser(account, userId, nowMs);
  const places = new Set([OWN_PLACE, ...(described?.facts.keys() ?? [])]);
  return [...places].map((place) => ({ account, userId, places: placesOf(place || undefined), nowMs }));
}

async function verifyView(
  services: MemoryServices,
  view: View,
  state: UserState,
  deep: boolean,
): Promise<{ fault?: string; overflow: number }> {
  const { blockWork, keyRing, labels } = services;
  const { account } = view;
  const userId = sealOwner(view);
  // No request waits for it: it has no deadline.
  const work = { account, tier: "owner" } as const;
  const job = { key: keyRing.writing(account), userId, keep: () => {} };
  const facts = codableFacts(await labels.inOrder(account, state.facts));
  for (const fact of facts) {
    if (fact.code === undefined || keptCode(fact, fact.code.version) !== undefined) continue;
    return { fault: `the code bits kept on ${fact.label} fail their checksum`, overflow: 0 };
  }
  if (!deep) return { overflow: 0 };
  const bare = facts.map(({ code: _, ...fact }) => fact);
  const built = await blockWork.build(work, { ...job, facts: bare });
  const overflow = built.overflow.length;
  if (facts.some(({ code }) => code !== undefined)) {
    const kept = await blockWork.build(work, { ...job, facts });
    if (kept.text !== built.text)
      return { fault: "the code bits kept with the facts give another block", overflow };
  }
  const expected = expectedFacts(facts, channelsRead(facts, built.carried));
  const fault = await findReadBackFault(services, work, userId, { text: built.text, expected });
  return fault === undefined ? { overflow } : { fault, overflow };
}
