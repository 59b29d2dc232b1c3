/** The limits that more than one layer knows, and how they are written. A limit that only one module knows stands in that module. */

/** Bytes of UTF-8 in a value. */
export const VALUE_BYTES_MAX = 1024;
/** Bytes of UTF-8 in a value of the public demo. */
export const DEMO_VALUE_BYTES_MAX = 128;
/** The standard channels: numbered 0 to 39. */
export const CHANNEL_COUNT = 40;
/** All channels: after the standard ones come those of an account's own labels, 40 to 255. */
export const CHANNEL_COUNT_MAX = 256;
/** The labels of an account's own together: their names, descriptions, examples and the values of their `one_of`. */
export const LABEL_TEXT_BYTES_MAX = 256 * 1024;
/** Characters in a user_id. */
export const USER_ID_LENGTH_MAX = 128;
/** Characters in each part of a project's name. */
export const PROJECT_SEGMENT_LENGTH_MAX = 100;
/** Characters in the name of a writer. */
export const WRITER_LENGTH_MAX = 64;
/** Seconds that a fact may be given. */
export const TTL_S_MAX = 315_360_000;
/** Seconds that a token may be given. */
export const TOKEN_TTL_S_MIN = 60;
export const TOKEN_TTL_S_MAX = 24 * 3600;
export const IDEMPOTENCY_KEY_LENGTH_MAX = 255;
/** Bytes of a body, where an operation does not say otherwise. */
export const BODY_BYTES_MAX = 64 * 1024;
/** Names and values in a body, unknown ones included. */
export const BODY_PARTS_MAX = 10_000;
/** The latest time that a store holds, in milliseconds since 1970; the earliest is 0. */
export const TIME_MS_MAX = 2 ** 48 - 1;
/** For so long entries of the audit are kept. */
export const AUDIT_KEPT_MS = 400 * 86_400_000;
/** Facts of a person over all places. */
export const FACTS_MAX = 10_000;
/** Labels of a person over all places, each place for itself, with those that have only earlier values. */
export const KEPT_LABELS_MAX = 50_000;
/** Facts in one place: the person's own, a project or a worktree. */
export const PLACE_FACTS_MAX = 1_000;
/** Projects of an account that are shared, and those who share one, where they are named. */
export const SHARED_PROJECTS_MAX = 1_000;
export const PROJECT_MEMBERS_MAX = 1_000;
/** Projects and worktrees of a person that have facts. */
export const PLACES_MAX = 1_000;
/** Earlier values of a fact that are kept, at most and where nothing is set. */
export const HISTORY_MAX = 32;
export const HISTORY_DEFAULT = 8;
/** Tokens that a context may be limited to. */
export const CONTEXT_TOKENS_MIN = 50;
export const CONTEXT_TOKENS_MAX = 100_000;
/** Characters of what is looked for. */
export const QUERY_LENGTH_MAX = 200;

/**
 * A count with its thousands apart, as in 1,024. The first toLocaleString of a process loads the data of all languages,
 * which every start of a command would wait for.
 */
export function withThousands(count: number): string {
  const digits = String(count);
  return digits.length <= 3 ? digits : `${withThousands(Math.floor(count / 1000))},${digits.slice(-3)}`;
}
