/**
 * The rules for texts that come from outside: user_id, session_id, values, account names, idempotency keys, requests
 * for keys.
 * Nothing is trimmed or normalised: a text is taken exactly as it is, or refused with the rule it breaks.
 */

import { utf8 } from "../base/bytes.ts";
import { Failure } from "../base/errors.ts";
import {
  IDEMPOTENCY_KEY_LENGTH_MAX,
  USER_ID_LENGTH_MAX,
  VALUE_BYTES_MAX,
  WRITER_LENGTH_MAX,
} from "../base/limits.ts";

// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it looks for.
const CONTROL = /[\u0000-\u001f\u007f-\u009f\u2028\u2029]/;
/** Characters that change the direction of text: with them one text can look like another. */
const BIDIRECTIONAL = /[\u202a-\u202e\u2066-\u2069]/;
const NOTE_LENGTH_MAX = 512;
const EMAIL = /^[^\s@]+@[^\s@.]+(\.[^\s@.]+)+$/;
const ACCOUNT_LENGTH_MAX = 64;
const ACCOUNT = new RegExp(`^[a-z0-9][a-z0-9._-]{0,${ACCOUNT_LENGTH_MAX - 1}}$`);
const IDEMPOTENCY_KEY = new RegExp(`^[\\x21-\\x7e]{1,${IDEMPOTENCY_KEY_LENGTH_MAX}}$`);

/** user_id and session_id: 1 to 128 characters (code points), no control characters. */
export function checkIdentifier(text: string, param: "user_id" | "session_id" | "user"): void {
  refuse(param, identifierFault(text));
}

export function isIdentifier(text: string): boolean {
  return identifierFault(text) === undefined;
}

export function checkValue(
  value: string,
  bytesMax = VALUE_BYTES_MAX,
  param: "value" | "item" = "value",
): void {
  const fault = valueFault(value, bytesMax);
  if (fault !== undefined) throw new Failure("invalid_value", `The ${param} ${fault}.`, { param });
}

/** Who wrote a fact: 1 to 64 characters, by the rules of values. */
export function checkWriter(name: string): void {
  const fault = valueFault(name, Number.POSITIVE_INFINITY);
  refuse("written_by", fault ?? lengthFault([...name].length, WRITER_LENGTH_MAX));
}

/** Who writes, and in which session. */
export function checkAuthor({
  writtenBy,
  sessionId,
}: {
  readonly writtenBy?: string | undefined;
  readonly sessionId?: string | undefined;
}): void {
  if (sessionId !== undefined) checkIdentifier(sessionId, "session_id");
  if (writtenBy !== undefined) checkWriter(writtenBy);
}

export function checkIdempotencyKey(key: string): void {
  if (IDEMPOTENCY_KEY.test(key)) return;
  refuse("Idempotency-Key", `must be 1 to ${IDEMPOTENCY_KEY_LENGTH_MAX} visible ASCII characters`);
}

/** Account names are the operator's: lower-case letters, digits, dot, underscore, hyphen. */
export function checkAccount(account: string): void {
  if (!ACCOUNT.test(account)) throw nameFailure("An account", "account");
}

/** Names of operators have the form of those of accounts. */
export function checkOperator(name: string): void {
  if (!ACCOUNT.test(name)) throw nameFailure("An operator's name", "name");
}

function nameFailure(what: string, param: string): Failure {
  const form = "is 1 to 64 of a-z, 0-9, dot, underscore and hyphen, beginning with a letter or digit";
  return new Failure("invalid_request", `${what} ${form}.`, { param });
}

/** An operator's note on a key: the name and address of an approved request fit in. It may be empty. */
export function checkNote(note: string): void {
  if (note !== "") refuse("note", readableFault(note) ?? lengthFault(note.length, NOTE_LENGTH_MAX));
}

interface RequestTexts {
  readonly name: string;
  readonly email: string;
  readonly purpose: string;
}

/** Name, e-mail address and purpose of a request for a key: the operator reads and trusts them. */
export function checkRequestTexts(texts: RequestTexts): void {
  const found = requestTextsFault(texts);
  if (found !== undefined) refuse(found.param, found.fault);
}

/** The first text that breaks a rule, and the rule. */
export function requestTextsFault(texts: RequestTexts): { param: string; fault: string } | undefined {
  for (const param of ["name", "email", "purpose"] as const) {
    const text = texts[param];
    const isAddress = param !== "email" || EMAIL.test(text);
    const fault = readableFault(text) ?? (isAddress ? undefined : "must have an @ and a dot behind it");
    if (fault !== undefined) return { param, fault };
  }
  return undefined;
}

export function identifierFault(text: string): string | undefined {
  if (text.length === 0) return "must not be empty";
  if (!text.isWellFormed()) return "must be well-formed Unicode, without lone surrogates";
  if (CONTROL.test(text)) return "must not contain control characters";
  return text.length > USER_ID_LENGTH_MAX ? lengthFault([...text].length, USER_ID_LENGTH_MAX) : undefined;
}

export function valueFault(value: string, bytesMax: number): string | undefined {
  if (value.length === 0) return "must have at least 1 byte";
  if (!value.isWellFormed()) return "must be well-formed Unicode, without lone surrogates";
  if (CONTROL.test(value)) {
    return "must not contain control characters (U+0000 to U+001F, U+007F to U+009F, U+2028, U+2029)";
  }
  // A UTF-16 unit is at most three bytes: most values need no counting.
  if (value.length * 3 > bytesMax && utf8(value).length > bytesMax) {
    return `must have at most ${bytesMax} bytes of UTF-8`;
  }
  return undefined;
}

/** Of a text that an operator reads. */
function readableFault(text: string): string | undefined {
  const fault = valueFault(text, Number.POSITIVE_INFINITY);
  return fault ?? (BIDIRECTIONAL.test(text) ? "must not contain bidirectional overrides" : undefined);
}

function lengthFault(length: number, most: number): string | undefined {
  return length > most ? `must have at most ${most} characters` : undefined;
}

function refuse(param: string, fault: string | undefined): void {
  if (fault !== undefined) throw new Failure("invalid_request", `${param} ${fault}.`, { param });
}

/**
 * The names of the account that an approval makes where the operator names none: made of the requester's address, the part
 * before the @ after the host, with letters that an account may have. First the name itself, then with -2, -3 …, without
 * those that are `taken`. It never ends.
 */
export function* unusedAccounts(email: string, taken: ReadonlySet<string>): Generator<string, never> {
  const name = accountFrom(email);
  for (let i = 1; ; i++) {
    const ending = i === 1 ? "" : `-${i}`;
    const candidate = name.slice(0, ACCOUNT_LENGTH_MAX - ending.length) + ending;
    if (!taken.has(candidate)) yield candidate;
  }
}

export function accountFrom(email: string): string {
  const [user, host = ""] = email.toLowerCase().split("@");
  const company = host.split(".").slice(0, -1).join("-");
  const name = `${company}-${user}`.replace(/[^a-z0-9._-]+/g, "-").replace(/^[^a-z0-9]+/, "");
  return name.slice(0, ACCOUNT_LENGTH_MAX) || "account";
}
