/**
 * The codec runs in a browser: bundled for one it needs nothing of Node, and in a context that has nothing but the
 * language and the two text classes it builds and reads the golden blocks.
 */

import assert from "node:assert/strict";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { createContext, runInContext } from "node:vm";
import { build } from "esbuild";
import { loadVectors } from "../../fixtures/vectors.ts";

const SOURCE = `
export { buildBlock } from "./block.ts";
export { readBlock } from "./read-block.ts";
export { deriveBlockKey } from "./seal.ts";
export { PLAIN_CODEBOOK } from "./codebook.ts";
`;
/** Minified, before compression: the alphabet alone is about 90 kB. */
const BUNDLE_BYTES_MAX = 200_000;

/** Runs inside the bare context: builds and reads a vector, and answers in text. */
const SCRIPT = `
(() => {
  const { masterKey, keyId, account, userId, facts } = JSON.parse(vector);
  const master = Uint8Array.from(masterKey.match(/../g), (pair) => Number.parseInt(pair, 16));
  const key = sideband.deriveBlockKey(master, keyId, account);
  const codebook = sideband.PLAIN_CODEBOOK;
  const { text } = sideband.buildBlock(facts, { key, userId, codebook });
  const read = sideband.readBlock(text, { keys: () => key, userId, codebooks: [codebook] });
  return JSON.stringify({ text, facts: read.facts });
})()
`;

test("bundled for a browser the codec imports nothing of Node and builds the golden blocks", async () => {
  const bundle = await build({
    stdin: {
      contents: SOURCE,
      resolveDir: fileURLToPath(new URL("../../../src/codec", import.meta.url)),
      loader: "ts",
    },
    bundle: true,
    minify: true,
    write: false,
    metafile: true,
    platform: "browser",
    format: "iife",
    globalName: "sideband",
    logLevel: "silent",
  });
  const inputs = Object.keys(bundle.metafile.inputs);
  assert.deepEqual(
    inputs.filter(
      (path) =>
        path.startsWith("node:") || !/^(<stdin>|src\/(codec|base)\/|node_modules\/@noble\/)/.test(path),
    ),
    [],
  );
  for (const { imports } of Object.values(bundle.metafile.outputs)) assert.deepEqual(imports, []);
  const code = bundle.outputFiles[0].text;
  assert.ok(code.length < BUNDLE_BYTES_MAX, `${code.length} bytes`);
  assert.doesNotMatch(code, /["']node:/);

  const context = createContext({ TextEncoder, TextDecoder });
  runInContext(code, context);
  for (const vector of loadVectors(1).blocks) {
    context.vector = JSON.stringify(vector);
    const { text, facts } = JSON.parse(runInContext(SCRIPT, context));
    assert.equal(text, vector.text, vector.name);
    const values = new Map(vector.facts.map(({ channel, value }) => [channel, value]));
    assert.deepEqual(
      facts,
      vector.carried.map((channel) => ({ channel, value: values.get(channel) })),
    );
  }
});
