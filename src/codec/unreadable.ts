/**
 * Why a text was not read as a block. Code decides by the kind. The sentence is for people; only this file makes it, in
 * a form that can follow a colon.
 */

import { TEXT_LENGTH_MAX } from "./framing.ts";

export type Refusal =
  /** The reader does not look at a text of this length. */
  | { readonly kind: "text-too-long" }
  /** Too few words of the alphabet. */
  | { readonly kind: "no-block" }
  /** No seal could be opened: too much damage, or the block belongs to somebody else. */
  | { readonly kind: "damaged" }
  /** The words are undamaged, and still the seal does not open. */
  | { readonly kind: "foreign" }
  | { readonly kind: "unknown-version"; readonly version: number; readonly known: readonly number[] }
  /** The seal holds, but what the channel carries is no value. */
  | { readonly kind: "unknown-value"; readonly channel: number };

export interface UnreadableBlock {
  readonly ok: false;
  readonly kind: Refusal["kind"];
  readonly reason: string;
}

export function unreadable(refusal: Refusal): UnreadableBlock {
  return { ok: false, kind: refusal.kind, reason: sentenceOf(refusal) };
}

function sentenceOf(refusal: Refusal): string {
  switch (refusal.kind) {
    case "text-too-long":
      return `the text is longer than ${TEXT_LENGTH_MAX} characters; hand over the block alone`;
    case "no-block":
      return "no block in this text: it has too few words of the alphabet";
    case "damaged":
      return "the words are too damaged, or the block was sealed with another key or for another user";
    case "foreign":
      return "all words are in place, but the block was altered, or sealed with another key or for another user";
    case "unknown-version":
      return `the block has format version ${refusal.version}; this reader knows ${refusal.known.join(", ")}`;
    case "unknown-value":
      return `channel ${refusal.channel} holds no value that this reader knows`;
  }
}
