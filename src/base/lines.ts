/** Turns a stream of bytes, in chunks of any size, into lines of text. The last line needs no line break. */

import { Failure } from "./errors.ts";

/** Characters. */
const LINE_LENGTH_MAX = 2 ** 20;

export async function* linesOf(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let count = 0;
  let rest = "";
  for await (const chunk of chunks) {
    const parts = (rest + decoder.decode(chunk, { stream: true })).split("\n");
    rest = parts.pop()!;
    yield* parts.map((line) => line.replace(/\r$/, ""));
    count += parts.length;
    if (rest.length > LINE_LENGTH_MAX)
      throw new Failure(
        "invalid_request",
        `line ${count + 1}: A line has at most ${LINE_LENGTH_MAX} characters.`,
      );
  }
  rest += decoder.decode();
  if (rest !== "") yield rest;
}
