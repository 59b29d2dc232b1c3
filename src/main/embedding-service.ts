/**
 * The client of an embedding service: POST {URL}/embeddings with {model, input}, as OpenAI, Ollama, llama.cpp and vLLM
 * have it. What it answers is checked, since it comes from outside.
 */

import type { Embeddings } from "../memory/meaning.ts";

const DIMENSIONS_MAX = 4_096;
const ANSWER_BYTES_MAX = 32 * 2 ** 20;

interface EmbeddingOptions {
  readonly url: string;
  readonly model: string;
  readonly key: string | undefined;
}

export function embeddingService({ url, model, key }: EmbeddingOptions): Embeddings {
  return {
    model,
    async embed(texts, limitMs) {
      const answer = await fetch(`${url}/embeddings`, {
        method: "POST",
        headers: {
          "content-type": "application/json",
          ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
        },
        body: JSON.stringify({ model, input: texts, encoding_format: "float" }),
        redirect: "error",
        signal: AbortSignal.timeout(limitMs),
      });
      if (!answer.ok) {
        await answer.body?.cancel();
        throw new Error(`the embedding service answered ${answer.status}`);
      }
      return vectorsIn(JSON.parse(await boundedText(answer)), texts.length);
    },
  };
}

async function boundedText({ body }: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body ?? []) {
    bytes += chunk.length;
    if (bytes > ANSWER_BYTES_MAX) throw new Error("the embedding service answered too much");
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}

/** {data: [{index, embedding}, …]}, in any order. */
function vectorsIn(answer: unknown, count: number): number[][] {
  const { data } = (answer ?? {}) as { data?: unknown };
  const vectors: number[][] = [];
  for (const item of Array.isArray(data) ? data : []) {
    const { index, embedding } = (item ?? {}) as { index?: unknown; embedding?: unknown };
    if (isVector(embedding)) vectors[typeof index === "number" ? index : vectors.length] = embedding;
  }
  if (vectors.length !== count || Object.keys(vectors).length !== count)
    throw new Error("the embedding service did not answer a vector for each text");
  return vectors;
}

function isVector(value: unknown): value is number[] {
  return (
    Array.isArray(value) &&
    value.length > 0 &&
    value.length <= DIMENSIONS_MAX &&
    value.every((component) => Number.isFinite(component))
  );
}
