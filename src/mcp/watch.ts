/**
 * Sees changes of a user's memory that others make: other agents, other processes, the HTTP interface. Asks
 * now and then, only while somebody wants to know; an unchanged memory costs a cached look-up or a 304.
 */

import type { AgentMemory } from "../contract/agent-memory.ts";

export const WATCH_INTERVAL_MS = 2_000;

export interface Watch {
  /** Asks at once, for example after a change of one's own. */
  check(): Promise<void>;
  stop(): void;
}

/** Calls `onChange` once for each change seen, until stopped. */
export function watchMemory(
  memory: AgentMemory,
  userId: string,
  onChange: () => void,
  intervalMs = WATCH_INTERVAL_MS,
): Watch {
  let known: string | undefined;
  let stopped = false;
  let asking: Promise<void> | undefined;

  async function ask(): Promise<void> {
    try {
      const { plain_index } = await memory.context(userId);
      if (stopped) return;
      const changed = known !== undefined && known !== plain_index;
      known = plain_index;
      if (changed) onChange();
    } catch {
      // Memory is away: a change is seen when it is back.
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
