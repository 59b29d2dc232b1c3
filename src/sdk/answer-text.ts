/** The text of an answer, up to a limit: the answer of a broken proxy may never end. */

import { SidebandError } from "./errors.ts";

/** No answer of the service is longer. */
const ANSWER_BYTES_MAX = 1 << 24;

export async function answerText(response: Response): Promise<string> {
  const { body, status } = response;
  // A fetch of the caller's own may have nothing to read from.
  if (!body) return response.text();
  const decoder = new TextDecoder();
  let text = "";
  let sizeBytes = 0;
  for await (const chunk of chunksOf(body)) {
    sizeBytes += chunk.length;
    if (sizeBytes > ANSWER_BYTES_MAX) {
      const message = `HTTP ${status} with an answer of more than ${ANSWER_BYTES_MAX} bytes`;
      throw new SidebandError(message, { code: "unexpected_answer", status });
    }
    text += decoder.decode(chunk, { stream: true });
  }
  return text + decoder.decode();
}

/** Some browsers cannot iterate over a stream. Who stops early ends the answer, too. */
function chunksOf(body: ReadableStream<Uint8Array>): AsyncIterable<Uint8Array> {
  if (Symbol.asyncIterator in body) return body;
  return readChunks((body as ReadableStream<Uint8Array>).getReader());
}

async function* readChunks(reader: ReadableStreamDefaultReader<Uint8Array>): AsyncGenerator<Uint8Array> {
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield value;
    }
  } finally {
    await reader.cancel();
  }
}
