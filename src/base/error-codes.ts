/**
 * The one table of errors: every code with the status and title of its answer, and its meaning. docs/ERRORS.md gets it
 * by npm run docs.
 */

interface ErrorEntry {
  readonly status: number;
  readonly title: string;
  /** When it happens and what to do, for the documentation. */
  readonly meaning: string;
}

/** So that the type names the codes, and not the texts again. */
function errorTable<C extends string>(entries: Readonly<Record<C, ErrorEntry>>) {
  return entries;
}

export const ERRORS = errorTable({
  invalid_request: {
    status: 400,
    title: "Invalid request",
    meaning: "The body is not JSON, or a field, parameter or header is missing or wrong; `param` names it.",
  },
  unknown_label: {
    status: 400,
    title: "Unknown label",
    meaning:
      "The account has no such label. `GET /channels` lists those that it has, `POST /channels` adds one; `hint` is the label that was probably meant.",
  },
  invalid_value: {
    status: 400,
    title: "Invalid value",
    meaning:
      "The value is empty, too long, or holds characters that are not allowed; `detail` names the rule.",
  },
  missing_key: {
    status: 401,
    title: "Missing API key",
    meaning:
      "No key was sent. Send `Authorization: Bearer <API_KEY>`; the query parameter `api_key` works for GET only.",
  },
  invalid_key: {
    status: 401,
    title: "Invalid API key",
    meaning: "The key is unknown or has a typing error.",
  },
  key_revoked: { status: 403, title: "API key revoked", meaning: "The operator has revoked this key." },
  key_expired: {
    status: 403,
    title: "API key expired",
    meaning: "This key has expired. Ask for a new one.",
  },
  user_not_allowed: {
    status: 403,
    title: "User not allowed",
    meaning: "The key is bound to another user. Leave `user_id` out, or use the account's key.",
  },
  read_only_key: {
    status: 403,
    title: "Key reads only",
    meaning:
      "The key may read facts, not write or forget them; or the operator may look, and change nothing.",
  },
  group_not_allowed: {
    status: 403,
    title: "Group not allowed",
    meaning:
      "The key is for some groups of labels. It cannot write others, and what concerns all that a user has, or the account's labels, needs a key for all groups.",
  },
  label_not_allowed: {
    status: 403,
    title: "Label not allowed",
    meaning:
      "The key may write some labels only, or the label is for the account's own key (`writers`). Nothing was written: a call that would change several labels is refused as a whole.",
  },
  not_a_member: {
    status: 403,
    title: "Not a member",
    meaning:
      "The project is shared, and this user does not share it, not any more, or only reads it; `detail` says which. Nothing was written. `PUT /projects/{project}` says who shares it.",
  },
  origin_not_allowed: {
    status: 403,
    title: "Origin not allowed",
    meaning:
      "A browser page of another site, or under another name, called /mcp. The operator allows origins with SIDEBAND_ALLOWED_ORIGINS.",
  },
  fact_not_found: {
    status: 404,
    title: "Fact not found",
    meaning: "The label is valid, but this user has no fact with it.",
  },
  not_found: {
    status: 404,
    title: "Not found",
    meaning: "There is nothing at this path or with this id.",
  },
  method_not_allowed: {
    status: 405,
    title: "Method not allowed",
    meaning: "The path exists for other methods only; the `Allow` header lists them.",
  },
  request_timeout: {
    status: 408,
    title: "Request timeout",
    meaning:
      "The request did not arrive in time, or its body came slower than 1 KiB a second for 10 seconds. The connection ends.",
  },
  idempotency_in_flight: {
    status: 409,
    title: "Idempotency key in use",
    meaning: "A request with this Idempotency-Key is still running. Try again after `Retry-After`.",
  },
  account_exists: {
    status: 409,
    title: "Account exists",
    meaning:
      "An approval makes a new account, and this name is taken; `detail` says what the account holds. Choose another name, or send `join: true` to give the key access to the account.",
  },
  conflict: {
    status: 409,
    title: "Conflict",
    meaning:
      "The request for a key was already approved or declined, an operator has the name, or the same work is already running.",
  },
  fact_exists: {
    status: 409,
    title: "Fact exists",
    meaning:
      'A fact was to be renamed, and the other label has a fact. Forget it first, or send `merge: "append"` for a list of both.',
  },
  label_exists: {
    status: 409,
    title: "Label exists",
    meaning: "The account has this label with other terms. `PATCH /channels/{label}` changes them.",
  },
  label_in_use: {
    status: 409,
    title: "Label in use",
    meaning:
      "The label has facts or a history in the account, and cannot be removed. Forget them first, or hide the label.",
  },
  memory_full: {
    status: 409,
    title: "Memory full",
    meaning:
      "The person has 10,000 facts over all projects, or 1,000 in one of them, or facts in 1,000 projects and worktrees, or 50,000 labels with those that have only earlier values, which is all that there can be. Forget some first.",
  },
  labels_full: {
    status: 409,
    title: "No more labels",
    meaning:
      "The account has 216 labels of its own, or 256 KiB of names, descriptions, examples and `one_of`, which is all that there can be; `detail` says which.",
  },
  project_has_facts: {
    status: 409,
    title: "Project has facts",
    meaning:
      "What is shared in the project would have no owner. Name the member who gets it (`give_to`), or erase it for all: `DELETE /projects/{project}`.",
  },
  projects_full: {
    status: 409,
    title: "No more shared projects",
    meaning:
      "The account shares 1,000 projects, which is all that there can be. End the sharing of one first.",
  },
  revision_mismatch: {
    status: 412,
    title: "Revision mismatch",
    meaning:
      "The fact is not the one that `If-Match`, `If-None-Match` or `if_revision` names; `present` is the fact that is there, or null. Nothing was written.",
  },
  body_too_large: {
    status: 413,
    title: "Body too large",
    meaning: "A body may have at most 64 KiB; 512 KiB on /encode/batch, 1 MiB on /read, 1 MiB on /demo/read.",
  },
  unsupported_media_type: {
    status: 415,
    title: "Unsupported media type",
    meaning: "A body must be sent with `Content-Type: application/json`.",
  },
  idempotency_mismatch: {
    status: 422,
    title: "Idempotency key reused",
    meaning: "This Idempotency-Key was used for another request within the last 24 hours.",
  },
  block_unreadable: {
    status: 422,
    title: "Block unreadable",
    meaning: "The text holds no block that can be read reliably for this account and user_id.",
  },
  monthly_limit_exceeded: {
    status: 429,
    title: "Monthly limit exceeded",
    meaning:
      'The key\'s tier allows no more encodes this month. `upgrade_url` and the Link header (rel="upgrade") say how to get more; `Retry-After` is the time until the end of the month.',
  },
  rate_limited: {
    status: 429,
    title: "Too many requests",
    meaning: "Too many requests in a short time. Try again after `Retry-After`.",
  },
  headers_too_large: {
    status: 431,
    title: "Request headers too large",
    meaning: "The request line and the headers may have at most 16 KiB together.",
  },
  internal_error: {
    status: 500,
    title: "Internal error",
    meaning: "An error in the service. Tell the operator the `request_id`.",
  },
  store_corrupt: {
    status: 500,
    title: "Store corrupt",
    meaning:
      "A stored record is damaged and cannot be trusted. The operator finds it with `sideband verify`, and in the log by the `request_id`.",
  },
  overloaded: {
    status: 503,
    title: "Overloaded",
    meaning:
      "Too much work is waiting, or too many bodies or unread answers are in memory. Nothing was stored; try again after `Retry-After`.",
  },
  store_unavailable: {
    status: 503,
    title: "Store unavailable",
    meaning: "The store cannot be written to now. Nothing was stored; try again after `Retry-After`.",
  },
  outcome_unknown: {
    status: 503,
    title: "Outcome unknown",
    meaning:
      "The store did not confirm the write, so it may be stored or not. Send the same request again with the same `Idempotency-Key`.",
  },
});

export type FailureCode = keyof typeof ERRORS;
