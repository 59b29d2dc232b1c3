/**
 * Free labels: those that have no channel, so that a block must name them.
 *
 * A fact under a free label is coded as one text, its name and then its value, as in "Blood type: O negative": of the forms
 * that were tried, this is the one that the reader model codes shortest. Its group is not in it. The groups are in a list
 * behind the directory, each once: an ordinary one by its number, any other letter by letter. So the code of a fact depends
 * on that fact alone, and stays as it is when others come and go.
 */

import { assert, assertInteger } from "../base/assert.ts";
import { textOf, utf8 } from "../base/bytes.ts";
import { groupOf, LABEL_FORM } from "../base/channel-labels.ts";
import { CHANNEL_COUNT, CHANNEL_COUNT_MAX, VALUE_BYTES_MAX } from "../base/limits.ts";
import { type Codebook, decodeValue, encodeValue } from "./codebook.ts";
import { type Bits, RangeDecoder, RangeEncoder } from "./range-coder.ts";
import { AdaptiveCounts, type SymbolCoder, symbolReader, symbolWriter } from "./symbol-coder.ts";

/** Where a fact is in a block: on a channel, or after all channels under its label. */
export interface Slot {
  /** 0 to 255, or from 256 on for a free label: such a number only tells the facts of a call apart. */
  readonly channel: number;
  /** That of a free label must be there; that of a channel is not looked at. */
  readonly label?: string | undefined;
}

export interface SlotValue extends Slot {
  readonly value: string;
}

/** Groups that people use, by their numbers in a block. Never changes: it is part of the format. */
const ORDINARY_GROUPS: readonly string[] = (
  "USER PREF TASK PROJ FAMILY HEALTH HOME PEOPLE REMINDER NOTE WORK TRAVEL MONEY FOOD CAR PET HOBBY SCHOOL STUDY EVENT " +
  "CONTACT DEVICE DEPLOY DATABASE API TEST STYLE CUSTOMER ORDER PLAN TICKET TEAM ROLE RULE RELEASE RESEARCH PAPER DATA " +
  "MODEL CODE BUILD SERVER SECURITY TOOL AGENT GOAL HABIT LIFE PERSON FRIEND CHILD SPORT MUSIC BOOK MOVIE GARDEN GAME " +
  "SHOP MEETING PRODUCT COMPANY PROJECT CASE"
).split(" ");
/** Stands for any other group, whose letters follow. */
const OTHER_GROUP = ORDINARY_GROUPS.length;
const GROUP_LENGTH_MAX = 16;
/** What a group is made of, behind the end of it, and how often each comes. */
const LETTERS = " ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
const LETTER_WEIGHTS = [...LETTERS].map((letter) => {
  if ("EATIORNS".includes(letter)) return 16;
  if (" LCDUMPHG".includes(letter)) return 8;
  return "BFKVWY_".includes(letter) ? 4 : 1;
});
/** Own labels and free ones are all alike to the reader model. */
const ANY_CHANNEL = CHANNEL_COUNT;
const BETWEEN = ": ";

/** The label of a fact that has no channel; undefined where it has one. */
export function freeLabel({ channel, label }: Slot): string | undefined {
  if (channel < CHANNEL_COUNT_MAX) return undefined;
  assert(label !== undefined, "a fact without a channel has its label");
  return label;
}

/** The order of facts in a block: the channels in theirs, then the free labels in that of their texts. */
export function compareSlots(a: Slot, b: Slot): number {
  const [one, other] = [freeLabel(a), freeLabel(b)];
  if (one === undefined || other === undefined)
    return Math.min(a.channel, CHANNEL_COUNT_MAX) - Math.min(b.channel, CHANNEL_COUNT_MAX);
  return Number(one > other) - Number(one < other);
}

export function assertSlots(slots: readonly Slot[]): void {
  for (const { channel } of slots) assertInteger(channel, 0, Number.MAX_SAFE_INTEGER, "channel");
  const channels = slots.map(({ channel }) => channel);
  const labels = slots.flatMap((slot) => freeLabel(slot) ?? []);
  for (const label of labels) assert(LABEL_FORM.test(label), "a free label has the form of labels");
  for (const names of [channels, labels])
    assert(new Set<unknown>(names).size === names.length, "each channel and each label is given once");
}

/** The text that is coded for a fact. */
export function codedText(fact: SlotValue): string {
  const label = freeLabel(fact);
  if (label === undefined) return fact.value;
  return `${spelled(label.slice(groupOf(label).length + 1))}${BETWEEN}${fact.value}`;
}

/** blood_type as in a sentence: "Blood type". */
function spelled(name: string): string {
  return `${name.charAt(0).toUpperCase()}${name.slice(1).replaceAll("_", " ")}`.replace(/^_/, " ");
}

/** The code of a fact; undefined as soon as it is certain that it has more than `bitsMax` bits. */
export function encodeFact(codebook: Codebook, fact: SlotValue, bitsMax: number): Bits | undefined {
  const length = utf8(fact.value).length;
  assert(length >= 1 && length <= VALUE_BYTES_MAX, `a value has 1 to ${VALUE_BYTES_MAX} bytes`);
  const channel = freeLabel(fact) === undefined ? fact.channel : ANY_CHANNEL;
  return encodeValue(codebook, channel, utf8(codedText(fact)), bitsMax);
}

/**
 * The fact behind a code; undefined where the bits are no code of one.
 * @param group that of its free label; undefined for a channel
 */
export function decodeFact(
  codebook: Codebook,
  { channel, group }: { readonly channel: number; readonly group?: string | undefined },
  bits: Bits,
): SlotValue | undefined {
  const bytes = decodeValue(codebook, group === undefined ? channel : ANY_CHANNEL, bits);
  const text = bytes && textOf(bytes);
  if (text === undefined) return undefined;
  const at = group === undefined ? 0 : text.indexOf(BETWEEN) + BETWEEN.length;
  const value = text.slice(at);
  const length = utf8(value).length;
  if (length < 1 || length > VALUE_BYTES_MAX) return undefined;
  if (group === undefined) return { channel, value };
  const name = text
    .slice(0, Math.max(0, at - BETWEEN.length))
    .toLowerCase()
    .replaceAll(" ", "_");
  const fact = { channel, label: `${group}.${name}`, value };
  return LABEL_FORM.test(fact.label) && codedText(fact) === text ? fact : undefined;
}

/** The groups of free labels, which are in order: each group, and how many of the labels have it. */
export function writeGroups(labels: readonly string[]): Bits {
  const encoder = new RangeEncoder();
  walk(symbolWriter(encoder), labels.map(groupOf), labels.length);
  return encoder.finish();
}

/** The group of each of `count` free labels; undefined where the bits are no list of groups. */
export function readGroups(bits: Bits, count: number): readonly string[] | undefined {
  const groups: string[] = [];
  const isList = walk(symbolReader(new RangeDecoder(bits)), groups, count);
  return isList ? groups : undefined;
}

/** @returns false where what was read is no group */
function walk(code: SymbolCoder, groups: string[], count: number): boolean {
  const same = new AdaptiveCounts([1, 1], 1);
  for (let at = 0; at < count; ) {
    const group = walkGroup(code, groups[at] ?? "");
    if (group === undefined) return false;
    do groups[at++] = group;
    while (at < count && code.adaptive(same, groups[at] === group ? 1 : 0) === 1);
  }
  return true;
}

function walkGroup(code: SymbolCoder, group: string): string | undefined {
  const known = ORDINARY_GROUPS.indexOf(group);
  const number = code.uniform(OTHER_GROUP + 1, known < 0 ? OTHER_GROUP : known);
  if (number < OTHER_GROUP) return ORDINARY_GROUPS[number];
  const weights = new AdaptiveCounts(LETTER_WEIGHTS, 0);
  let read = "";
  for (;;) {
    const symbol = code.adaptive(weights, LETTERS.indexOf(group.charAt(read.length) || " "));
    if (symbol === 0) break;
    read += LETTERS.charAt(symbol);
    if (read.length > GROUP_LENGTH_MAX) return undefined;
  }
  return LABEL_FORM.test(`${read}.a`) ? read : undefined;
}
