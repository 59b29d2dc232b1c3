/**
 * encode: one fact, or up to 40 of one user, all or none. The store checks the monthly limit, the idempotency
 * key and writes, in one transaction; the answer comes after the data is on disk. Code bits follow
 * when there is time.
 */

import { assert } from "../base/assert.ts";
import { Failure } from "../base/errors.ts";
import type { Caller } from "./authentication.ts";
import { checkIdentifier, checkValue } from "./identifiers.ts";
import { channelOf } from "./labels.ts";
import type { WriteOutcome, WriteRequest } from "./ports.ts";
import { dayOf, quotaWindow } from "./quota.ts";
import type { MemoryServices } from "./services.ts";

export interface EncodeInput {
  readonly userId: string;
  readonly facts: readonly { readonly label: string; readonly value: string }[];
  readonly sessionId?: string | undefined;
  readonly idempotencyKey?: string | undefined;
  /** Tells /encode from /encode/batch: one key cannot stand for both. */
  readonly operation: "encode" | "encode/batch";
}

export interface EncodeResult {
  readonly facts: readonly { readonly channel: number; readonly value: string }[];
  readonly channelCount: number;
  readonly replayed: boolean;
  /** Encodes of this key in this month, after this call. */
  readonly used: number;
}

export async function encodeFacts(
  services: MemoryServices,
  caller: Caller,
  input: EncodeInput,
): Promise<EncodeResult> {
  const { userId, facts, sessionId, operation } = input;
  checkIdentifier(userId, "user_id");
  if (sessionId !== undefined) checkIdentifier(sessionId, "session_id");
  const placed = placeFacts(facts, operation === "encode/batch");
  const nowMs = services.clock.now();
  const { keyId, limit } = caller;
  const quota = { keyId, month: quotaWindow(nowMs).month, day: dayOf(nowMs), limit };
  const write = (idempotency?: WriteRequest["idempotency"]) =>
    services.store.write({ account: caller.account, userId, facts: placed, nowMs, quota, idempotency });
  const { idempotencyKey } = input;
  const outcome =
    idempotencyKey === undefined
      ? await write()
      : await services.idempotency.run(
          idempotencyKey,
          {
            keyId,
            nowMs,
            fingerprinted: [operation, userId, placed.map(({ channel, value }) => [channel, value])],
          },
          write,
        );
  refuseUnlessStored(outcome, caller, nowMs);
  assert(outcome.channelCount >= 1, "a stored fact is in use");
  assert(
    outcome.outcome === "stored" || idempotencyKey !== undefined,
    "only a request with an Idempotency-Key gets an earlier answer",
  );
  if (outcome.outcome === "stored") services.blocks.codeInBackground(caller, userId);
  return {
    facts: placed,
    channelCount: outcome.channelCount,
    replayed: outcome.outcome === "replayed",
    used: outcome.used,
  };
}

/** Labels to channels; values checked; in a batch the index of the fact at fault is named. */
function placeFacts(facts: EncodeInput["facts"], batch: boolean): EncodeResult["facts"] {
  const seen = new Set<number>();
  return facts.map(({ label, value }, index) => {
    try {
      const channel = channelOf(label);
      checkValue(value);
      if (seen.has(channel)) {
        throw new Failure("invalid_request", `The label ${label} is given twice.`, { param: "label" });
      }
      seen.add(channel);
      return { channel, value };
    } catch (error) {
      if (!batch || !(error instanceof Failure)) throw error;
      const param = `facts[${index}].${error.extra.param}`;
      throw new Failure(error.code, error.message, { ...error.extra, param });
    }
  });
}

type Stored = Extract<WriteOutcome, { channelCount: number }>;

function refuseUnlessStored(outcome: WriteOutcome, caller: Caller, nowMs: number): asserts outcome is Stored {
  if (outcome.outcome === "limit") {
    throw new Failure(
      "monthly_limit_exceeded",
      `The ${caller.tier} tier allows ${caller.limit} encodes a month; ${outcome.used} are used.`,
      { retryAfterS: Math.ceil((quotaWindow(nowMs).endMs - nowMs) / 1000), used: outcome.used },
    );
  }
  if (outcome.outcome === "mismatch") {
    throw new Failure("idempotency_mismatch", "This Idempotency-Key was used for another request.", {
      param: "Idempotency-Key",
    });
  }
}
