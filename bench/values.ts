/**
 * The most expensive values: values of all kinds and lengths (codec/value-kinds.ts) are written and read back in the
 * format of new blocks. Codes of random bits, which nobody wrote, are read too. The worst are printed with what it
 * takes to make them again.
 *
 * Times are processor time. The slowest values are timed again at the end, in several rounds, and the shortest time of
 * each counts, because other load on the machine only adds. Beside them stand the ratios to a reference in the same
 * run, a product of a million multiply-adds in plain TypeScript.
 */

import { readFileSync } from "node:fs";
import { VALUE_BYTES_MAX } from "../src/base/limits.ts";
import { seededRandom } from "../src/base/random.ts";
import { CODED_BYTES_MAX, type Codebook, decodeValue, encodeValue } from "../src/codec/codebook.ts";
import type { Bits } from "../src/codec/range-coder.ts";
import { readerCodebook } from "../src/reader/codebook.ts";
import { READER_WEIGHTS } from "../src/reader/weights-path.ts";
import { makeValue, VALUE_KINDS, type ValueName } from "./codec/value-kinds.ts";
import type { BenchOptions } from "./options.ts";
import { referenceMs } from "./reader.ts";

const VALUES = 10_000;
const VALUES_SMALL = 20;
const WRITE_MS_BAR = 120;
const READ_MS_BAR = 180;
/** Ten thousand values take most of an hour: the worst so far is printed on the way. */
const PROGRESS_EVERY = 250;
/** A code of random bits is read once in this many values. */
const STRANGE_EVERY = 10;
/** More than fits into a block. */
const STRANGE_BYTES_MAX = 760;

/** This many of the slowest are timed again, this often. */
const SLOWEST = 40;
const ROUNDS = 5;

interface Timed extends ValueName {
  readonly ms: number;
  readonly work: () => void;
}

export async function benchValues(options: BenchOptions): Promise<boolean> {
  const codebook = readerCodebook(readFileSync(READER_WEIGHTS));
  const count = options.trials ?? (options.small ? VALUES_SMALL : VALUES);
  const random = seededRandom(options.seed);
  let [writes, reads]: [Timed[], Timed[]] = [[], []];
  for (let i = -VALUE_KINDS.length; i < count; i++) {
    if (i === 0) [writes, reads] = [[], []]; // warmed up
    const name: ValueName = {
      kind: VALUE_KINDS[(i + VALUE_KINDS.length) % VALUE_KINDS.length],
      // One in forty has the full length. Of the others, 1 to 2 bytes are as frequent as 512 to 1,024.
      bytes: random.below(40) === 0 ? VALUE_BYTES_MAX : Math.floor(VALUE_BYTES_MAX ** random.unit()),
      seed: random.below(2 ** 31),
    };
    const channel = name.seed % 40;
    const value = makeValue(name);
    let code: Bits = { length: 0, bytes: new Uint8Array() };
    const write = timed(name, () => {
      code = encodeValue(codebook, channel, value);
    });
    const read = timed(name, () => {
      const back = decodeValue(codebook, channel, code);
      mustBe(back !== undefined && Buffer.compare(back, value) === 0, name);
    });
    keepSlowest(writes, write);
    keepSlowest(reads, read);
    if (i % STRANGE_EVERY === 0) keepSlowest(reads, timedStrange(codebook, channel, name.seed));
    if (!options.json && i > 0 && i % PROGRESS_EVERY === 0)
      console.error(
        `${i} values; so far write ${writes[0].ms.toFixed(1)} ms, read ${reads[0].ms.toFixed(1)} ms`,
      );
  }
  const [write, read] = [slowestOf(writes), slowestOf(reads)];
  const reference = Math.min(...Array.from({ length: 5 }, referenceMs));
  if (options.json) console.log(JSON.stringify({ values: { count, write, read, reference_ms: reference } }));
  else {
    console.log(
      `\nThe most expensive of ${count} values, processor time on one thread, seed ${options.seed}`,
    );
    for (const [what, worst, bar] of [
      ["write", write, WRITE_MS_BAR],
      ["read", read, READ_MS_BAR],
    ] as const)
      console.log(
        `${what.padEnd(6)}${worst.ms.toFixed(1).padStart(7)} ms, bar ${bar} ms; ${(worst.ms / reference).toFixed(1)} × reference; ` +
          `${worst.kind}, ${worst.bytes} bytes, seed ${worst.seed}`,
      );
  }
  return options.small || (write.ms <= WRITE_MS_BAR && read.ms <= READ_MS_BAR);
}

/** Random bits decode to a value or to none, at the same bounded cost. */
function timedStrange(codebook: Codebook, channel: number, seed: number): Timed {
  const random = seededRandom(seed);
  const bytes = random.bytes(random.pick([1, 8, 100, STRANGE_BYTES_MAX]));
  const bits: Bits = { length: 8 * bytes.length, bytes };
  const name = { kind: "bits that nobody wrote", bytes: bytes.length, seed };
  return timed(name, () => {
    const value = decodeValue(codebook, channel, bits);
    mustBe(value === undefined || value.length <= CODED_BYTES_MAX, name);
  });
}

function timed(name: ValueName, work: () => void): Timed {
  return { ...name, work, ms: cpuMs(work) };
}

/** Keeps the list in order, the slowest first. */
function keepSlowest(slowest: Timed[], value: Timed): void {
  if (slowest.length === SLOWEST && value.ms <= slowest[SLOWEST - 1].ms) return;
  slowest.splice(slowest.findLastIndex(({ ms }) => ms >= value.ms) + 1, 0, value);
  slowest.length = Math.min(slowest.length, SLOWEST);
}

function slowestOf(candidates: readonly Timed[]): Timed {
  let best = candidates;
  for (let round = 0; round < ROUNDS; round++)
    best = best.map((value) => ({ ...value, ms: Math.min(value.ms, cpuMs(value.work)) }));
  return best.reduce((slowest, value) => (value.ms > slowest.ms ? value : slowest));
}

function cpuMs(work: () => void): number {
  const started = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(started);
  return (user + system) / 1000;
}

function mustBe(right: boolean, { kind, bytes, seed }: ValueName): void {
  if (!right) throw new Error(`not read back exactly: ${kind}, ${bytes} bytes, seed ${seed}`);
}
