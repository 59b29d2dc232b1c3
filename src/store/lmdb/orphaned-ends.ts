/**
 * Entries in the list of ends whose facts were lost, or cannot be read: such a fact does not say when it would have ended,
 * so all entries of its user are looked for. Whoever is erased, and whose records belong together, leaves none.
 */

import type { Sliced } from "../../base/slices.ts";
import { factOfEndKey, momentPrefix, rangeBelow } from "./entry-keys.ts";
import type { Writer } from "./writer.ts";

/** Behind the end of every moment. */
const LAST = Buffer.alloc(7, 0xff);

/** @param user whose facts are all gone */
export function* removeEndsOf(writer: Writer, user: Buffer): Sliced<void> {
  const { start } = rangeBelow(user);
  for (const page of writer.keyPages("ends", { start: momentPrefix(0), end: LAST })) {
    for (const key of page) {
      yield;
      if (factOfEndKey(key).subarray(0, start.length).equals(start)) writer.remove("ends", key);
    }
  }
}
