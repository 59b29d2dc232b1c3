/**
 * Idempotency-Key: the first answer is kept for 24 hours, in the transaction that writes the facts, and given
 * again to the same request, byte by byte. Of the request a keyed digest is kept; its key changes with the master key
 * that writes, so a repeated request is known by those of the others too. What the answer says beyond the request (a list,
 * the fact that was there before) goes at once when something of the user is forgotten.
 */

import { hash } from "node:crypto";
import { assert, elementAt } from "../base/assert.ts";
import { Failure } from "../base/errors.ts";
import type { Caller } from "./authentication.ts";
import { checkIdempotencyKey } from "./identifiers.ts";
import type { WriteRequest } from "./ports.ts";

const KEPT_MS = 24 * 3600 * 1000;

/** The request that an Idempotency-Key stands for. */
interface KeyedRequest {
  readonly caller: Pick<Caller, "keyId" | "token" | "user" | "groups" | "write">;
  readonly nowMs: number;
  readonly fingerprinted: readonly unknown[];
}

type IdempotencyKey = NonNullable<WriteRequest["idempotency"]>;

export class IdempotencyGate {
  /** Prefixed to each text before hashing; a keyed hash is all that is needed. */
  readonly #secrets: readonly string[];
  readonly #inFlight = new Set<string>();

  /** @param secrets the last one makes the digest that is kept */
  constructor(secrets: readonly Uint8Array[]) {
    this.#secrets = secrets.map((secret) => Buffer.from(secret).toString("hex"));
  }

  /**
   * Runs `work` with the record to be kept. A second request with a key that is still being worked on is
   * refused: which of the two answers would be "the first" is not known yet.
   */
  async run<T>(
    given: string,
    request: KeyedRequest,
    work: (idempotency: IdempotencyKey) => Promise<T>,
  ): Promise<T> {
    const idempotency = this.recordOf(given, request);
    const { keyId, key } = idempotency;
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
      return await work(idempotency);
    } finally {
      const wasInFlight = this.#inFlight.delete(slot);
      assert(wasInFlight, "an Idempotency-Key is released once");
    }
  }

  /** What is kept of the request, and what its first answer is found by. */
  recordOf(given: string, { caller, nowMs, fingerprinted }: KeyedRequest): IdempotencyKey {
    checkIdempotencyKey(given);
    const { keyId, token, user, groups, write } = caller;
    // Tokens of one key belong to many users and groups: the Idempotency-Key of one must not match that of another.
    const owner = [user, given, groups?.text, ...(write === undefined ? [] : [write.text])];
    const key = token === undefined ? given : hash("sha256", JSON.stringify(owner), "hex");
    const text = JSON.stringify(fingerprinted);
    const digests = this.#secrets.map((secret) => Buffer.from(hash("sha256", secret + text, "hex"), "hex"));
    const fingerprint = elementAt(digests, digests.length - 1);
    const otherFingerprints = digests.slice(0, -1);
    return { keyId, key, fingerprint, otherFingerprints, expiresAtMs: nowMs + KEPT_MS };
  }
}
