/** Lines out of chunks of bytes. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { linesOf } from "../../../src/base/lines.ts";

async function read(...chunks: Uint8Array[]): Promise<string[]> {
  const lines: string[] = [];
  const stream = async function* () {
    yield* chunks;
  };
  for await (const line of linesOf(stream())) lines.push(line);
  return lines;
}

test("lines are the same wherever the chunks are cut, within a letter too", async () => {
  const bytes = Buffer.from("é\r\n\n😀 last");
  for (let cut = 0; cut <= bytes.length; cut++)
    assert.deepEqual(await read(bytes.subarray(0, cut), bytes.subarray(cut)), ["é", "", "😀 last"]);
});

test("a line of more than 4 Mi characters is refused with its number", async () => {
  const longest = Buffer.alloc(2 ** 20, "x");
  assert.deepEqual(
    (await read(Buffer.from("\n"), longest)).map((line) => line.length),
    [0, longest.length],
  );
  await assert.rejects(read(Buffer.from("\n"), longest, Buffer.from("x")), {
    name: "Failure",
    code: "invalid_request",
    message: "line 2: A line has at most 1048576 characters.",
  });
});
