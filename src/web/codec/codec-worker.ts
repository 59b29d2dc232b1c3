/** The codec worker: answers a page's questions with the same codec that the server runs. */

import type { BlockKey } from "../../codec/seal.ts";
import { Codebooks } from "./codebooks.ts";
import { damageText } from "./damage.ts";
import { buildBlockView, type InspectOptions, inspect } from "./inspect.ts";
import type { Answers, FromPage, FromWorker, KeyText, Question, Reader } from "./messages.ts";

const codebooks = new Codebooks();

self.addEventListener("message", async ({ data }: MessageEvent<FromPage>) => {
  try {
    post({ id: data.id, answer: await answer(data) });
  } catch (error) {
    post({ id: data.id, error: error instanceof Error ? error.message : String(error) });
  }
});

async function answer(question: Question): Promise<Answers[keyof Answers]> {
  switch (question.ask) {
    case "build":
      return buildBlockView(question.facts, await optionsOf(question.reader));
    case "inspect":
      return inspect(question.text, await optionsOf(question.reader), () => performance.now());
    case "damage":
      return { text: damageText(question.text, question.kind, question.share, question.seed) };
  }
}

async function optionsOf({ userId, keys, versions }: Reader): Promise<InspectOptions> {
  const onProgress = (loadedBytes: number, totalBytes: number) => post({ loadedBytes, totalBytes });
  return { userId, keys: keys.map(keyOf), codebooks: await codebooks.of(versions, onProgress) };
}

function keyOf({ key_id, material }: KeyText): BlockKey {
  return { id: key_id, material: Uint8Array.from(atob(material), (char) => char.charCodeAt(0)) };
}

function post(message: FromWorker): void {
  // The DOM's types know `self` as a window, whose postMessage asks for an origin.
  (self as unknown as { postMessage(message: FromWorker): void }).postMessage(message);
}
