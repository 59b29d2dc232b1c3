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
const BIDIRECTIONAL_FAULT = "must not contain bidirectional overrides";
const NOTE_LENGTH_MAX = 512;
const EMAIL = /^[^\s@]+@[^\s@.]+(\.[^\s@.]+)+$/;
export const ACCOUNT_LENGTH_MAX = 64;
const ACCOUNT = new RegExp(`^[a-z0-9][a-z0-9._-]{0,${ACCOUNT_LENGTH_MAX - 1}}$`);
const IDEMPOTENCY_KEY = new RegExp(`^[\\x21-\\x7e]{1,${IDEMPOTENCY_KEY_LENGTH_MAX}}$`);

/** user_id and session_id: 1 to 128 characters (code points), no control characters. */
export function checkIdentifier(text: string, param: "user_id" | "session_id" | "user"): void {
  const fault = identifierFault(text);
  if (fault !== undefined) throw new Failure("invalid_request", `${param} ${fault}.`, { param });
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
  const fault =
    valueFault(name, Number.POSITIVE_INFINITY) ??
    ([...name].length > WRITER_LENGTH_MAX ? `must have at most ${WRITER_LENGTH_MAX} characters` : undefined);
  if (fault !== undefined)
    throw new Failure("invalid_request", `written_by ${fault}.`, { param: "written_by" });
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
  throw new Failure(
    "invalid_request",
    `Idempotency-Key must be 1 to ${IDEMPOTENCY_KEY_LENGTH_MAX} visible ASCII characters.`,
    {
      param: "Idempotency-Key",
    },
  );
}

/** Account names are the operator's: lower-case letters, digits, dot, underscore, hyphen. */
export function checkAccount(account: string): void {
  if (ACCOUNT.test(account)) return;
  throw new Failure(
    "invalid_request",
    "An account is 1 to 64 of a-z, 0-9, dot, underscore and hyphen, beginning with a letter or digit.",
    { param: "account" },
  );
}

/** Names of operators have the form of those of accounts. */
export function checkOperator(name: string): void {
  if (ACCOUNT.test(name)) return;
  throw new Failure(
    "invalid_request",
    "An operator's name is 1 to 64 of a-z, 0-9, dot, underscore and hyphen, beginning with a letter or digit.",
    { param: "name" },
  );
}

/** An operator's note on a key: the name and address of an approved request fit in. It may be empty. */
export function checkNote(note: string): void {
  const fault =
    note === ""
      ? undefined
      : (valueFault(note, Number.POSITIVE_INFINITY) ??
        (BIDIRECTIONAL.test(note) ? BIDIRECTIONAL_FAULT : undefined) ??
        (note.length > NOTE_LENGTH_MAX ? `must have at most ${NOTE_LENGTH_MAX} characters` : undefined));
  if (fault !== undefined) throw new Failure("invalid_request", `note ${fault}.`, { param: "note" });
}

interface RequestTexts {
  readonly name: string;
  readonly email: string;
  readonly purpose: string;
}

/** Name, e-mail address and purpose of a request for a key: the operator reads and trusts them. */
export function checkRequestTexts(texts: RequestTexts): void {
  const found = requestTextsFault(texts);
  if (found !== undefined)
    throw new Failure("invalid_request", `${found.param} ${found.fault}.`, { param: found.param });
}

/** The first text that breaks a rule, and the rule. */
export function requestTextsFault(texts: RequestTexts): { param: string; fault: string } | undefined {
  for (const param of ["name", "email", "purpose"] as const) {
    const text = texts[param];
    const fault =
      valueFault(text, Number.POSITIVE_INFINITY) ??
      (BIDIRECTIONAL.test(text) ? BIDIRECTIONAL_FAULT : undefined) ??
      (param === "email" && !EMAIL.test(text) ? "must have an @ and a dot behind it" : undefined);
    if (fault !== undefined) return { param, fault };
  }
  return undefined;
}

export function identifierFault(text: string): string | undefined {
  if (text.length === 0) return "must not be empty";
  if (!text.isWellFormed()) return "must be well-formed Unicode, without lone surrogates";
  if (CONTROL.test(text)) return "must not contain control characters";
  if (text.length > USER_ID_LENGTH_MAX && [...text].length > USER_ID_LENGTH_MAX) {
    return `must have at most ${USER_ID_LENGTH_MAX} characters`;
  }
  return undefined;
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
