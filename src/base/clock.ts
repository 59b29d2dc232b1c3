/** Time is handed in, so that tests can turn a month or a reset without waiting for it. */

export interface Clock {
  /** Milliseconds since 1970, UTC. */
  now(): number;
}

export const systemClock: Clock = { now: () => Date.now() };
