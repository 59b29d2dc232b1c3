/**
 * Sees changes of a user's memory that others make: other agents, other processes, the HTTP interface. Asks
 * now and then, only while somebody wants to know. It compares the facts, which need no block work.
 */

import type { FactsAnswer } from "../contract/answers.ts";

const WATCH_INTERVAL_MS = 2_000;

export interface Watch {
  /** Asks at once, for example after a change of one's own. Changes are seen from the first answer on. */
  check(): Promise<void>;
  stop(): void;
}

/** Calls `onChange` once for each change seen, until stopped. */
export function watchMemory(
  factsOf: () => Promise<FactsAnswer>,
  onChange: () => void,
  intervalMs = WATCH_INTERVAL_MS,
): Watch {
  let known: string | undefined;
  let stopped = false;
  let asking: Promise<void> | undefined;

  async function ask(): Promise<void> {
    try {
      const { facts } = await factsOf();
      if (stopped) return;
      const found = JSON.stringify(facts.map(({ label, value }) => [label, value]));
      const changed = known !== undefined && known !== found;
      known = found;
      if (changed) onChange();
    } catch {
      // Memory is away: a change is seen when it is back. What it was before is not known then, so it counts as one.
      known ??= "";
    }
  }
  function check(): Promise<void> {
    asking ??= ask().finally(() => {
      asking = undefined;
    });
    return asking;
  }

  const timer = setInterval(check, intervalMs);
  // Watching keeps no process alive.
  timer.unref();
  void check();
  return {
    check,
    stop() {
      stopped = true;
      clearInterval(timer);
    },
  };
}
