/** The tasks of a thread as plain functions: interrupted, and checked before the thread says that it is ready. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { checkSelf, Interrupted, interruptible, runBlockTask } from "../../../src/blockwork/block-tasks.ts";
import { type Codebook, PLAIN_CODEBOOK } from "../../../src/codec/codebook.ts";

const code = (codebook: Codebook, value: string) =>
  runBlockTask([codebook], { kind: "code", channel: 3, value });

test("an interruptible codebook writes the same code as the codebook itself", () => {
  assert.deepEqual(
    code(
      interruptible(PLAIN_CODEBOOK, () => false),
      "RTX 5090",
    ),
    code(PLAIN_CODEBOOK, "RTX 5090"),
  );
});

test("a value is given up in the middle once the task is told to stop", () => {
  let steps = 0;
  const stopping = interruptible(PLAIN_CODEBOOK, () => ++steps > 5);
  assert.throws(() => code(stopping, "a value of many symbols"), Interrupted);
  assert.equal(steps, 6);
});

test("a thread whose codebook reads something else than was written is not ready", () => {
  checkSelf([PLAIN_CODEBOOK]);
  const faulty = {
    ...PLAIN_CODEBOOK,
    predictors: PLAIN_CODEBOOK.predictors.map((predictor) => ({
      ...interruptible({ version: 1, predictors: [predictor] }, () => false).predictors[0],
      bytesOf: () => new Uint8Array([0x78]),
    })),
  };
  assert.throws(() => checkSelf([faulty]), /reads what it has written/);
});
