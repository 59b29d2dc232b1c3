/**
 * Labels of an application: the 40 standard ones on their channels, its own on channels 40 to 254 in the order of its
 * list. The list belongs to the blocks as the key does: names may be added at its end, never moved or removed. Channel
 * 255 is the counter's.
 */

import { utf8 } from "../base/bytes.ts";
import { LABEL_FORM, LABELS } from "../base/channel-labels.ts";
import { crc32, toBase62 } from "../base/crc32.ts";
import { isSlip } from "../base/edit-distance.ts";
import { CHANNEL_COUNT, CHANNEL_COUNT_MAX } from "../base/limits.ts";
import { BlockError } from "./errors.ts";

export const COUNTER_CHANNEL = CHANNEL_COUNT_MAX - 1;
const OWN_MAX = COUNTER_CHANNEL - CHANNEL_COUNT;
/** Digits of a CRC-32 in base 62. */
const CHECK_DIGITS = 6;

export class LabelList {
  readonly #labels: readonly string[];
  readonly #channels: ReadonlyMap<string, number>;

  constructor(own: readonly string[]) {
    if (own.length > OWN_MAX)
      throw new BlockError("invalid_label", `an application has at most ${OWN_MAX} labels of its own`);
    this.#labels = [...LABELS, ...own];
    this.#channels = new Map(this.#labels.map((label, channel) => [label, channel]));
    const wrong = own.find((label) => typeof label !== "string" || !LABEL_FORM.test(label));
    if (wrong !== undefined)
      throw new BlockError(
        "invalid_label",
        `${JSON.stringify(wrong)} is no label: write a group in capitals, a dot and a small name, such as ORDER.number`,
      );
    if (this.#channels.size < this.#labels.length)
      throw new BlockError(
        "invalid_label",
        "a label is in the list twice, or is one of the 40 standard ones",
      );
  }

  channelOf(label: string): number {
    const channel = this.#channels.get(label);
    if (channel !== undefined) return channel;
    const near = this.#labels.find((known) => isSlip(label, known));
    const hint = near === undefined ? "add it to the end of `labels`" : `did you mean ${near}?`;
    throw new BlockError(
      "invalid_label",
      `${JSON.stringify(label)} is no label of this application: ${hint}`,
    );
  }

  /** A checksum of the own labels on these channels, so that a block does not open under other names; empty if there are none. */
  checkOf(channels: readonly number[]): string {
    const own = channels.filter((channel) => channel >= CHANNEL_COUNT).sort((a, b) => a - b);
    if (own.length === 0) return "";
    const names = own.map((channel) => `${channel} ${this.#labels[channel]}`).join("\n");
    return ` ${toBase62(crc32(utf8(names)), CHECK_DIGITS)}`;
  }

  /** Undefined where the list does not reach as far. */
  labelOf(channel: number): string | undefined {
    return this.#labels[channel];
  }
}
