/** context: all facts of a user as one block, with the facts themselves beside it. */

import type { Asker } from "../base/asker.ts";
import type { UserBlock } from "./blocks.ts";
import { checkIdentifier } from "./identifiers.ts";
import type { MemoryServices } from "./services.ts";

/** The same object as long as the user's facts stay as they are; of a user without facts it is empty. */
export type UserContext = Pick<UserBlock, "userId" | "text" | "facts">;

export async function readContext(
  services: MemoryServices,
  asker: Asker,
  userId: string,
): Promise<UserContext> {
  checkIdentifier(userId, "user_id");
  return (await services.blocks.of(asker, userId)) ?? { userId, text: "", facts: [] };
}
