/**
 * The sealed block of 512 tokens as the only memory of a conversation: sealed with the reader model, carried in the text, opened
 * from it. What does not fit is left out as docs/FORMAT.md says, the least recently written first. The model codes each value once,
 * and the bits that come back out of a text are looked up, and only others decoded.
 */

import { readFileSync } from "node:fs";
import { groupOf, LABELS } from "../../../src/base/channel-labels.ts";
import { CHANNEL_COUNT_MAX } from "../../../src/base/limits.ts";
import { buildBlock } from "../../../src/codec/block.ts";
import { bitsMaxAlone } from "../../../src/codec/block-room.ts";
import { decodeFact, encodeFact, type Slot, type SlotValue } from "../../../src/codec/free-labels.ts";
import type { Bits } from "../../../src/codec/range-coder.ts";
import { type OpenedCode, openBlock } from "../../../src/codec/read-block.ts";
import { deriveBlockKey } from "../../../src/codec/seal.ts";
import { readerCodebook } from "../../../src/reader/codebook.ts";
import { READER_WEIGHTS } from "../../../src/reader/weights-path.ts";

const USER = "dialogue";
const KEY = deriveBlockKey(new Uint8Array(32).fill(7), 0, "dialogues");

/** Values by label, the least recently written first. */
export type State = ReadonlyMap<string, string>;

export class Sealer {
  readonly #codebook = readerCodebook(new Uint8Array(readFileSync(READER_WEIGHTS)));
  readonly #codes = new Map<string, Bits | undefined>();
  readonly #read = new Map<string, SlotValue | undefined>();

  seal(state: State): string {
    const facts = [...state].map(([label, value], order) => {
      const fact = { ...slotOf(label, order), value, order };
      const code = this.#code(fact, `${label} ${value}`);
      return code === undefined ? fact : { ...fact, code };
    });
    return buildBlock(facts, { key: KEY, userId: USER, codebook: this.#codebook }).text;
  }

  /** The facts of the last block in a text that can be read. A text without three words of the last one in a row has none. */
  open(text: string, last: string): State | undefined {
    const words = last.split(" ");
    if (!words.some((_, i) => i > 2 && text.includes(words.slice(i - 3, i).join(" ")))) return undefined;
    const block = openBlock(text, { keys: () => KEY, userId: USER, codebooks: [this.#codebook] });
    if (!block.ok) return undefined;
    const facts = block.codes.map((code) => this.#factOf(code));
    return new Map(facts.flatMap((fact) => (fact === undefined ? [] : [fact])));
  }

  #code(fact: SlotValue, name: string): Bits | undefined {
    if (!this.#codes.has(name)) {
      const bits = encodeFact(this.#codebook, fact, bitsMaxAlone(fact));
      this.#codes.set(name, bits);
      if (bits !== undefined) this.#read.set(nameOf(groupOr(fact), bits), fact);
    }
    return this.#codes.get(name);
  }

  #factOf(code: OpenedCode): [string, string] | undefined {
    const { bits, channel, group } = code;
    const name = nameOf(group ?? channel, bits);
    if (!this.#read.has(name)) this.#read.set(name, decodeFact(this.#codebook, code, bits));
    const fact = this.#read.get(name);
    const label = fact?.label ?? LABELS[channel];
    return fact === undefined || label === undefined ? undefined : [label, fact.value];
  }
}

const groupOr = ({ channel, label }: Slot) => (channel < CHANNEL_COUNT_MAX ? channel : groupOf(label!));
const nameOf = (place: string | number, { length, bytes }: Bits) =>
  `${place} ${length} ${Buffer.from(bytes).toString("hex")}`;

function slotOf(label: string, order: number): Slot {
  const channel = (LABELS as readonly string[]).indexOf(label);
  return channel < 0 ? { channel: CHANNEL_COUNT_MAX + order, label } : { channel };
}
