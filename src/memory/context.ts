/** context: the facts of a user as one block, as many as fit, with all of them in plain text beside it. */

import { andThen, type MaybePromise } from "../base/maybe-promise.ts";
import type { Requester } from "../base/requester.ts";
import type { UserBlock } from "./blocks.ts";
import { checkIdentifier } from "./identifiers.ts";
import type { MemoryServices } from "./services.ts";

/** The same object as long as the user's facts stay as they are; of a user without facts it is empty. */
export type UserContext = Pick<UserBlock, "userId" | "text" | "facts">;

export function readContext(
  services: MemoryServices,
  requester: Requester,
  userId: string,
): MaybePromise<UserContext> {
  checkIdentifier(userId, "user_id");
  return andThen(services.blocks.of(requester, userId), (block) => block ?? { userId, text: "", facts: [] });
}
