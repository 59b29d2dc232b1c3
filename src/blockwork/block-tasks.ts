/** Block work as plain functions of messages: what a thread runs. Each message is one small task. */

import { assert } from "../base/assert.ts";
import { type BlockFact, buildBlock } from "../codec/block.ts";
import { type Codebook, findCodebook } from "../codec/codebook.ts";
import { decodeFact, type SlotValue } from "../codec/free-labels.ts";
import type { Predictor } from "../codec/predictor.ts";
import { type OpenedBlock, type OpenedCode, openBlock } from "../codec/read-block.ts";
import type { BlockKey } from "../codec/seal.ts";
import type { UnreadableBlock } from "../codec/unreadable.ts";
import { codeOf, type FactCode } from "./fact-code.ts";

interface BlockMessages {
  /** The code of a fact. */
  readonly code: SlotValue;
  /** A block from codes; facts without one are those that it has no room for. */
  readonly assemble: {
    readonly facts: readonly BlockFact[];
    readonly key: BlockKey;
    readonly userId: string;
  };
  /** The codes behind a text that holds a block. */
  readonly open: { readonly text: string; readonly keys: readonly BlockKey[]; readonly userId: string };
  /** The fact of a code from a block of this format version. */
  readonly value: OpenedCode & { readonly version: number };
}

export interface AssembledBlock {
  readonly text: string;
  /** Channels that it carries, and those that did not fit. */
  readonly carried: readonly number[];
  readonly overflow: readonly number[];
  /** Carriers in use. */
  readonly carriers: number;
}

export interface BlockResults {
  readonly code: FactCode;
  readonly assemble: AssembledBlock;
  readonly open: OpenedBlock | UnreadableBlock;
  readonly value: SlotValue | undefined;
}

export type BlockTaskKind = keyof BlockMessages;
export type BlockMessage<K extends BlockTaskKind = BlockTaskKind> = {
  [Kind in K]: { readonly kind: Kind } & BlockMessages[Kind];
}[K];

/** @param codebooks the first one writes; all of them read */
export function runBlockTask(
  codebooks: readonly Codebook[],
  message: BlockMessage,
): BlockResults[BlockTaskKind] {
  assert(codebooks.length > 0, "there is a codebook to write with");
  switch (message.kind) {
    case "code":
      return codeOf(codebooks[0], message);
    case "assemble": {
      const { facts, key, userId } = message;
      const { text, carried, overflow, carriers } = buildBlock(facts, {
        key,
        userId,
        codebook: codebooks[0],
      });
      return { text, carried, overflow, carriers };
    }
    case "open": {
      const { text, keys, userId } = message;
      return openBlock(text, { keys: (id) => keys.find((key) => key.id === id), userId, codebooks });
    }
    case "value": {
      const codebook = findCodebook(codebooks, message.version);
      assert(codebook !== undefined, "an opened block has a known version");
      return decodeFact(codebook, message, message.bits);
    }
  }
}

export class Interrupted extends Error {
  override name = "Interrupted";
}

/** A codebook that throws in the middle of writing a value once it is told to stop. */
export function interruptible({ version, predictors }: Codebook, isStopped: () => boolean): Codebook {
  const watched = (predictor: Predictor): Predictor => ({
    total: predictor.total,
    end: predictor.end,
    split: (value) => predictor.split(value),
    bytesOf: (symbol) => predictor.bytesOf(symbol),
    *intervals(channel, symbols) {
      for (const interval of predictor.intervals(channel, symbols)) {
        if (isStopped()) throw new Interrupted();
        yield interval;
      }
    },
    cursor: (channel) => predictor.cursor(channel),
  });
  return { version, predictors: predictors.map(watched) };
}

/** Whether a thread can do anything at all: a small value, written and read. */
export function checkSelf(codebooks: readonly Codebook[]): void {
  const { version, bits } = codeOf(codebooks[0], { channel: 0, value: "ready" });
  const read = runBlockTask(codebooks, { kind: "value", version, channel: 0, bits }) as SlotValue | undefined;
  assert(read?.value === "ready", "a thread reads what it has written");
}
