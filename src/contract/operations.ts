/**
 * The table of operations: method, path, who may call, what goes in and out. The HTTP routes, the OpenAPI
 * document and docs/API.md are made of it or tested against it. Each path also exists under /v1.
 */

import type { FailureCode } from "../base/errors.ts";
import * as admin from "./admin-schemas.ts";
import * as wire from "./schemas.ts";
import type { TSchema } from "./type.ts";
import { WEBSITE_OPERATIONS } from "./website-operations.ts";

export type Access = "key" | "demo" | "open" | "admin";

export interface Operation {
  readonly id: string;
  readonly method: "GET" | "POST" | "DELETE";
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

const LABELLED = ["invalid_request", "unknown_label"] as const;
const WRITING = [
  "invalid_value",
  "unsupported_media_type",
  "body_too_large",
  "overloaded",
  "store_unavailable",
  "outcome_unknown",
] as const;
const BLOCKS = ["invalid_request", "overloaded"] as const;

export const OPERATIONS = {
  encode: {
    id: "encode",
    method: "POST",
    path: "/encode",
    access: "key",
    summary: "Writes a fact. Counts against the monthly limit.",
    body: wire.EncodeBody,
    idempotent: true,
    answer: wire.EncodeAnswer,
    errors: [
      ...LABELLED,
      ...WRITING,
      "idempotency_in_flight",
      "idempotency_mismatch",
      "monthly_limit_exceeded",
    ],
  },
  encodeBatch: {
    id: "encodeBatch",
    method: "POST",
    path: "/encode/batch",
    access: "key",
    summary: "Writes 1 to 40 facts of one user, all or none. Each fact counts.",
    body: wire.BatchBody,
    bodyBytesMax: 512 * 1024,
    idempotent: true,
    answer: wire.BatchAnswer,
    errors: [
      ...LABELLED,
      ...WRITING,
      "idempotency_in_flight",
      "idempotency_mismatch",
      "monthly_limit_exceeded",
    ],
  },
  context: {
    id: "context",
    method: "GET",
    path: "/context",
    access: "key",
    summary:
      "The memory block for a system prompt, byte-identical until a fact changes. ETag; 304 on If-None-Match.",
    query: wire.UserQuery,
    answer: wire.ContextAnswer,
    errors: BLOCKS,
  },
  decode: {
    id: "decode",
    method: "GET",
    path: "/decode",
    access: "key",
    summary: "Reads one fact; with use_model=true it is verified by model inference.",
    query: wire.DecodeQuery,
    answer: wire.DecodeAnswer,
    errors: [...LABELLED, "fact_not_found", "overloaded"],
  },
  decodeModel: {
    id: "decodeModel",
    method: "GET",
    path: "/decode/model",
    access: "key",
    summary: "The same as decode with use_model=true.",
    query: wire.FactQuery,
    answer: wire.DecodeAnswer,
    errors: [...LABELLED, "fact_not_found", "overloaded"],
  },
  flush: {
    id: "flush",
    method: "POST",
    path: "/flush",
    access: "key",
    summary:
      "Builds a new block, reads it back and compares every fact. Call it before a context is compacted.",
    body: wire.FlushBody,
    answer: wire.FlushAnswer,
    errors: [...BLOCKS, "unsupported_media_type", "body_too_large"],
  },
  read: {
    id: "read",
    method: "POST",
    path: "/read",
    access: "key",
    summary: "Reads a block, even if it is damaged or inside other text.",
    body: wire.ReadBody,
    bodyBytesMax: 1024 * 1024,
    answer: wire.ReadAnswer,
    errors: [...BLOCKS, "block_unreadable", "unsupported_media_type", "body_too_large"],
  },
  facts: {
    id: "facts",
    method: "GET",
    path: "/facts",
    access: "key",
    summary: "All facts of a user, in channel order.",
    query: wire.UserQuery,
    answer: wire.FactsAnswer,
    errors: ["invalid_request"],
  },
  forgetFact: {
    id: "forgetFact",
    method: "DELETE",
    path: "/facts",
    access: "key",
    summary: "Forgets one fact.",
    query: wire.FactQuery,
    answer: wire.ForgetFactAnswer,
    errors: [...LABELLED, "fact_not_found", "overloaded", "store_unavailable", "outcome_unknown"],
  },
  forgetUser: {
    id: "forgetUser",
    method: "DELETE",
    path: "/users",
    access: "key",
    summary: "Forgets all facts of a user.",
    query: wire.UserQuery,
    answer: wire.StatusAnswer,
    errors: ["invalid_request", "not_found", "overloaded", "store_unavailable", "outcome_unknown"],
  },
  usage: {
    id: "usage",
    method: "GET",
    path: "/usage",
    access: "key",
    summary: "What the key has used of its monthly limit.",
    answer: wire.UsageAnswer,
    errors: [],
  },
  demoEncode: {
    id: "demoEncode",
    method: "POST",
    path: "/demo/encode",
    access: "demo",
    summary: "Writes a fact into the public demo state: at most 128 bytes, nothing sensitive.",
    body: wire.DemoEncodeBody,
    answer: wire.EncodeAnswer,
    errors: [...LABELLED, ...WRITING],
  },
  demoContext: {
    id: "demoContext",
    method: "GET",
    path: "/demo/context",
    access: "demo",
    summary: "The demo state's memory block.",
    answer: wire.ContextAnswer,
    errors: ["overloaded"],
  },
  demoDecode: {
    id: "demoDecode",
    method: "GET",
    path: "/demo/decode",
    access: "demo",
    summary: "Reads one fact of the demo state.",
    query: wire.LabelQuery,
    answer: wire.DecodeAnswer,
    errors: [...LABELLED, "fact_not_found"],
  },
  demoFlush: {
    id: "demoFlush",
    method: "POST",
    path: "/demo/flush",
    access: "demo",
    summary: "Flushes the demo state. No body needed.",
    answer: wire.FlushAnswer,
    errors: ["overloaded"],
  },
  demoReset: {
    id: "demoReset",
    method: "POST",
    path: "/demo/reset",
    access: "demo",
    summary: "Empties the demo state. No body needed.",
    answer: wire.ForgetFactAnswer,
    errors: ["overloaded", "store_unavailable", "outcome_unknown"],
  },
  channels: {
    id: "channels",
    method: "GET",
    path: "/channels",
    access: "open",
    summary: "The 40 channels.",
    answer: wire.ChannelsAnswer,
    errors: [],
  },
  requestKey: {
    id: "requestKey",
    method: "POST",
    path: "/key-requests",
    access: "open",
    summary: "Asks the operator for a key.",
    status: 202,
    body: admin.KeyRequestBody,
    answer: admin.KeyRequestReceived,
    errors: [
      "invalid_request",
      "unsupported_media_type",
      "body_too_large",
      "rate_limited",
      "overloaded",
      "store_unavailable",
      "outcome_unknown",
    ],
  },
  openapi: {
    id: "openapi",
    method: "GET",
    path: "/openapi.json",
    access: "open",
    summary: "The OpenAPI document.",
    text: "application/json",
    errors: [],
  },
  reference: {
    id: "reference",
    method: "GET",
    path: "/docs",
    access: "open",
    summary: "The reference as a page.",
    text: "text/html",
    errors: [],
  },
  health: {
    id: "health",
    method: "GET",
    path: "/healthz",
    access: "open",
    summary: "Whether the process is running.",
    answer: wire.HealthAnswer,
    errors: [],
  },
  ready: {
    id: "ready",
    method: "GET",
    path: "/readyz",
    access: "open",
    summary: "Whether the store can be written to and the reader model works.",
    answer: wire.HealthAnswer,
    errors: ["store_unavailable", "outcome_unknown", "overloaded"],
  },
  metrics: {
    id: "metrics",
    method: "GET",
    path: "/metrics",
    access: "open",
    summary: "Figures for Prometheus.",
    text: "text/plain",
    errors: [],
  },
  adminKeys: {
    id: "adminKeys",
    method: "GET",
    path: "/admin/keys",
    access: "admin",
    summary: "Keys, of one account or all.",
    query: admin.KeysQuery,
    answer: admin.KeysAnswer,
    errors: ["invalid_request"],
  },
  adminCreateKey: {
    id: "adminCreateKey",
    method: "POST",
    path: "/admin/keys",
    access: "admin",
    summary: "Creates a key, and its account if it is new.",
    status: 201,
    body: admin.CreateKeyBody,
    answer: admin.CreatedKey,
    errors: ["invalid_request", "store_unavailable", "outcome_unknown"],
  },
  adminRevokeKey: {
    id: "adminRevokeKey",
    method: "POST",
    path: "/admin/keys/:id/revoke",
    access: "admin",
    summary: "Revokes a key permanently.",
    params: admin.KeyIdParams,
    answer: admin.KeyView,
    errors: ["not_found", "store_unavailable", "outcome_unknown"],
  },
  adminExpireKey: {
    id: "adminExpireKey",
    method: "POST",
    path: "/admin/keys/:id/expire",
    access: "admin",
    summary: "Sets or clears the time a key expires.",
    params: admin.KeyIdParams,
    body: admin.ExpireKeyBody,
    answer: admin.KeyView,
    errors: ["invalid_request", "not_found", "store_unavailable", "outcome_unknown"],
  },
  adminAccounts: {
    id: "adminAccounts",
    method: "GET",
    path: "/admin/accounts",
    access: "admin",
    summary: "Accounts and how many keys they have.",
    answer: admin.AccountsAnswer,
    errors: [],
  },
  adminUsage: {
    id: "adminUsage",
    method: "GET",
    path: "/admin/usage",
    access: "admin",
    summary: "Encodes by key and day; the last 31 days unless from and to say otherwise.",
    query: admin.UsageQuery,
    answer: admin.UsageByDayAnswer,
    errors: ["invalid_request"],
  },
  adminKeyRequests: {
    id: "adminKeyRequests",
    method: "GET",
    path: "/admin/key-requests",
    access: "admin",
    summary: "Requests for keys.",
    answer: admin.KeyRequestsAnswer,
    errors: [],
  },
  adminApprove: {
    id: "adminApprove",
    method: "POST",
    path: "/admin/key-requests/:id/approve",
    access: "admin",
    summary: "Approves a request: creates the key.",
    status: 201,
    params: admin.KeyIdParams,
    body: admin.ApproveBody,
    answer: admin.CreatedKey,
    errors: ["invalid_request", "conflict", "store_unavailable", "outcome_unknown"],
  },
  adminDecline: {
    id: "adminDecline",
    method: "POST",
    path: "/admin/key-requests/:id/decline",
    access: "admin",
    summary: "Declines a request.",
    params: admin.KeyIdParams,
    answer: admin.KeyRequestView,
    errors: ["conflict", "store_unavailable", "outcome_unknown"],
  },
  ...WEBSITE_OPERATIONS,
} as const satisfies Record<string, Operation>;

export type OperationId = keyof typeof OPERATIONS;

/** What every operation of its kind may answer as well. */
export const ACCESS_ERRORS: Readonly<Record<Access, readonly FailureCode[]>> = {
  key: ["missing_key", "invalid_key", "key_revoked", "key_expired", "rate_limited"],
  demo: ["rate_limited"],
  open: [],
  admin: ["missing_key", "invalid_key", "rate_limited"],
};
