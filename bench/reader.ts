/**
 * The reader model's benchmark: how long writing and reading a value of 55 characters takes, beside the
 * multiply-adds it took and the memory that the model holds.
 *
 * Every value is read back from its code and compared. Times are medians of single values on one thread; beside
 * them stand the mean processor time, for a machine that is busy, and the ratio to a reference in the same run, a
 * product of a million multiply-adds in plain TypeScript.
 */

import { readFileSync } from "node:fs";
import { utf8 } from "../src/base/bytes.ts";
import { decodeValue, encodeValue } from "../src/codec/codebook.ts";
import { readerCodebook } from "../src/reader/codebook.ts";
import { forwardBytes } from "../src/reader/forward.ts";
import { ReaderPredictor } from "../src/reader/predictor.ts";
import { parseWeights } from "../src/reader/weights.ts";
import { READER_WEIGHTS } from "../src/reader/weights-path.ts";
import { median } from "./median.ts";
import type { BenchOptions } from "./options.ts";
import { PlainOperations } from "./plain-operations.ts";

/** Values of 55 characters each, of the three kinds that are measured. */
const VALUES = [
  "Maria is planning a weekend trip to the coast with Anna",
  "I prefer small hotels with breakfast over large resorts",
  "fix(parser): keep the last field when a line is cut off",
  "Use early returns and keep functions under fifty lines.",
  "Waiting for the security review of the token rotation..",
  "Validation: check all user input with a schema on entry",
  "Kenji started learning the guitar after his trip abroad",
  "Postgres 18, Fastify 5, TypeScript strict, Node 20, ESM",
] as const;
const CHARACTERS = 55;
const READ_MS_BAR = 80;
const WRITE_MS_BAR = 40;
const MEMORY_BYTES_BAR = 64 * 2 ** 20;

export async function benchReader(options: BenchOptions): Promise<boolean> {
  const file = readFileSync(READER_WEIGHTS);
  const reader = new ReaderPredictor(file);
  const codebook = readerCodebook(file);
  const rounds = options.small ? 2 : 12;
  const writeMs: number[] = [];
  const readMs: number[] = [];
  const cpuMs = { write: 0, read: 0 };
  let symbols = 0;
  let bits = 0;
  for (let round = 0; round <= rounds; round++) {
    for (const [channel, text] of VALUES.entries()) {
      if (text.length !== CHARACTERS) throw new Error(`not ${CHARACTERS} characters: ${text}`);
      const value = utf8(text);
      const cpuStarted = process.cpuUsage();
      const started = performance.now();
      const code = encodeValue(codebook, channel, value);
      const written = performance.now();
      const cpuWritten = process.cpuUsage();
      const back = decodeValue(codebook, channel, code);
      const read = performance.now();
      const cpuRead = process.cpuUsage();
      if (back === undefined || Buffer.compare(back, value) !== 0)
        throw new Error(`read back wrong: ${text}`);
      if (round === 0) continue; // warms up
      writeMs.push(written - started);
      readMs.push(read - written);
      cpuMs.write += (cpuWritten.user - cpuStarted.user) / 1000;
      cpuMs.read += (cpuRead.user - cpuWritten.user) / 1000;
      if (round === 1) {
        symbols += reader.split(value).length + 1;
        bits += code.length;
      }
    }
  }
  const memoryBytes = forwardBytes(parseWeights(file).shape) + file.length;
  const result = {
    characters: CHARACTERS,
    symbols: symbols / VALUES.length,
    bits_per_character: bits / VALUES.length / CHARACTERS,
    multiply_adds_per_value: Math.round((symbols / VALUES.length) * reader.multiplyAdds),
    write_ms: median(writeMs),
    read_ms: median(readMs),
    write_cpu_ms: cpuMs.write / writeMs.length,
    read_cpu_ms: cpuMs.read / readMs.length,
    reference_ms: median(Array.from({ length: rounds }, referenceMs)),
    memory_bytes: memoryBytes,
  };
  if (options.json) console.log(JSON.stringify({ reader: result }));
  else print(result);
  const inTime = result.read_ms <= READ_MS_BAR && result.write_ms <= WRITE_MS_BAR;
  return memoryBytes <= MEMORY_BYTES_BAR && (options.small || inTime);
}

function print(result: Record<string, number>): void {
  const million = (result.multiply_adds_per_value / 1e6).toFixed(0);
  const line = (what: string, ms: number, cpuMs: number, bar: number) =>
    console.log(
      `${what.padEnd(28)}${ms.toFixed(1).padStart(7)} ms, bar ${bar} ms; processor ${cpuMs.toFixed(1)} ms, ` +
        `${(result.multiply_adds_per_value / cpuMs / 1e6).toFixed(1)} G multiply-adds a second; ` +
        `${(ms / result.reference_ms).toFixed(2)} × reference`,
    );
  console.log(`\nThe reader model, values of ${result.characters} characters, one thread`);
  console.log(
    `${result.symbols.toFixed(1)} symbols, ${million} M multiply-adds, ${result.bits_per_character.toFixed(2)} bits a character`,
  );
  line("write, positions together", result.write_ms, result.write_cpu_ms, WRITE_MS_BAR);
  line("read, one after the other", result.read_ms, result.read_cpu_ms, READ_MS_BAR);
  console.log(
    `${"reference product, plain".padEnd(28)}${result.reference_ms.toFixed(1).padStart(7)} ms  (1 M multiply-adds)`,
  );
  console.log(
    `memory for model, kernel and state: ${(result.memory_bytes / 2 ** 20).toFixed(1)} MiB, bar 64 MiB`,
  );
}

/** A product of 1,024 × 1,024 in plain TypeScript: how fast this machine is right now. */
export function referenceMs(): number {
  const size = 1024;
  const plain = new PlainOperations();
  const weights = plain.bytes(size * size).fill(3);
  const scales = plain.doubles(size).fill(1);
  const u = plain.doubles(size).fill(0.5);
  const started = performance.now();
  plain.product({ rows: size, columns: size, weights, scales }, u, 1, 1, plain.doubles(size));
  return performance.now() - started;
}
