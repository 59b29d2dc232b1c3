/**
 * Facts that wait for the person. Where the operator asks for it (SIDEBAND_REVIEW=read), what an agent has read somewhere
 * is in no context and no block until the person accepts it, which makes its origin `said`. All else shows it.
 */

import type { UserState } from "./ports.ts";

/** What of a state prompts get; undefined where nothing is left. @param review whether facts that were read somewhere wait */
export function acceptedState(state: UserState | undefined, review: boolean): UserState | undefined {
  if (!review || state === undefined) return state;
  const facts = state.facts.filter(({ origin }) => origin !== "read");
  return facts.length === 0 ? undefined : { ...state, facts };
}
