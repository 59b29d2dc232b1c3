/**
 * The table of operations: method, path, who may call, what goes in and out. The HTTP routes, the OpenAPI
 * document and docs/API.md are made of it. Each path also exists under /v1.
 */

import type { FailureCode } from "../base/error-codes.ts";
import { DEMO_VALUE_BYTES_MAX } from "../base/limits.ts";
import { ADMIN_OPERATIONS } from "./admin-operations.ts";
import { HealthAnswer, KeyRequestBody, KeyRequestReceived, ReadyAnswer } from "./admin-schemas.ts";
import * as audit from "./audit-schemas.ts";
import * as demo from "./demo-schemas.ts";
import * as erasure from "./erasure-schemas.ts";
import * as keys from "./key-schemas.ts";
import * as labels from "./label-schemas.ts";
import { LIFE_OPERATIONS } from "./life-operations.ts";
import {
  type Access,
  COUNTING,
  LABELLED,
  type Operation,
  READS_USER,
  STORED,
  STORING,
  WITH_BODY,
  WRITES_USER,
} from "./operation.ts";
import { PROJECT_OPERATIONS } from "./project-operations.ts";
import * as wire from "./schemas.ts";

const BLOCKS = ["invalid_request", "overloaded"] as const;

export const OPERATIONS = {
  encode: {
    method: "POST",
    path: "/encode",
    published: true,
    ...WRITES_USER,
    summary: "Writes a fact. Counts against the monthly limit.",
    body: wire.EncodeBody,
    idempotent: true,
    conditional: true,
    answer: wire.EncodeAnswer,
    errors: [...LABELLED, "invalid_value", ...STORING, ...COUNTING],
  },
  encodeBatch: {
    method: "POST",
    path: "/encode/batch",
    ...WRITES_USER,
    summary: "Writes 1 to 40 facts of one user, all or none. Each fact counts.",
    body: wire.BatchBody,
    bodyBytesMax: 512 * 1024,
    idempotent: true,
    answer: wire.BatchAnswer,
    errors: [...LABELLED, "invalid_value", ...STORING, ...COUNTING],
  },
  context: {
    method: "GET",
    path: "/context",
    published: true,
    ...READS_USER,
    summary:
      "The memory block for a system prompt, byte-identical until a fact changes. ETag; 304 on If-None-Match.",
    query: wire.ContextQuery,
    answer: wire.ContextAnswer,
    errors: BLOCKS,
  },
  decode: {
    method: "GET",
    path: "/decode",
    published: true,
    ...READS_USER,
    summary: "Reads one fact; with use_model=true it is verified by model inference.",
    query: wire.DecodeQuery,
    answer: wire.DecodeAnswer,
    errors: [...LABELLED, "fact_not_found", "overloaded"],
  },
  decodeModel: {
    method: "GET",
    path: "/decode/model",
    published: true,
    ...READS_USER,
    summary: "The same as decode with use_model=true.",
    query: wire.FactQuery,
    answer: wire.DecodeAnswer,
    errors: [...LABELLED, "fact_not_found", "overloaded"],
  },
  flush: {
    method: "POST",
    path: "/flush",
    published: true,
    ...READS_USER,
    summary:
      "Builds a new block, reads it back and compares every fact. Call it before a context is compacted.",
    body: wire.FlushBody,
    answer: wire.FlushAnswer,
    errors: [...BLOCKS, ...WITH_BODY],
  },
  read: {
    method: "POST",
    path: "/read",
    // The whole answer of /context may come with its block.
    published: true,
    ...READS_USER,
    summary: "Reads a block, even if it is damaged or inside other text.",
    body: wire.ReadBody,
    bodyBytesMax: 1024 * 1024,
    answer: wire.ReadAnswer,
    errors: [...BLOCKS, "block_unreadable", ...WITH_BODY],
  },
  facts: {
    method: "GET",
    path: "/facts",
    ...READS_USER,
    summary: "All facts of a user, in channel order.",
    query: wire.FactsQuery,
    answer: wire.FactsAnswer,
    errors: ["invalid_request"],
  },
  forgetFact: {
    method: "DELETE",
    path: "/facts",
    audited: true,
    ...WRITES_USER,
    summary: "Forgets one fact, with its history.",
    query: wire.ForgetQuery,
    conditional: true,
    answer: wire.ForgetFactAnswer,
    errors: [...LABELLED, "fact_not_found", "revision_mismatch", "overloaded", ...STORED],
  },
  forgetUser: {
    method: "DELETE",
    path: "/users",
    audited: true,
    ...WRITES_USER,
    summary: "Forgets all facts of a user; with `details`, the answer has a signed receipt.",
    query: erasure.ForgetUserQuery,
    answer: erasure.ErasureAnswer,
    errors: ["invalid_request", "not_found", "overloaded", ...STORED],
  },
  createToken: {
    method: "POST",
    path: "/tokens",
    // It stores nothing: who has a reading key gets a reading token.
    ...READS_USER,
    summary:
      "A short-lived token for one user, for pages and devices. It ends with the key, and counts to it.",
    body: keys.TokenBody,
    answer: keys.TokenAnswer,
    errors: ["invalid_request", ...WITH_BODY, "read_only_key"],
  },
  ...LIFE_OPERATIONS,
  ...PROJECT_OPERATIONS,
  usage: {
    method: "GET",
    path: "/usage",
    access: "key",
    about: "key",
    writes: false,
    summary: "What the key has used of its monthly limit.",
    answer: keys.UsageAnswer,
    errors: [],
  },
  usageDays: {
    method: "GET",
    path: "/usage/days",
    access: "key",
    about: "key",
    writes: false,
    summary: "Facts written with the key by day, in the last 31 days.",
    answer: keys.UsageDaysAnswer,
    errors: [],
  },
  audit: {
    method: "GET",
    path: "/audit",
    access: "key",
    about: "account",
    writes: false,
    summary:
      "Who has changed labels, shared projects, keys and limits of the account, connected an application, or erased something; the newest first, for 400 days.",
    query: audit.AuditQuery,
    answer: audit.AuditAnswer,
    errors: ["invalid_request", "group_not_allowed"],
  },
  demoEncode: {
    method: "POST",
    path: "/demo/encode",
    published: true,
    access: "demo",
    summary: `Writes a fact into the public demo state: at most ${DEMO_VALUE_BYTES_MAX} bytes, nothing sensitive.`,
    query: demo.DemoQuery,
    body: demo.DemoEncodeBody,
    answer: wire.EncodeAnswer,
    errors: [...LABELLED, "invalid_value", ...STORING],
  },
  demoContext: {
    method: "GET",
    path: "/demo/context",
    published: true,
    access: "demo",
    summary: "The demo state's memory block.",
    query: demo.DemoQuery,
    answer: wire.ContextAnswer,
    errors: BLOCKS,
  },
  demoDecode: {
    method: "GET",
    path: "/demo/decode",
    published: true,
    access: "demo",
    summary: "Reads one fact of the demo state; with use_model=true it is verified by model inference.",
    query: demo.DemoDecodeQuery,
    answer: wire.DecodeAnswer,
    errors: [...LABELLED, "fact_not_found", "overloaded"],
  },
  demoFlush: {
    method: "POST",
    path: "/demo/flush",
    published: true,
    access: "demo",
    summary: "Flushes the demo state. No body needed.",
    query: demo.DemoQuery,
    answer: wire.FlushAnswer,
    errors: BLOCKS,
  },
  demoRead: {
    method: "POST",
    path: "/demo/read",
    published: true,
    access: "demo",
    summary: "Reads a block of the demo, even if it is damaged or inside other text.",
    query: demo.DemoQuery,
    body: demo.DemoReadBody,
    bodyBytesMax: 1024 * 1024,
    answer: wire.ReadAnswer,
    errors: [...BLOCKS, "block_unreadable", ...WITH_BODY],
  },
  demoKey: {
    method: "GET",
    path: "/demo/key",
    access: "demo",
    summary:
      "The block key of the demo. It is public, like the demo's state. No other block key is ever given out.",
    query: demo.DemoQuery,
    answer: demo.DemoKeyAnswer,
    errors: ["invalid_request"],
  },
  demoForget: {
    method: "DELETE",
    path: "/demo/facts",
    access: "demo",
    summary: "Forgets one fact of the demo state.",
    query: demo.DemoFactQuery,
    answer: wire.ForgetFactAnswer,
    errors: [...LABELLED, "fact_not_found", "overloaded", ...STORED],
  },
  demoReset: {
    method: "POST",
    path: "/demo/reset",
    published: true,
    access: "demo",
    summary: "Empties the demo state. No body needed.",
    query: demo.DemoQuery,
    answer: wire.ForgetFactAnswer,
    errors: [...BLOCKS, ...STORED],
  },
  channels: {
    method: "GET",
    path: "/channels",
    access: "any",
    summary: "The 40 channels; with a key, all labels of its account.",
    answer: labels.ChannelsAnswer,
    errors: [],
  },
  labelSets: {
    method: "GET",
    path: "/channels/sets",
    access: "open",
    summary: "Sets of labels for a purpose, which an account can add.",
    answer: labels.LabelSetsAnswer,
    errors: [],
  },
  requestKey: {
    method: "POST",
    path: "/key-requests",
    access: "open",
    summary: "Asks the operator for a key.",
    status: 202,
    body: KeyRequestBody,
    answer: KeyRequestReceived,
    errors: ["invalid_request", ...WITH_BODY, "rate_limited", "overloaded", ...STORED],
  },
  openapi: {
    method: "GET",
    path: "/openapi.json",
    access: "open",
    summary: "The OpenAPI document.",
    text: "application/json",
    errors: [],
  },
  health: {
    method: "GET",
    path: "/healthz",
    access: "open",
    summary: "Whether the process is running.",
    answer: HealthAnswer,
    errors: [],
  },
  ready: {
    method: "GET",
    path: "/readyz",
    access: "open",
    summary:
      "Whether the service is ready: the store takes writes, block work runs, and the node's clock is within a minute of the database's.",
    answer: ReadyAnswer,
    errors: [...STORED, "overloaded"],
  },
  metrics: {
    method: "GET",
    path: "/metrics",
    access: "open",
    summary: "Figures for Prometheus.",
    text: "text/plain",
    errors: [],
  },
  ...ADMIN_OPERATIONS,
} as const satisfies Record<string, Operation>;

export type OperationId = keyof typeof OPERATIONS;

/** What every operation of its kind may answer as well. */
export const ACCESS_ERRORS: Readonly<Record<Access, readonly FailureCode[]>> = {
  key: ["missing_key", "invalid_key", "key_revoked", "key_expired", "rate_limited", "overloaded"],
  demo: ["rate_limited"],
  open: [],
  any: ["invalid_key", "key_revoked", "key_expired", "rate_limited", "overloaded"],
  admin: ["missing_key", "invalid_key", "rate_limited", "overloaded", "store_unavailable"],
};

/** What an operation may answer, with what every one of its kind may answer. */
export function errorsOf({ method, access, about, writes, errors }: Operation): FailureCode[] {
  const bound: FailureCode[] = about === "user" || about === "account" ? ["user_not_allowed"] : [];
  const reading: FailureCode[] = writes ? ["read_only_key", "group_not_allowed", "label_not_allowed"] : [];
  const looking: FailureCode[] = access === "admin" && method !== "GET" ? ["read_only_key"] : [];
  return [...new Set([...errors, ...ACCESS_ERRORS[access], ...bound, ...reading, ...looking])];
}
