/**
 * The format page is enough to write a reader: one in Python, which follows the page alone, reads golden blocks of every
 * version. The reader model takes most of the time: of the blocks that it codes the short ones are read, which have every
 * part of it; `npm run test:full` reads them all.
 */

import assert from "node:assert/strict";
import { test } from "node:test";
import { findNumpy } from "./numpy.ts";
import { readInPython } from "./python-reader.ts";

/** Versions whose values the reader model codes. */
const WITH_MODEL = [7, 15, 23];
/** One value of 1,022 bytes is among them, which goes on where the model is left. */
const SHORT_CARRIERS = 60;

test("a reader in Python, written from the page alone, reads golden blocks of every version", async (t) => {
  if (!findNumpy()) {
    t.skip("no python3 with numpy on this machine");
    return;
  }
  const { printed, wanted, blocks, values } = await readInPython(
    ({ carriers }, version) => !WITH_MODEL.includes(version) || carriers < SHORT_CARRIERS,
  );
  assert.equal(printed, wanted);
  assert.ok(blocks > 30 && values > 450, "there are values to read");
});
