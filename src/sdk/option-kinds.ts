/**
 * What each call of the client takes, and of which kind: an option that no call has, or one of another kind, is told at once
 * and not ignored, also where no compiler looks. The types make sure that no option is forgotten here.
 */

import { nearName } from "../contract/unknown-fields.ts";
import type {
  AuditOptions,
  ChangesOptions,
  ContextOptions,
  EncodeOptions,
  EventsOptions,
  FactsOptions,
  FactToEncode,
  FindOptions,
  FlushOptions,
  ForgetOptions,
  ForgetUserOptions,
  HistoryOptions,
  InjectOptions,
  LabelTermsChange,
  OwnLabelTerms,
  PageOptions,
  PersonOptions,
  RemoveOptions,
  RenameOptions,
  RestoreOptions,
  RollbackOptions,
  ShareOptions,
  SidebandOptions,
  TakeOptions,
  TokenOptions,
  UnshareOptions,
  UsersOptions,
  WriterOptions,
} from "./options.ts";
import type { CallOptions } from "./transport.ts";

/** In words, as a message has it. */
const KINDS = {
  "a text": (value: unknown) => typeof value === "string",
  "a number": (value: unknown) => typeof value === "number",
  // JSON would have null for what is none, and null takes a limit away.
  "a whole number from 0 on": isWhole,
  "a whole number from 0 on, or null": (value: unknown) => isWhole(value) || value === null,
  "a whole number from 1 on": isLife,
  "a whole number from 1 on, or null": (value: unknown) => isLife(value) || value === null,
  "true or false": (value: unknown) => typeof value === "boolean",
  "a function": (value: unknown) => typeof value === "function",
  "an AbortSignal": (value: unknown) => typeof value === "object" && value !== null && "aborted" in value,
  "a Date or a text": (value: unknown) => typeof value === "string" || value instanceof Date,
  'true, false or "certain"': (value: unknown) => typeof value === "boolean" || value === "certain",
  "a list of texts": isTexts,
  "a list of texts or null": (value: unknown) => isTexts(value) || value === null,
  "a text or a function": (value: unknown) => typeof value === "string" || typeof value === "function",
  "a client": (value: unknown) => typeof value === "object" && value !== null && "context" in value,
  "an object": (value: unknown) => typeof value === "object" && value !== null,
} as const satisfies Record<string, (value: unknown) => boolean>;

function isWhole(value: unknown): boolean {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

/** The life of a fact or a token has a second at least. */
function isLife(value: unknown): boolean {
  return isWhole(value) && value !== 0;
}

function isTexts(value: unknown): boolean {
  return Array.isArray(value) && value.every((one) => typeof one === "string");
}

type Kind = keyof typeof KINDS;
/** All options of a call. */
export type Kinds<O> = { readonly [Name in keyof Required<O>]: Kind };

const TEXT: Kind = "a text";
const NUMBER: Kind = "a number";
const WHOLE: Kind = "a whole number from 0 on";
const LIFE: Kind = "a whole number from 1 on";
const FLAG: Kind = "true or false";
const MOMENT: Kind = "a Date or a text";
const CALLBACK: Kind = "a function";

const FACT = {
  scope: TEXT,
  ttlS: LIFE,
  expiresAt: MOMENT,
  newLabel: 'true, false or "certain"',
  description: TEXT,
  origin: TEXT,
  pinned: FLAG,
  ifRevision: WHOLE,
} as const;

export const CALL: Kinds<CallOptions> = {
  signal: "an AbortSignal",
  timeoutMs: NUMBER,
  retries: WHOLE,
  failFast: FLAG,
};
export const PERSON: Kinds<PersonOptions> = { ...CALL, project: TEXT };
export const FACTS: Kinds<FactsOptions> = { ...PERSON, groups: TEXT };
export const CONTEXT: Kinds<ContextOptions> = { ...FACTS, include: TEXT, maxTokens: WHOLE };
export const INJECT: Kinds<InjectOptions> = { ...CONTEXT, onOutage: TEXT };
export const FIND: Kinds<FindOptions> = { ...FACTS, limit: WHOLE, everywhere: FLAG };
export const FLUSH: Kinds<FlushOptions> = { ...PERSON, sessionId: TEXT };
export const WRITER: Kinds<WriterOptions> = { ...FLUSH, writtenBy: TEXT, idempotencyKey: TEXT };
export const HISTORY: Kinds<HistoryOptions> = { ...PERSON, scope: TEXT };
export const RESTORE: Kinds<RestoreOptions> = { ...WRITER, ifRevision: WHOLE, scope: TEXT };
export const REMOVE: Kinds<RemoveOptions> = RESTORE;
export const RENAME: Kinds<RenameOptions> = { ...WRITER, ifRevision: WHOLE, merge: TEXT };
export const ENCODE: Kinds<EncodeOptions> = { ...WRITER, ...FACT };
export const BATCH_FACT: Kinds<FactToEncode> = { label: TEXT, value: TEXT, ...FACT };
export const FORGET: Kinds<ForgetOptions> = { ...PERSON, ifRevision: WHOLE, scope: TEXT, keepHistory: FLAG };
export const FORGET_USER: Kinds<ForgetUserOptions> = { ...PERSON, everywhere: FLAG };
const PAGE: Kinds<PageOptions> = { ...CALL, limit: WHOLE, cursor: TEXT };
export const CHANGES: Kinds<ChangesOptions> = { ...PAGE, project: TEXT, since: MOMENT };
export const AUDIT: Kinds<AuditOptions> = {
  ...PAGE,
  user: TEXT,
  operation: TEXT,
  since: MOMENT,
  until: MOMENT,
};
export const USERS: Kinds<UsersOptions> = { ...PAGE, prefix: TEXT };
export const EVENTS: Kinds<EventsOptions> = {
  ...FACTS,
  lastEventId: TEXT,
  onConnected: CALLBACK,
};
export const ROLLBACK: Kinds<RollbackOptions> = {
  ...FLUSH,
  writtenBy: TEXT,
  dryRun: FLAG,
  partial: FLAG,
  scope: TEXT,
  unchangedSince: MOMENT,
};
export const SHARE: Kinds<ShareOptions> = {
  ...CALL,
  members: "a list of texts or null",
  access: TEXT,
  take: "an object",
  dryRun: FLAG,
};
export const TAKE: Kinds<TakeOptions> = { userId: TEXT, labels: "a list of texts" };
export const UNSHARE: Kinds<UnshareOptions> = { ...CALL, giveTo: TEXT };
export const ACCOUNT_WRITER: Kinds<CallOptions & { writtenBy?: string | undefined }> = {
  ...CALL,
  writtenBy: TEXT,
};
export const TERMS: Kinds<LabelTermsChange> = {
  description: TEXT,
  example: TEXT,
  oneOf: "a list of texts or null",
  maxBytes: "a whole number from 0 on, or null",
  ttlS: "a whole number from 1 on, or null",
  hidden: FLAG,
  writers: TEXT,
};
export const OWN_TERMS: Kinds<OwnLabelTerms> = { ...TERMS, scope: TEXT };
export const TOKEN: Kinds<TokenOptions> = {
  ...CALL,
  access: TEXT,
  ttlS: LIFE,
  groups: TEXT,
  write: "a list of texts",
};
export const CLIENT_OPTIONS: Kinds<SidebandOptions> = {
  apiKey: TEXT,
  baseUrl: TEXT,
  project: TEXT,
  writtenBy: TEXT,
  include: TEXT,
  contextTokens: NUMBER,
  timeoutMs: NUMBER,
  retries: WHOLE,
  staleIfErrorMs: NUMBER,
  fetch: CALLBACK,
  onWarning: CALLBACK,
};

/** Throws where an option is unknown, or of another kind. What is undefined is as if it were not there. */
export function checkOptions<O extends object>(options: O, kinds: Kinds<O>): void {
  if (typeof options !== "object" || options === null)
    throw new TypeError(`options are an object, not ${String(options)}`);
  for (const [name, value] of Object.entries(options)) {
    if (value === undefined) continue;
    const kind: Kind | undefined = Object.hasOwn(kinds, name) ? kinds[name as keyof O] : undefined;
    if (kind === undefined) throw unknownOption(name, Object.keys(kinds));
    if (!KINDS[kind](value)) throw new TypeError(`${name} is ${kind}, not ${shown(value)}`);
  }
}

function unknownOption(name: string, names: readonly string[]): TypeError {
  const near = nearName(name, names);
  const question = near === undefined ? "" : `: did you mean ${near}?`;
  return new TypeError(`there is no option ${name} here${question}`);
}

/** The kind of what may be a secret or a value, not itself; a number's text is neither. */
function shown(value: unknown): string {
  if (typeof value === "string") return Number.isNaN(Number(value)) ? "a text" : JSON.stringify(value);
  if (value === null || typeof value === "number") return String(value);
  return Array.isArray(value) ? "a list" : `a ${typeof value}`;
}
