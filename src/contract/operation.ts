/**
 * One entry of the table of operations: what the HTTP routes, the OpenAPI document and the types of handlers are made of.
 * And what many entries say: who may call, and the errors that go together.
 */

import type { FailureCode } from "../base/error-codes.ts";
import type { TSchema } from "./type.ts";

/** `any`: anyone; who sends a key gets what is the account's. */
export type Access = "key" | "demo" | "open" | "any" | "admin";

/**
 * What an operation with a key is about, and so what a key that is bound to a user may do with it. `user`: the one user
 * whom `user_id` in its query or body names, and no other. `key`: the key itself, or what every key of the account may
 * know. `account`: the whole account, for its own keys only.
 */
export type Subject = "user" | "key" | "account";

/** An operation with a key says what it is about, and whether it writes: a reading key may not. */
export type Operation = OperationTerms &
  (
    | { readonly access: "key"; readonly about: Subject; readonly writes: boolean }
    | { readonly access: Exclude<Access, "key">; readonly about?: undefined; readonly writes?: undefined }
  );

interface OperationTerms {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  readonly path: string;
  readonly summary: string;
  readonly query?: TSchema;
  readonly params?: TSchema;
  readonly body?: TSchema;
  /** The largest body, where it is not BODY_BYTES_MAX. */
  readonly bodyBytesMax?: number;
  /** One of the published interface: what it does not know it ignores, but for a slip (unknown-fields.ts). */
  readonly published?: true;
  /** Takes the header Idempotency-Key. */
  readonly idempotent?: true;
  /** Takes the headers If-Match and If-None-Match, for the revision that the fact must have. */
  readonly conditional?: true;
  /** JSON unless `text` says otherwise. */
  readonly answer?: TSchema;
  readonly text?: string;
  readonly status?: number;
  /** Leaves an entry in the audit where it changes something. */
  readonly audited?: true;
  /** The codes beside those that every operation of its kind may answer. */
  readonly errors: readonly FailureCode[];
}

/** A request and the answer that the service gave to it (scripts/write-examples.ts). */
export interface OperationExample {
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  readonly status: number;
  /** JSON, or the first lines of a text. Long blocks and lists are shortened. */
  readonly answer: unknown;
}

export const READS_USER = { access: "key", about: "user", writes: false } as const;
export const WRITES_USER = { access: "key", about: "user", writes: true } as const;

export const LABELLED = ["invalid_request", "unknown_label"] as const;
export const WITH_BODY = ["unsupported_media_type", "body_too_large", "request_timeout"] as const;
export const STORED = ["store_unavailable", "outcome_unknown"] as const;
export const STORING = [...WITH_BODY, "overloaded", ...STORED] as const;
/** Of a write that counts against the monthly limit. */
export const COUNTING = [
  "memory_full",
  "revision_mismatch",
  "idempotency_in_flight",
  "idempotency_mismatch",
  "monthly_limit_exceeded",
] as const;
