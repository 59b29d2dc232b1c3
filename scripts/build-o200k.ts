/**
 * Builds models/o200k.bin: npm run o200k
 *
 * The tokens of o200k_base (OpenAI, MIT licence) in the order of their ranks, each as a byte with its length and its bytes,
 * compressed with brotli. They come from js-tiktoken, which a development dependency brings along.
 */

import { writeFileSync } from "node:fs";
import { brotliCompressSync, constants } from "node:zlib";
import { assert } from "../src/base/assert.ts";
import { O200K_FILE } from "../src/memory/token-count.ts";
import { o200kTokens } from "../test/fixtures/o200k.ts";

const tokens = o200kTokens();
const parts = tokens.flatMap((token) => {
  assert(token.length > 0 && token.length < 256, "a token's length fits a byte");
  return [Buffer.of(token.length), token];
});
const plain = Buffer.concat(parts);
const bytes = brotliCompressSync(plain, {
  params: { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_SIZE_HINT]: plain.length },
});
writeFileSync(O200K_FILE, bytes);
console.log(`${tokens.length} tokens, ${bytes.length} bytes`);
