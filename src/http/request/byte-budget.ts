/**
 * How many bytes of one kind may be in the process at the same time: in all, for one account and for one address.
 *
 * - Bodies of requests: from when they come until their request is answered, because some form of them exists for that
 *   time: the text, its JSON, the work that was made of it.
 * - Answers: from when they are written until their reader has taken them. One that does not read keeps them for as long
 *   as its connection may stand still.
 *
 * What does not fit is refused.
 */

import { Failure } from "../../base/errors.ts";
import type { Metrics } from "../../base/metrics.ts";

/** The share of a budget for one account, or for all callers without one on one kind of route. */
export const ACCOUNT_SHARE = 1 / 4;
export const ADDRESS_SHARE = 1 / 8;
const RETRY_AFTER_S = 1;

interface BudgetTerms {
  readonly bytesMax: number;
  /** The name of the gauge. */
  readonly gauge: string;
  readonly help: string;
  /** @param whose requests they belong to */
  readonly refusal: (whose: string) => string;
}

export const BODIES: BudgetTerms = {
  // Up to five copies of a body exist while it is read, parsed and handed to a thread.
  bytesMax: 64 * 2 ** 20,
  gauge: "sideband_body_bytes",
  help: "Bytes that are kept for the bodies of requests in flight.",
  refusal: (whose) => `The bodies of the ${whose} that are being answered are too large together.`,
};

export const ANSWERS: BudgetTerms = {
  bytesMax: 128 * 2 ** 20,
  gauge: "sideband_answer_bytes",
  help: "Bytes of long answers that were written and not yet read.",
  refusal: (whose) => `The answers to the ${whose} that were not yet read are too large together.`,
};

export class ByteBudget {
  readonly #terms: BudgetTerms;
  readonly #byAccount = new Map<string, number>();
  readonly #byAddress = new Map<string, number>();
  #takenBytes = 0;

  constructor(metrics: Metrics, terms: BudgetTerms) {
    this.#terms = terms;
    metrics.define({ name: terms.gauge, help: terms.help, type: "gauge" });
    metrics.onCollect(() => metrics.set(terms.gauge, this.#takenBytes));
  }

  /** The most that one request can hold. */
  get largestBytes(): number {
    return this.#terms.bytesMax * Math.min(ACCOUNT_SHARE, ADDRESS_SHARE);
  }

  holdingFor(account: string, address: string): ByteReservation {
    return new ByteReservation((bytes) => {
      if (bytes > 0) this.#refuseOver(account, address, bytes);
      this.#takenBytes += bytes;
      addBytes(this.#byAccount, account, bytes);
      addBytes(this.#byAddress, address, bytes);
    });
  }

  #refuseOver(account: string, address: string, bytes: number): void {
    const isOver = (takenBytes: number | undefined, share: number) =>
      (takenBytes ?? 0) + bytes > this.#terms.bytesMax * share;
    const whose = isOver(this.#byAccount.get(account), ACCOUNT_SHARE)
      ? "requests of this account"
      : isOver(this.#byAddress.get(address), ADDRESS_SHARE)
        ? "requests from this address"
        : isOver(this.#takenBytes, 1)
          ? "requests"
          : undefined;
    if (whose === undefined) return;
    throw new Failure("overloaded", this.#terms.refusal(whose), { retryAfterS: RETRY_AFTER_S });
  }
}

/** What one request holds of a budget. */
export class ByteReservation {
  readonly #change: (bytes: number) => void;
  #bytes = 0;

  /** @param change takes bytes of the budget, or gives them back where the number is negative */
  constructor(change: (bytes: number) => void) {
    this.#change = change;
  }

  /** Fails where so many bytes more do not fit. */
  take(bytes: number): void {
    this.#change(bytes);
    this.#bytes += bytes;
  }

  /** Takes or gives back what makes it so many bytes. */
  hold(bytes: number): void {
    this.take(bytes - this.#bytes);
  }

  giveBack(): void {
    if (this.#bytes > 0) this.#change(-this.#bytes);
    this.#bytes = 0;
  }
}

function addBytes(taken: Map<string, number>, name: string, bytes: number): void {
  const sum = (taken.get(name) ?? 0) + bytes;
  if (sum === 0) taken.delete(name);
  else taken.set(name, sum);
}
