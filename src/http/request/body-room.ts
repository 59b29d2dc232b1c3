/**
 * The room for bodies: how many bytes of them may be in the process at the same time, in all, for one account and for
 * one address. A body has its place from before it is read until its request has been answered, because some form
 * of it exists for that time: the text, its JSON, the work that was made of it. Without room the request is refused.
 */

import { Failure } from "../../base/errors.ts";
import type { Metrics } from "../../base/metrics.ts";

/** Up to five copies of a body exist while it is read, parsed and handed to a thread. */
export const ROOM_BYTES = 64 * 2 ** 20;
/** The share of the room for one account, or for all callers without one on one kind of route. */
export const ACCOUNT_SHARE = 1 / 4;
export const ADDRESS_SHARE = 1 / 8;
const RETRY_AFTER_S = 1;

export class BodyRoom {
  readonly #bytesMax: number;
  readonly #byAccount = new Map<string, number>();
  readonly #byAddress = new Map<string, number>();
  #takenBytes = 0;

  constructor(metrics: Metrics, bytesMax = ROOM_BYTES) {
    this.#bytesMax = bytesMax;
    metrics.define({
      name: "sideband_body_bytes",
      help: "Bytes that are kept for the bodies of requests in flight.",
      type: "gauge",
    });
    metrics.onCollect(() => metrics.set("sideband_body_bytes", this.#takenBytes));
  }

  placeFor(account: string, address: string): BodyPlace {
    return new BodyPlace((bytes) => {
      if (bytes > 0) this.#refuseOver(account, address, bytes);
      this.#takenBytes += bytes;
      addBytes(this.#byAccount, account, bytes);
      addBytes(this.#byAddress, address, bytes);
    });
  }

  #refuseOver(account: string, address: string, bytes: number): void {
    const isOver = (takenBytes: number | undefined, share: number) =>
      (takenBytes ?? 0) + bytes > this.#bytesMax * share;
    const whose = isOver(this.#byAccount.get(account), ACCOUNT_SHARE)
      ? "requests of this account"
      : isOver(this.#byAddress.get(address), ADDRESS_SHARE)
        ? "requests from this address"
        : isOver(this.#takenBytes, 1)
          ? "requests"
          : undefined;
    if (whose === undefined) return;
    const detail = `The bodies of the ${whose} that are being answered are too large together.`;
    throw new Failure("overloaded", detail, { retryAfterS: RETRY_AFTER_S });
  }
}

/** The place of one body. */
export class BodyPlace {
  readonly #change: (bytes: number) => void;
  #bytes = 0;

  /** @param change takes bytes of the room, or gives them back where the number is negative */
  constructor(change: (bytes: number) => void) {
    this.#change = change;
  }

  /** Fails where there is no room for so many bytes more. */
  take(bytes: number): void {
    this.#change(bytes);
    this.#bytes += bytes;
  }

  leave(): void {
    if (this.#bytes > 0) this.#change(-this.#bytes);
    this.#bytes = 0;
  }
}

function addBytes(taken: Map<string, number>, name: string, bytes: number): void {
  const sum = (taken.get(name) ?? 0) + bytes;
  if (sum === 0) taken.delete(name);
  else taken.set(name, sum);
}
