/** The tasks of a thread as plain functions: interrupted, and checked before the thread says that it is ready. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { checkSelf, Interrupted, interruptible, runBlockTask } from "../../../src/blockwork/block-tasks.ts";
import type { FactCode } from "../../../src/blockwork/fact-code.ts";
import { type Codebook, PLAIN_CODEBOOK } from "../../../src/codec/codebook.ts";
import { deriveBlockKey } from "../../../src/codec/seal.ts";

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

test("a block is opened with the key, and a value is read with the codebook, that it was written with", () => {
  const keys = [1, 2, 3].map((id) => deriveBlockKey(new Uint8Array(32).fill(id), id, "acme"));
  const value = "RTX 5090";
  for (const key of keys) {
    const built = runBlockTask([PLAIN_CODEBOOK], {
      kind: "assemble",
      facts: [{ channel: 3, value, order: 1 }],
      key,
      userId: "ada",
    });
    const { text } = built as { text: string };
    const opened = runBlockTask([PLAIN_CODEBOOK], { kind: "open", text, keys, userId: "ada" });
    assert.equal((opened as { ok: boolean }).ok, true, `key ${key.id}`);
  }
  // The newer one reads something else.
  const [plain] = interruptible(PLAIN_CODEBOOK, () => false).predictors;
  const other = { version: 99, predictors: [{ ...plain, bytesOf: () => new Uint8Array([0x78]) }] };
  const { bits } = code(PLAIN_CODEBOOK, value) as FactCode;
  const older = interruptible(PLAIN_CODEBOOK, () => false);
  const read = (wanted: number) =>
    runBlockTask([other, older], { kind: "value", version: wanted, channel: 3, bits });
  assert.deepEqual(read(PLAIN_CODEBOOK.version), { channel: 3, value });
  assert.throws(() => read(7), /a known version/);
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
