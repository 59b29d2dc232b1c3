/** decode through the model says verified only where the reader found the same value in the block. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { decodeThroughModel } from "../../../src/memory/decode.ts";
import { asker, memoryServices } from "./memory-services.ts";

const input = { userId: "ada", label: "USER.name" };

test("a value that the reader finds in the block is verified", async (context) => {
  const { services, write } = await memoryServices(context);
  await write("ada", "Ada", "London");
  const { value, verified } = await decodeThroughModel(services, asker, input);
  assert.deepEqual([value, verified], ["Ada", true]);
});

test("a value that the reader finds otherwise, or not at all, is not verified", async (context) => {
  const { services, workers, write } = await memoryServices(context);
  await write("ada", "Ada", "London");
  for (const found of ["Eve", undefined]) {
    workers.distort = (message, result) => (message.kind === "value" ? found : result);
    const { value, verified } = await decodeThroughModel(services, asker, input);
    assert.deepEqual([value, verified], ["Ada", false]);
  }
});
