/** A stream of bytes as lines of text, however they were cut into chunks. A last line needs no line break. */

const LINE_LENGTH_MAX = 4 * 2 ** 20;

export async function* linesOf(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const chunk of chunks) {
    const parts = (rest + decoder.decode(chunk, { stream: true })).split("\n");
    rest = parts.pop()!;
    if (rest.length > LINE_LENGTH_MAX) throw new RangeError("a line is too long");
    yield* parts.map((line) => line.replace(/\r$/, ""));
  }
  rest += decoder.decode();
  if (rest !== "") yield rest;
}
