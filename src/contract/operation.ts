/** One entry of the table of operations: what the HTTP routes, the OpenAPI document and the types of handlers are made of. */

import type { FailureCode } from "../base/error-codes.ts";
import type { TSchema } from "./type.ts";

/** `any`: anyone; who sends a key gets what is the account's. */
export type Access = "key" | "demo" | "open" | "any" | "admin";

export interface Operation {
  readonly id: string;
  readonly method: "GET" | "POST" | "PATCH" | "DELETE";
  readonly path: string;
  readonly access: Access;
  readonly summary: string;
  readonly query?: TSchema;
  readonly params?: TSchema;
  readonly body?: TSchema;
  /** The largest body, where it is not BODY_BYTES_MAX. */
  readonly bodyBytesMax?: number;
  /** Takes the header Idempotency-Key. */
  readonly idempotent?: true;
  /** JSON unless `text` says otherwise. */
  readonly answer?: TSchema;
  readonly text?: string;
  readonly status?: number;
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
