/** Answers that do not leave in one piece: what arrives is what was meant, and what is in flight is counted. */

import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { test } from "node:test";
import { sendAnswer } from "../../../src/http/request/answer.ts";
import {
  ANSWER_BYTES_MAX,
  jsonParts,
  LIST_PART,
  PARTS_IN_FLIGHT,
  textParts,
} from "../../../src/http/request/long-answers.ts";

async function all<T>(parts: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const part of parts) found.push(part);
  return found;
}

test("lists of any length are the JSON of the whole, and each part is counted before it leaves", async () => {
  for (const length of [0, 1, LIST_PART, LIST_PART + 1, 3 * LIST_PART]) {
    const items = Array.from({ length }, (_, i) => ({ number: i }));
    const lists = ["left", "right"].map((name) => ({
      name,
      length,
      part: (start: number, end: number) => items.slice(start, end),
    }));
    const held: number[] = [];
    const parts = await all(jsonParts({ user_id: "ada" }, lists, (bytes) => held.push(bytes)));
    assert.deepEqual(JSON.parse(parts.join("")), { user_id: "ada", left: items, right: items });
    assert.equal(held.length, 2 * Math.ceil(length / LIST_PART));
    const longest = Math.max(0, ...parts.map((part) => part.length));
    assert.ok(held.every((bytes) => bytes <= PARTS_IN_FLIGHT * longest));
  }
});

test("a long text arrives as it was, wherever it is cut", async () => {
  for (const shift of [0, 1, 2, 3]) {
    const text = `${"x".repeat(shift)}${"👍é".repeat(300_000)}`;
    const parts = await all(textParts(text));
    assert.ok(parts.length > 3);
    assert.equal(Buffer.concat(parts).toString(), text);
  }
});

test("an answer above 4 MiB waits for its reader, and one below is written at once", async (context) => {
  const text = "é".repeat(8 * 2 ** 20);
  const unsent: number[] = [];
  const server = createServer((request, response) => {
    const body = request.url === "/long" ? text : text.slice(0, ANSWER_BYTES_MAX / 2);
    sendAnswer(response, { status: 200, headers: [], body });
    setImmediate(() => unsent.push(response.writableLength));
  });
  context.after(() => server.close());
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  for (const [path, bytes] of [
    ["/long", 2 * text.length],
    ["/short", ANSWER_BYTES_MAX],
  ] as const) {
    const answer = await fetch(`http://127.0.0.1:${port}${path}`, { headers: { connection: "close" } });
    assert.equal(answer.headers.get("content-length"), `${bytes}`);
    assert.ok(text.startsWith(await answer.text()));
  }
  assert.ok(unsent[0]! <= 2 ** 20, `${unsent[0]} bytes wait for the reader`);
});
