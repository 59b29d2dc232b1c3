/**
 * The two great promises of the block, as trials from a seed: what is written comes back byte for byte, and no
 * damage, forgery or confusion is ever read as something that was not written. block.test.ts runs some of
 * them, full.ts as many as there is time for.
 */

import assert from "node:assert/strict";
import { type DamageKind, damageText } from "../../bench/codec/damage.ts";
import { randomFacts, randomFactsWithFree, randomFactsWithOwn } from "../../bench/codec/profiles.ts";
import { type Random, seededRandom } from "../../src/base/random.ts";
import { CLASS_SIZE, findWord } from "../../src/codec/alphabet.ts";
import { type BlockFact, buildBlock } from "../../src/codec/block.ts";
import { CARRIERS_MAX, PREFIX_CARRIERS } from "../../src/codec/block-room.ts";
import { PLAIN_CODEBOOK } from "../../src/codec/codebook.ts";
import { N, P } from "../../src/codec/field.ts";
import { writeFrame } from "../../src/codec/framing.ts";
import type { SlotValue } from "../../src/codec/free-labels.ts";
import { type ReadOptions, readBlock } from "../../src/codec/read-block.ts";
import { type BlockKey, deriveBlockKey } from "../../src/codec/seal.ts";
import { toBlock, toSpectrum } from "../../src/codec/transform.ts";
import { carriedFacts, mustRead, wordsIn } from "../fixtures/blocks.ts";

/** Builds a random profile, reads it and compares: facts, overflow and the reader's report. */
export function exactnessTrial(seed: number): void {
  const random = seededRandom(seed);
  const facts = anyFacts(random);
  const { key, userId } = randomOwner(random);
  const block = buildBlock(facts, { key, userId, codebook: PLAIN_CODEBOOK });
  const options = {
    keys: (id: number) => (id === key.id ? key : undefined),
    userId,
    codebooks: [PLAIN_CODEBOOK],
  };
  const result = mustRead(block.text, options);
  assert.deepEqual(result.facts, carriedFacts(block, facts));
  assert.equal(block.carried.length + block.overflow.length, facts.length);
  assert.equal(result.repaired, 0);
}

/** On standard channels alone, on those of own labels too, or under free labels too. */
function anyFacts(random: Random): BlockFact[] {
  return random.pick([randomFacts, randomFactsWithOwn, randomFactsWithFree])(random);
}

interface Owner {
  readonly key: BlockKey;
  readonly userId: string;
}

function randomOwner(random: Random): Owner {
  const account = `account ${random.below(1000)}`;
  return {
    key: deriveBlockKey(random.bytes(32), random.below(256), account),
    userId: `user ${random.below(1000)}`,
  };
}

interface Written {
  readonly owner: Owner;
  readonly facts: readonly SlotValue[];
  readonly text: string;
  readonly spectrum: Uint16Array;
  readonly carriers: number;
}

function write(facts: readonly BlockFact[], owner: Owner): Written {
  const block = buildBlock(facts, { ...owner, codebook: PLAIN_CODEBOOK });
  const symbols = Uint16Array.from(wordsIn(block.text), (word) => findWord(word) % CLASS_SIZE);
  const { text, carriers } = block;
  return { owner, facts: carriedFacts(block, facts), text, spectrum: toSpectrum(symbols), carriers };
}

/** Two blocks of one owner, and strangers: same account but other user, same user but other account. */
interface Cast {
  readonly first: Written;
  readonly second: Written;
  readonly otherUser: Owner;
  readonly otherAccount: Owner;
}

type Attack = (cast: Cast, random: Random) => { text: string; owner?: Owner };

function framed(spectrum: Uint16Array): { text: string } {
  return { text: writeFrame(toBlock(spectrum)) };
}

/** Attacks that leave 512 words in place: the seal alone decides, in a fraction of a millisecond. */
const FORGERIES: Record<string, Attack> = {
  "read by another user": ({ first, otherUser }) => ({ text: first.text, owner: otherUser }),
  "read by another account": ({ first, otherAccount }) => ({ text: first.text, owner: otherAccount }),
  "one digit changed": ({ first }, random) => {
    const spectrum = first.spectrum.slice();
    const k = random.below(first.carriers);
    spectrum[k] = (spectrum[k] + 1 + random.below(P - 1)) % P;
    return framed(spectrum);
  },
  "several digits changed": ({ first }, random) => {
    const spectrum = first.spectrum.slice();
    for (let i = 0; i < 2 + random.below(20); i++) spectrum[random.below(first.carriers)] = random.below(P);
    return framed(spectrum);
  },
  "key id changed": ({ first }, random) => {
    const spectrum = first.spectrum.slice();
    spectrum[0] = random.below(P);
    return framed(spectrum);
  },
  "directory of another form": ({ first }, random) => {
    const spectrum = first.spectrum.slice();
    spectrum[0] = (spectrum[0] ^ (random.pick([8, 16, 24]) << 8)) % P;
    return framed(spectrum);
  },
  "digits taken off the end": ({ first }, random) => {
    const spectrum = first.spectrum.slice();
    return framed(spectrum.fill(0, PREFIX_CARRIERS + random.below(first.carriers - PREFIX_CARRIERS + 1)));
  },
  "digits added": ({ first }, random) => {
    const spectrum = first.spectrum.slice();
    const at = Math.min(CARRIERS_MAX - 1, first.carriers + random.below(CARRIERS_MAX));
    spectrum[at] = (spectrum[at] + 1 + random.below(P - 1)) % P;
    return framed(spectrum);
  },
  "digits of two blocks spliced": ({ first, second }, random) => {
    const spectrum = first.spectrum.slice();
    const from = random.below(N);
    spectrum.set(second.spectrum.subarray(from), from);
    return framed(spectrum);
  },
  "tag of one block, digits of another": ({ first, second }) => {
    const spectrum = first.spectrum.slice();
    spectrum.set(second.spectrum.subarray(1, PREFIX_CARRIERS), 1);
    return framed(spectrum);
  },
  "two blocks added up": ({ first, second }, random) => {
    const times = random.below(P);
    return framed(first.spectrum.map((digit, k) => (digit + times * second.spectrum[k]) % P));
  },
  "two digits swapped": ({ first }, random) => {
    const spectrum = first.spectrum.slice();
    const [a, b] = [random.below(first.carriers), random.below(first.carriers)];
    [spectrum[a], spectrum[b]] = [spectrum[b], spectrum[a]];
    return framed(spectrum);
  },
  "made up": (_cast, random) => {
    const spectrum = new Uint16Array(N);
    const carriers = random.below(CARRIERS_MAX + 1);
    for (let k = 0; k < carriers; k++) spectrum[k] = random.below(P);
    return framed(spectrum);
  },
};

const DAMAGE_KINDS: DamageKind[] = [
  "cut from the end",
  "cut from the start",
  "cut from the middle",
  "replaced",
  "dropped",
  "mixed",
];

/** Attacks that must be aligned and mended: tens of milliseconds each. */
const DAMAGES: Record<string, Attack> = {
  damaged: ({ first }, random) => ({
    text: damageText(first.text, random.pick(DAMAGE_KINDS), random.unit() * 0.45, random),
  }),
  "lightly damaged": ({ first }, random) => ({
    text: damageText(first.text, random.pick(DAMAGE_KINDS), random.unit() * 0.05, random),
  }),
  truncated: ({ first }, random) => ({ text: first.text.slice(0, random.below(first.text.length)) }),
  "words of two blocks spliced": ({ first, second }, random) => {
    const at = random.below(N);
    return {
      text: `[MEM] ${[...wordsIn(first.text).slice(0, at), ...wordsIn(second.text).slice(at)].join(" ")} [/MEM]`,
    };
  },
  "damaged, and read by another user": ({ first, otherUser }, random) => ({
    text: damageText(first.text, random.pick(DAMAGE_KINDS), random.unit() * 0.2, random),
    owner: otherUser,
  }),
  "a guard carrier sounded": ({ first }, random) => {
    const spectrum = first.spectrum.slice();
    spectrum[CARRIERS_MAX + random.below(N - CARRIERS_MAX)] = 1 + random.below(P - 1);
    return framed(spectrum);
  },
  "words shuffled": ({ first }, random) => {
    const words = wordsIn(first.text);
    const from = random.below(N);
    const part = random.shuffle(words.slice(from, from + 200));
    return {
      text: `[MEM] ${[...words.slice(0, from), ...part, ...words.slice(from + 200)].join(" ")} [/MEM]`,
    };
  },
};

export interface Tally {
  right: number;
  refused: number;
}

/**
 * Throws a batch of attacks at two fresh blocks. Each must be refused, or read as one of the two, whole; and a
 * stranger must never read anything. The seed and the attack stand in the message of a failure.
 */
export function lieTrials(seed: number, attempts: number, damagedShare: number, tally: Tally): void {
  const random = seededRandom(seed);
  const owner = randomOwner(random);
  const cast: Cast = {
    first: write(anyFacts(random), owner),
    second: write(anyFacts(random), owner),
    otherUser: { key: owner.key, userId: `${owner.userId}0` },
    otherAccount: { key: { ...randomOwner(random).key, id: owner.key.id }, userId: owner.userId },
  };
  for (let attempt = 0; attempt < attempts; attempt++) {
    const attacks = random.unit() < damagedShare ? DAMAGES : FORGERIES;
    const name = random.pick(Object.keys(attacks));
    const { text, owner: reader = owner } = attacks[name](cast, random);
    // A reader that has a key for every id lets no forgery off lightly.
    const options: ReadOptions = {
      keys: (id) => ({ ...reader.key, id }),
      userId: reader.userId,
      codebooks: [PLAIN_CODEBOOK],
    };
    const result = readBlock(text, options);
    if (!result.ok) {
      tally.refused++;
      continue;
    }
    const where = `seed ${seed}, attempt ${attempt}, ${name}`;
    assert.equal(reader, owner, `${where}: a stranger read a block`);
    const read = JSON.stringify(result.facts);
    const known = [cast.first, cast.second].some(({ facts }) => JSON.stringify(facts) === read);
    assert.ok(known, `${where}: read as something that was never written`);
    tally.right++;
  }
}
