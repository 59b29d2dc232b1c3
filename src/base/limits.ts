/** The limits that more than one layer knows. A limit that only one module knows stands in that module. */

/** Bytes of UTF-8 in a value. */
export const VALUE_BYTES_MAX = 1024;
/** Labelled channels of a user: numbered 0 to 39. */
export const CHANNEL_COUNT = 40;
/** Characters in a user_id. */
export const USER_ID_LENGTH_MAX = 128;
