/** context: all facts of a user as one block, with the readable index beside it. Answered as ready JSON. */

import { EMPTY_CONTEXT } from "./blocks.ts";
import { checkIdentifier } from "./identifiers.ts";
import type { MemoryParts } from "./parts.ts";

export interface ContextResult {
  readonly json: string;
  readonly etag: string;
}

export async function readContext(
  parts: MemoryParts,
  account: string,
  userId: string,
): Promise<ContextResult> {
  checkIdentifier(userId, "user_id");
  const block = await parts.blocks.of(account, userId);
  if (block !== undefined) return { json: block.contextJson, etag: block.etag };
  const empty = EMPTY_CONTEXT(userId);
  return { json: empty.contextJson, etag: empty.etag };
}
