/**
 * Whether a service is worth asking, from what became of the calls before. After three failures in a row a circuit is open:
 * a call that would rather fail at once than wait is refused, but for one at a time, which probes the service. Before each
 * probe is a rest of 2 seconds that doubles up to 30. The first answer closes the circuit.
 *
 * An address has a circuit for its connection, and one for each user whose calls were not answered in time: what takes one
 * user's call long, such as a large block, says nothing of the others'. All clients of an address in a process share them.
 */

import type { SidebandError } from "./errors.ts";

interface Failures {
  count: number;
  /** When the next call may probe. */
  restUntilMs: number;
  isProbed: boolean;
  /** Of the last of them. */
  error: SidebandError;
}

const FAILURES_MIN = 3;
const REST_MS = 2_000;
const REST_MS_MAX = 30_000;
/** Circuits with a failure; the one that failed longest ago leaves first. */
const CIRCUITS_MAX = 1_000;

export class Circuits {
  readonly #failures = new Map<string, Failures>();

  /**
   * Asks for leave for a call on these circuits.
   * @returns the error of the last failure if it is refused; else whether it probes, and then its end must be told
   */
  enter(names: readonly string[], nowMs: number): SidebandError | boolean {
    const open = names.flatMap((name) => this.#failures.get(name) ?? []).filter(isOpen);
    const refusing = open.find(({ isProbed, restUntilMs }) => isProbed || nowMs < restUntilMs);
    if (refusing !== undefined) return refusing.error;
    for (const failures of open) failures.isProbed = true;
    return open.length > 0;
  }

  answered(names: readonly string[]): void {
    for (const name of names) this.#failures.delete(name);
  }

  failed(name: string, error: SidebandError, nowMs: number): void {
    const before = this.#failures.get(name);
    // Calls that were under way when the circuit opened would make the rest longer, each of them.
    if (before !== undefined && isOpen(before) && !before.isProbed) return;
    const count = (before?.count ?? 0) + 1;
    const restMs = Math.min(REST_MS_MAX, REST_MS * 2 ** (count - FAILURES_MIN));
    this.#failures.delete(name);
    this.#failures.set(name, { count, restUntilMs: nowMs + restMs, isProbed: false, error });
    for (const oldest of this.#failures.keys()) {
      if (this.#failures.size <= CIRCUITS_MAX) break;
      this.#failures.delete(oldest);
    }
  }

  /** A probe ended without a result, because its caller aborted it: the next call probes. */
  released(names: readonly string[]): void {
    for (const name of names) {
      const failures = this.#failures.get(name);
      if (failures !== undefined) failures.isProbed = false;
    }
  }
}

function isOpen({ count }: Failures): boolean {
  return count >= FAILURES_MIN;
}
