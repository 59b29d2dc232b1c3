/**
 * Facts that wait for the person. Where the operator asks for it (SIDEBAND_REVIEW=read), what an agent has read somewhere
 * is in no context and no block until the person accepts it, which makes its origin `said`. Until then prompts get the
 * value that it has replaced, if that was said or concluded and has not ended. All else shows it.
 */

import { lastAccepted } from "../base/fact-origins.ts";
import { isLive } from "./law/user-memory.ts";
import type { FactRecord, FactStore, UserState, View } from "./ports.ts";

/** What of a state prompts get where facts that were read somewhere wait; undefined where nothing is left. */
export async function acceptedState(
  store: Pick<FactStore, "readLife">,
  view: View,
  state: UserState | undefined,
): Promise<UserState | undefined> {
  if (state === undefined) return undefined;
  const facts: FactRecord[] = [];
  let { nextEndMs } = state;
  for (const present of state.facts) {
    const fact = present.origin === "read" ? await acceptedBefore(store, view, present) : present;
    if (fact === undefined) continue;
    facts.push(fact);
    const { expiresAtMs } = fact;
    if (expiresAtMs !== null) nextEndMs = Math.min(expiresAtMs, nextEndMs ?? expiresAtMs);
  }
  return facts.length === 0 ? undefined : { ...state, facts, nextEndMs };
}

/** The last value that was not read, unless the person has taken it away, or it has ended. */
async function acceptedBefore(
  store: Pick<FactStore, "readLife">,
  { account, userId, nowMs }: View,
  { place, label, ordinal, number }: FactRecord,
): Promise<FactRecord | undefined> {
  // Its first value has replaced none.
  if (ordinal === 1) return undefined;
  const life = await store.readLife(account, userId, { nowMs, place, label });
  const found = lastAccepted(life?.earlier ?? []);
  if (found === undefined || !isLive(found, nowMs)) return undefined;
  const { ended: _ended, endedAtMs: _endedAtMs, former: _former, endedBy: _endedBy, ...fact } = found;
  return number === undefined ? fact : { ...fact, number };
}
