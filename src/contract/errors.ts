/** The body of every error answer: problem details (RFC 9457, application/problem+json). */

import { ERRORS, type FailureCode } from "../base/error-codes.ts";
import type { StoredFact } from "./answers.ts";

export interface Problem {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly detail: string;
  readonly code: FailureCode;
  readonly request_id: string;
  readonly param?: string;
  readonly hint?: string;
  readonly upgrade_url?: string;
  /** With `revision_mismatch`: the fact that is there, or null. */
  readonly present?: Pick<
    StoredFact,
    "label" | "value" | "revision" | "updated_at" | "written_by" | "user_id"
  > | null;
  /** Of a list: the items that it has. */
  readonly items?: readonly string[];
}

export function problemOf(
  code: FailureCode,
  detail: string,
  requestId: string,
  extra: {
    param?: string | undefined;
    hint?: string | undefined;
    upgradeUrl?: string | undefined;
    present?: Problem["present"] | undefined;
    items?: readonly string[] | undefined;
  } = {},
): Problem {
  const { status, title } = ERRORS[code];
  return {
    type: `/docs#error-${code}`,
    title,
    status,
    detail,
    code,
    request_id: requestId,
    ...(extra.param === undefined ? {} : { param: extra.param }),
    ...(extra.hint === undefined ? {} : { hint: extra.hint }),
    ...(extra.upgradeUrl === undefined ? {} : { upgrade_url: extra.upgradeUrl }),
    ...(extra.present === undefined ? {} : { present: extra.present }),
    ...(extra.items === undefined ? {} : { items: extra.items }),
  };
}
