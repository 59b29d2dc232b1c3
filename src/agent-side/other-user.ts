/** A key that is bound to another user than the one that is set, or than the one who runs the program if none is. */

import { errorCodeOf } from "./written-line.ts";

export function isForAnotherUser(error: unknown): boolean {
  return errorCodeOf(error) === "user_not_allowed" && (error as { param?: unknown }).param === "user_id";
}

/** For whoever starts `sideband`, whose settings and options say the user. */
export function otherUserText(userId: string): string {
  return `this key is for another user than ${JSON.stringify(userId)}: name its user with --user or SIDEBAND_USER_ID`;
}
