/**
 * What a page and its codec worker say to each other. The codec runs in a worker so that aligning a badly damaged
 * block never delays typing; a page asks, and gets one answer (or one error) for each question's number.
 */

import type { Layout } from "../../codec/block.ts";
import type { BlockReport } from "../../codec/read-block.ts";

/** By name. The damage itself (damage.ts) loads the alphabet, which only the worker needs. */
export const DAMAGE_KINDS = {
  "cut-end": "Cut the end",
  "cut-start": "Cut the beginning",
  "cut-middle": "Cut the middle",
  drop: "Delete random words",
  replace: "Replace random words",
  mix: "Delete, replace, insert",
  retype: "Retype with typing errors",
} as const;

export type DamageKind = keyof typeof DAMAGE_KINDS;

/** A block key in the form in which the server gives out the demo's: 64 bytes in base64. */
export interface KeyText {
  readonly key_id: number;
  readonly material: string;
}

/** All that is needed to read a block. */
export interface Reader {
  readonly userId: string;
  readonly keys: readonly KeyText[];
  /** The format versions that may occur; their codebooks are loaded when first needed. */
  readonly versions: readonly number[];
}

export interface ChannelValue {
  readonly channel: number;
  readonly value: string;
}

export type Question =
  | { readonly ask: "build"; readonly facts: readonly ChannelValue[]; readonly reader: Reader }
  | { readonly ask: "inspect"; readonly text: string; readonly reader: Reader }
  | {
      readonly ask: "damage";
      readonly text: string;
      readonly kind: DamageKind;
      readonly share: number;
      readonly seed: number;
    };

export interface Built {
  readonly text: string;
  readonly spectrum: Uint16Array;
  readonly layout: Layout;
  /** Channels that did not fit. */
  readonly overflow: readonly number[];
}

/** Whether the word of a place is intact. */
export const WORD_STATE = { intact: 0, missing: 1, wrong: 2 } as const;

export interface Inspection {
  readonly outcome: Outcome;
  /** Words in the passage that was looked at. */
  readonly wordCount: number;
  readonly tookMs: number;
  /** The spectrum of the placed words, with lost words as zero; absent if there are too few words. */
  readonly received?: Uint16Array;
}

type Outcome =
  | (BlockReport & {
      readonly facts: readonly ChannelValue[];
      /** The block as it was before the damage, and its spectrum. */
      readonly text: string;
      readonly spectrum: Uint16Array;
      /** A WORD_STATE for each of the 512 places. */
      readonly wordStates: Uint8Array;
    })
  | { readonly ok: false; readonly reason: string };

interface Damaged {
  readonly text: string;
}

export interface Answers {
  readonly build: Built;
  readonly inspect: Inspection;
  readonly damage: Damaged;
}

export type FromPage = Question & { readonly id: number };
export type FromWorker =
  | { readonly id: number; readonly answer: Answers[keyof Answers] }
  | { readonly id: number; readonly error: string }
  /** A codebook's weights are loading. */
  | { readonly loadedBytes: number; readonly totalBytes: number };
