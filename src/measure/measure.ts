/**
 * Measures what blocks carry: builds the block of each profile, reads it back through the reader and compares
 * byte for byte. A fact counts as exact only when the reader returned it.
 */

import { utf8 } from "../base/bytes.ts";
import { findChannel } from "../base/channels.ts";
import { CHANNEL_COUNT_MAX, VALUE_BYTES_MAX } from "../base/limits.ts";
import { loadCodebooks } from "../blockwork/codebooks.ts";
import { type BlockFact, buildBlock } from "../codec/block.ts";
import type { Codebook } from "../codec/codebook.ts";
import { N } from "../codec/field.ts";
import { readBlock } from "../codec/read-block.ts";
import { deriveBlockKey, MASTER_KEY_BYTES } from "../codec/seal.ts";

/** A measure of blocks as this release writes them. */
export function openMeasure(): Measure {
  return new Measure(loadCodebooks()[0]);
}

export interface ProfileFact {
  readonly label: string;
  readonly value: string;
}

interface Measurement {
  profiles: number;
  facts: number;
  /** Facts that found room in their block. */
  carried: number;
  /** Facts that the reader returned byte for byte. */
  exact: number;
  /** Characters (code points) of the carried facts. */
  chars: number;
  /** Code bits of the carried facts, end of value included. */
  bits: number;
  bits_per_char: number;
  /** Mean carriers in use. */
  carriers: number;
  /** Profiles carried whole and read back exactly. */
  lossless_profiles: number;
  tokens: number;
}

const KEY = deriveBlockKey(new Uint8Array(MASTER_KEY_BYTES), 0, "measure");

/** Takes profiles one at a time, so that progress can be shown. */
export class Measure {
  readonly #codebook: Codebook;
  readonly #sum = {
    profiles: 0,
    facts: 0,
    carried: 0,
    exact: 0,
    chars: 0,
    bits: 0,
    carriers: 0,
    lossless: 0,
  };

  constructor(codebook: Codebook) {
    this.#codebook = codebook;
  }

  add(profile: readonly ProfileFact[]): void {
    const facts = placeOnChannels(profile).map((fact, order): BlockFact => ({ ...fact, order }));
    const block = buildBlock(facts, { key: KEY, userId: "measure", codebook: this.#codebook });
    const read = readBlock(block.text, { keys: () => KEY, userId: "measure", codebooks: [this.#codebook] });
    const values = new Map(read.ok ? read.facts.map(({ channel, value }) => [channel, value]) : []);
    const carried = facts.filter(({ channel }) => block.carried.includes(channel));
    const exact = carried.filter(({ channel, value }) => values.get(channel) === value).length;
    const sum = this.#sum;
    sum.profiles++;
    sum.facts += facts.length;
    sum.carried += carried.length;
    sum.exact += exact;
    for (const { channel, value } of carried) {
      sum.chars += [...value].length;
      sum.bits += block.codes.get(channel)!.length;
    }
    sum.carriers += block.carriers;
    if (exact === facts.length) sum.lossless++;
  }

  result(): Measurement {
    const { profiles, facts, carried, exact, chars, bits, carriers, lossless } = this.#sum;
    return {
      profiles,
      facts,
      carried,
      exact,
      chars,
      bits,
      bits_per_char: chars === 0 ? 0 : bits / chars,
      carriers: profiles === 0 ? 0 : carriers / profiles,
      lossless_profiles: lossless,
      tokens: N,
    };
  }
}

/** A problem with a profile, in words for the person who wrote it; undefined where there is none. */
export function findProfileProblem(profile: unknown): string | undefined {
  if (!Array.isArray(profile)) return 'expected {"profile": [{"label", "value"}, …]}';
  if (profile.length > CHANNEL_COUNT_MAX)
    return `${profile.length} facts, but there are ${CHANNEL_COUNT_MAX} channels`;
  const labels = new Set<string>();
  for (const fact of profile) {
    if (typeof fact?.label !== "string" || typeof fact?.value !== "string") {
      return 'every fact needs a "label" and a "value", both strings';
    }
    if (labels.has(fact.label)) return `label ${fact.label} comes twice`;
    labels.add(fact.label);
    if (!fact.value.isWellFormed()) return `the value of ${fact.label} is not well-formed Unicode`;
    const length = utf8(fact.value).length;
    if (length < 1 || length > VALUE_BYTES_MAX) {
      return `the value of ${fact.label} has ${length} bytes; 1 to ${VALUE_BYTES_MAX} are allowed`;
    }
  }
  return undefined;
}

/** Known labels on their own channels; the others, in order, on those that are free, the standard ones first. */
function placeOnChannels(profile: readonly ProfileFact[]): { channel: number; value: string }[] {
  const taken = new Set(profile.flatMap(({ label }) => findChannel(label)?.channel ?? []));
  const free = Array.from({ length: CHANNEL_COUNT_MAX }, (_, channel) => channel).filter(
    (channel) => !taken.has(channel),
  );
  return profile.map(({ label, value }) => ({
    channel: findChannel(label)?.channel ?? free.shift()!,
    value,
  }));
}
