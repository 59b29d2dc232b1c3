/** context: all facts of a user as one block, with the readable index beside it. Answered as ready JSON. */

import type { Asker } from "../base/asker.ts";
import { chain, type Eventual } from "../base/eventual.ts";
import { emptyContext } from "./blocks.ts";
import { checkIdentifier } from "./identifiers.ts";
import type { MemoryParts } from "./parts.ts";

export interface ContextResult {
  readonly json: string;
  readonly etag: string;
}

export function readContext(parts: MemoryParts, asker: Asker, userId: string): Eventual<ContextResult> {
  checkIdentifier(userId, "user_id");
  return chain(parts.blocks.of(asker, userId), (block) => {
    const { contextJson: json, etag } = block ?? emptyContext(userId);
    return { json, etag };
  });
}
