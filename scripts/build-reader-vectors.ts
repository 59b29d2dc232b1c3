/** Writes the golden vectors of the reader model, test/vectors/reader-*.json: npm run vectors:reader. */

import { readFileSync, writeFileSync } from "node:fs";
import { ReaderPredictor } from "../src/reader/predictor.ts";
import { READER_WEIGHTS } from "../src/reader/weights-path.ts";
import { vectorText } from "../test/fixtures/vectors.ts";
import { fingerprint, VECTORS_FILE, type Vectors, vectorValues } from "../test/reader/vectors.ts";

const reader = new ReaderPredictor(readFileSync(READER_WEIGHTS));
const vectors: Vectors = {
  model: reader.version,
  vectors: vectorValues().map(({ channel, value }) => ({
    channel,
    value,
    hash: fingerprint(reader, channel, value),
  })),
};
writeFileSync(VECTORS_FILE, vectorText(vectors));
