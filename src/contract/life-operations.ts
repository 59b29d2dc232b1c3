/** The operations of a fact's life: lists, history, going back, the users and the labels of an account. */

import * as life from "./life-schemas.ts";
import type { Operation } from "./operation.ts";
import * as wire from "./schemas.ts";

const LABELLED = ["invalid_request", "unknown_label"] as const;
const STORING = [
  "unsupported_media_type",
  "body_too_large",
  "overloaded",
  "store_unavailable",
  "outcome_unknown",
] as const;
const COUNTING = [
  "revision_mismatch",
  "idempotency_in_flight",
  "idempotency_mismatch",
  "monthly_limit_exceeded",
] as const;

export const LIFE_OPERATIONS = {
  append: {
    id: "append",
    method: "POST",
    path: "/facts/append",
    access: "key",
    summary: "Adds an item to a fact that is a list. Counts against the monthly limit.",
    body: life.AppendBody,
    idempotent: true,
    answer: wire.EncodeAnswer,
    errors: [...LABELLED, "invalid_value", ...STORING, ...COUNTING],
  },
  remove: {
    id: "remove",
    method: "POST",
    path: "/facts/remove",
    access: "key",
    summary: "Removes an item from a fact that is a list. Counts against the monthly limit.",
    body: life.RemoveBody,
    idempotent: true,
    answer: wire.EncodeAnswer,
    errors: [...LABELLED, "invalid_value", "fact_not_found", ...STORING, ...COUNTING],
  },
  history: {
    id: "history",
    method: "GET",
    path: "/facts/history",
    access: "key",
    summary: "The present and the earlier values of a fact.",
    query: life.HistoryQuery,
    answer: life.HistoryAnswer,
    errors: [...LABELLED, "fact_not_found"],
  },
  restore: {
    id: "restore",
    method: "POST",
    path: "/facts/restore",
    access: "key",
    summary: "Writes an earlier value again. Counts against the monthly limit.",
    body: life.RestoreBody,
    idempotent: true,
    answer: wire.EncodeAnswer,
    errors: [...LABELLED, "invalid_value", "not_found", ...STORING, ...COUNTING],
  },
  changes: {
    id: "changes",
    method: "GET",
    path: "/users/history",
    access: "key",
    summary: "What changed for a user, the newest first.",
    query: life.ChangesQuery,
    answer: life.ChangesAnswer,
    errors: ["invalid_request"],
  },
  rollback: {
    id: "rollback",
    method: "POST",
    path: "/users/rollback",
    access: "key",
    summary: "Puts a user's facts back to a moment, all or none. Each value that is written counts.",
    body: life.RollbackBody,
    answer: life.RollbackAnswer,
    errors: ["invalid_request", ...STORING, "revision_mismatch", "monthly_limit_exceeded"],
  },
  users: {
    id: "users",
    method: "GET",
    path: "/users",
    access: "key",
    summary: "The users of the account, page by page.",
    query: life.UsersQuery,
    answer: life.UsersAnswer,
    errors: ["invalid_request"],
  },
  addLabel: {
    id: "addLabel",
    method: "POST",
    path: "/channels",
    access: "key",
    summary:
      "Adds a label of the account's own. The same label with the same terms again is answered with 200.",
    status: 201,
    body: life.AddLabelBody,
    answer: life.LabelAnswer,
    errors: ["invalid_request", "label_exists", "labels_full", ...STORING],
  },
  changeLabel: {
    id: "changeLabel",
    method: "PATCH",
    path: "/channels/:label",
    access: "key",
    summary: "Changes the terms of a label for later writes; of a standard label only whether it is hidden.",
    params: life.LabelParams,
    body: life.ChangeLabelBody,
    answer: life.LabelAnswer,
    errors: ["invalid_request", "not_found", ...STORING],
  },
} as const satisfies Record<string, Operation>;
