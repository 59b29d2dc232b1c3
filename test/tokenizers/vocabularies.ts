/**
 * The vocabularies that can be installed from npm, each behind the same two functions. They are loaded one
 * after another and let go again: a vocabulary is up to 34 MB of JSON, and all of them at once would not fit
 * into a small machine. The data is therefore read as files; a module once imported could never be let go.
 */

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { TokenizerLoader } from "@lenml/tokenizers";

export interface Vocabulary {
  readonly name: string;
  /** The tokens of a text, without the marks for its beginning and end that a model may want. */
  encode(text: string): number[];
  /** The text of one token. */
  decode(token: number): string;
}

const LENML_NAMES = [
  "llama3",
  "qwen2_5",
  "qwen3",
  "gemma2",
  "gemma3",
  "deepseek_v3",
  "mistral_nemo",
  "command_r_plus",
  "aya_expanse",
] as const;

export const VOCABULARY_LOADERS: ReadonlyMap<string, () => Promise<Vocabulary>> = new Map([
  ["o200k_base", loadO200k],
  ["cl100k_base", loadCl100k],
  ["llama3-tokenizer-js", loadLlama3],
  ...LENML_NAMES.map((name) => [name, () => loadLenml(name)] as const),
]);

async function loadO200k(): Promise<Vocabulary> {
  const { encode, decode } = await import("gpt-tokenizer/encoding/o200k_base");
  return { name: "o200k_base", encode, decode: (token) => decode([token]) };
}

async function loadCl100k(): Promise<Vocabulary> {
  const { encode, decode } = await import("gpt-tokenizer/encoding/cl100k_base");
  return { name: "cl100k_base", encode, decode: (token) => decode([token]) };
}

async function loadLlama3(): Promise<Vocabulary> {
  const { default: tokenizer } = await import("llama3-tokenizer-js");
  return {
    name: "llama3-tokenizer-js",
    encode: (text) => tokenizer.encode(text, { bos: false, eos: false }),
    decode: (token) => tokenizer.decode([token]),
  };
}

async function loadLenml(name: string): Promise<Vocabulary> {
  const require = createRequire(import.meta.url);
  const read = (file: string) =>
    JSON.parse(readFileSync(require.resolve(`@lenml/tokenizer-${name}/models/${file}.json`), "utf8"));
  const tokenizer = TokenizerLoader.fromPreTrained({
    tokenizerJSON: read("tokenizer"),
    tokenizerConfig: read("tokenizer_config"),
  });
  return {
    name,
    encode: (text) => tokenizer.encode(text, { add_special_tokens: false }),
    decode: (token) => tokenizer.decode([token], { clean_up_tokenization_spaces: false }),
  };
}
