/** The limits that more than one layer knows. A limit that only one module knows stands in that module. */

/** Bytes of UTF-8 in a value. */
export const VALUE_BYTES_MAX = 1024;
/** Bytes of UTF-8 in a value of the public demo. */
export const DEMO_VALUE_BYTES_MAX = 128;
/** Labelled channels of a user: numbered 0 to 39. */
export const CHANNEL_COUNT = 40;
/** Characters in a user_id. */
export const USER_ID_LENGTH_MAX = 128;
export const IDEMPOTENCY_KEY_LENGTH_MAX = 255;
/** Bytes of a body, where an operation does not say otherwise. */
export const BODY_BYTES_MAX = 64 * 1024;
/** Names and values in a body, unknown ones included. */
export const BODY_PARTS_MAX = 10_000;
/** The latest time that a store holds, in milliseconds since 1970; the earliest is 0. */
export const TIME_MS_MAX = 2 ** 48 - 1;
