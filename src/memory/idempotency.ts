/**
 * Idempotency-Key: the first answer is kept for 24 hours, in the transaction that writes the facts, and given
 * again to the same request. What is kept is a keyed digest of the request and the channel count, never the
 * value: a forgotten value does not live on in it.
 */

import { hash } from "node:crypto";
import { assert } from "../base/assert.ts";
import { Failure } from "../base/errors.ts";
import type { Caller } from "./authentication.ts";
import { checkIdempotencyKey } from "./identifiers.ts";
import type { WriteRequest } from "./ports.ts";

const KEPT_MS = 24 * 3600 * 1000;

export class IdempotencyGate {
  /** Prefixed to each text before hashing; a keyed hash is all that is needed. */
  readonly #secret: string;
  readonly #inFlight = new Set<string>();

  constructor(secret: Uint8Array) {
    this.#secret = Buffer.from(secret).toString("hex");
  }

  /**
   * Runs `work` with the record to be kept. A second request with a key that is still being worked on is
   * refused: which of the two answers would be "the first" is not known yet.
   */
  async run<T>(
    given: string,
    request: {
      caller: Pick<Caller, "keyId" | "token" | "user">;
      nowMs: number;
      fingerprinted: readonly unknown[];
    },
    work: (idempotency: WriteRequest["idempotency"]) => Promise<T>,
  ): Promise<T> {
    checkIdempotencyKey(given);
    const { keyId, token, user } = request.caller;
    // Many have tokens of one key, and none of them is to meet the Idempotency-Key of another.
    const key =
      token === undefined ? given : hash("sha256", JSON.stringify([this.#secret, user, given]), "hex");
    const slot = `${keyId} ${key}`;
    if (this.#inFlight.has(slot)) {
      throw new Failure(
        "idempotency_in_flight",
        "A request with this Idempotency-Key is still being answered.",
        {
          param: "Idempotency-Key",
          retryAfterS: 1,
        },
      );
    }
    this.#inFlight.add(slot);
    try {
      const digest = hash("sha256", this.#secret + JSON.stringify(request.fingerprinted), "hex");
      const fingerprint = Buffer.from(digest, "hex");
      return await work({ keyId, key, fingerprint, expiresAtMs: request.nowMs + KEPT_MS });
    } finally {
      const wasInFlight = this.#inFlight.delete(slot);
      assert(wasInFlight, "an Idempotency-Key is released once");
    }
  }
}
