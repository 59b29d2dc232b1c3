/**
 * Facts that travel with a conversation as one sealed block, and are nowhere else: `seal` makes the block, `open` finds it
 * in any text. An application has a key, and any labels that it likes; it keeps nothing between two calls.
 */

import { isWellFormed, utf8 } from "../base/bytes.ts";
import { LABEL_FORM, LABELS } from "../base/channel-labels.ts";
import { CHANNEL_COUNT_MAX, USER_ID_LENGTH_MAX, VALUE_BYTES_MAX } from "../base/limits.ts";
import { buildBlock } from "../codec/block.ts";
import { type Codebook, codebookVersionOf, PLAIN_CODEBOOK } from "../codec/codebook.ts";
import { TEXT_LENGTH_MAX } from "../codec/framing.ts";
import { decodeFact, type Slot } from "../codec/free-labels.ts";
import { type OpenedBlock, openBlocks } from "../codec/read-block.ts";
import type { BlockKey } from "../codec/seal.ts";
import { type Refusal, type UnreadableBlock, unreadable } from "../codec/unreadable.ts";
import { READER_FORMAT_VERSION } from "../reader/codebook.ts";
import { BlockError } from "./errors.ts";
import { blockKeyOf, keyRings } from "./keys.ts";
import { loadReader, type ModelOptions } from "./model.ts";

/** Values by label: one of the 40 standard ones, or any other of the form GROUP.name. */
export type Facts = Readonly<Record<string, string>>;

interface CommonOptions extends ModelOptions {
  /** Whose block it is: a text that only opens with the same text again, such as the id of a conversation or a person. */
  user: string;
}

export interface SealOptions extends CommonOptions {
  /** From `newKey()`. */
  key: string;
  facts: Facts;
  /** What was opened before: the new block counts one more, and so is known as the newer one. Left out for the first. */
  after?: { readonly counter: number } | undefined;
  /** `false` does without the reader model: no 8 MB to load, and less room. Both forms open the same way. */
  compress?: boolean | undefined;
}

export interface OpenOptions extends CommonOptions {
  /** The key, or several: the new one and those before it, whose blocks are still about. */
  key: string | readonly string[];
  /** Any text: a prompt, a transcript, a summary. Of a very long one the last 524,288 characters are looked at. */
  text: string;
}

/** What a text held. */
export type Opened = OpenedFacts | Unopened;

export interface OpenedFacts {
  readonly ok: true;
  readonly facts: Facts;
  /** 1 for the first block of a conversation, and one more for each that was sealed `after` it. */
  readonly counter: number;
  /** Words of the block that were missing or wrong, and were mended. */
  readonly repaired: number;
  /** How many more words could have been missing. */
  readonly margin: number;
  /** Blocks in the text that open with these keys for this user; the facts are those of the newest. */
  readonly blocks: number;
}

/** Why there are no facts: `kind` is for code, `reason` for people. */
export interface Unopened {
  readonly ok: false;
  readonly kind: Refusal["kind"];
  readonly reason: string;
}

const COUNTER_MAX = 2 ** 40;
/** The counter's channel. */
const COUNTER_CHANNEL = CHANNEL_COUNT_MAX - 1;
/** Stands for the codebook of a block that has not been decoded yet: it is asked for its version only. */
const READER_TO_COME: Codebook = { version: READER_FORMAT_VERSION, predictors: [] };
const KNOWN_CODEBOOKS = [READER_TO_COME, PLAIN_CODEBOOK];

/** Seals facts into a block, `[MEM] … [/MEM]`: 512 words, 516 tokens. The same call gives the same block. */
export async function seal(options: SealOptions): Promise<string> {
  checkOptions(options, "facts");
  const { facts, after, compress = true } = options;
  const userId = boundUser(options.user);
  const key = blockKeyOf(options.key);
  const given = Object.entries(facts).map(([label, value], order) => {
    checkFact(label, value);
    return { ...slotOf(label, order), value, order };
  });
  const counter = counterAfter(after);
  // The first to be taken, so that it is never without room.
  const counted = { channel: COUNTER_CHANNEL, value: `${counter}`, order: given.length };
  const codebook = compress ? await loadReader(options) : PLAIN_CODEBOOK;
  const { text, overflow } = buildBlock(counter > 1 ? [...given, counted] : given, { key, userId, codebook });
  if (overflow.length > 0) {
    const left = new Set(overflow);
    const names = Object.keys(facts).filter((_, i) => left.has(given[i]!.channel));
    const how = compress ? "shorten or drop some" : "shorten or drop some, or seal with the reader model";
    throw new BlockError("block_full", `no room in the block for ${names.join(", ")}: ${how}`, {
      overflow: names,
    });
  }
  return text;
}

/** Finds the newest block of a user in a text and opens it, mending what is missing or wrong. */
export async function open(options: OpenOptions): Promise<Opened> {
  checkOptions(options, "text");
  const { text, key } = options;
  const userId = boundUser(options.user);
  const keys = typeof key === "string" ? [key] : key;
  if (!Array.isArray(keys) || keys.length === 0)
    throw new BlockError("invalid_key", "give the key that the block was sealed with, or a list of keys");
  const results = keyRings(keys).map((ring) => newestOf(text, ring, userId, options));
  const opened = (await Promise.all(results)).filter((result) => result.ok);
  const newest = opened.sort((a, b) => b.counter - a.counter).at(0);
  if (newest === undefined) return reasonUnopened(await Promise.all(results));
  return { ...newest, blocks: opened.reduce((sum, { blocks }) => sum + blocks, 0) };
}

/** Where a fact is in a block. */
function slotOf(label: string, order: number): Slot {
  const standard = (LABELS as readonly string[]).indexOf(label);
  return standard < 0 ? { channel: CHANNEL_COUNT_MAX + order, label } : { channel: standard };
}

async function newestOf(
  text: string,
  ring: ReadonlyMap<number, BlockKey>,
  userId: string,
  options: ModelOptions,
): Promise<OpenedFacts | UnreadableBlock> {
  let newest: OpenedFacts | undefined;
  let refused: UnreadableBlock | undefined;
  const seen = new Set<string>();
  const found = openBlocks(text.slice(-TEXT_LENGTH_MAX), {
    keys: (id) => ring.get(id),
    userId,
    codebooks: KNOWN_CODEBOOKS,
  });
  for (const result of found) {
    const decoded = result.ok ? await decode(result, options) : result;
    if (!decoded.ok) {
      // That a block is not ours says more than that there are words that may be a damaged one.
      if (refused === undefined || refused.kind === "damaged") refused = decoded;
      continue;
    }
    seen.add(JSON.stringify([decoded.counter, decoded.facts]));
    // Of equal ones the last in the text, which comes first.
    if (newest === undefined || decoded.counter > newest.counter) newest = decoded;
  }
  return newest === undefined
    ? (refused ?? unreadable({ kind: "no-block" }))
    : { ...newest, blocks: seen.size };
}

async function decode(block: OpenedBlock, options: ModelOptions): Promise<OpenedFacts | UnreadableBlock> {
  const isPlain = codebookVersionOf(block.version) === PLAIN_CODEBOOK.version;
  const codebook = isPlain ? PLAIN_CODEBOOK : await loadReader(options);
  const facts: Record<string, string> = {};
  let counter = 1;
  for (const code of block.codes) {
    const { channel } = code;
    const fact = decodeFact(codebook, code, code.bits);
    const label = fact?.label ?? LABELS[channel];
    if (fact !== undefined && channel === COUNTER_CHANNEL) counter = Number.parseInt(fact.value, 10);
    else if (fact === undefined || label === undefined) return unreadable({ kind: "unknown-value", channel });
    else facts[label] = fact.value;
  }
  return { ok: true, facts, counter, repaired: block.repaired, margin: block.guardLeft, blocks: 1 };
}

function reasonUnopened(results: readonly (OpenedFacts | UnreadableBlock)[]): Unopened {
  const reasons = results.filter((result) => !result.ok);
  return reasons.find(({ kind }) => kind !== "damaged" && kind !== "no-block") ?? reasons[0];
}

function counterAfter(after: SealOptions["after"]): number {
  if (after === undefined) return 1;
  const counter = after?.counter;
  if (!Number.isSafeInteger(counter) || counter < 1 || counter >= COUNTER_MAX)
    throw new BlockError(
      "invalid_counter",
      "`after` must be what open() gave with ok: true; leave it out for the first block",
    );
  return counter + 1;
}

function boundUser(user: string): string {
  const isUser = typeof user === "string" && user !== "" && isWellFormed(user);
  if (!isUser || user.length > USER_ID_LENGTH_MAX)
    throw new BlockError("invalid_user", `\`user\` must be a text of 1 to ${USER_ID_LENGTH_MAX} characters`);
  return user;
}

function checkFact(label: string, value: string): void {
  if (!LABEL_FORM.test(label))
    throw new BlockError(
      "invalid_label",
      `${JSON.stringify(label)} is no label: write a group in capitals, a dot and a small name, such as ORDER.number`,
    );
  const isText = typeof value === "string" && value !== "" && isWellFormed(value);
  if (!isText || utf8(value).length > VALUE_BYTES_MAX)
    throw new BlockError(
      "invalid_value",
      `the value of ${label} must be a text of 1 to ${VALUE_BYTES_MAX} bytes; leave the label out for none`,
    );
}

type Kind = readonly [isIt: (value: unknown) => boolean, what: string];

const KINDS: Readonly<Record<string, Kind>> = {
  facts: [isRecord, "an object with a value for each label"],
  text: [(value) => typeof value === "string", "a text"],
  compress: [(value) => typeof value === "boolean", "true or false"],
};
const NAMES = ["key", "user", ...Object.keys(KINDS), "after", "model", "kernel"];

/**
 * The options of both calls, which may share an object of them: another name, or another kind of value, is a mistake of
 * the caller. Key, user, counter and model are looked at where they are used, and have codes of their own.
 * @param needed the option that the call cannot do without
 */
function checkOptions(options: unknown, needed: "facts" | "text"): void {
  if (!isRecord(options))
    throw new BlockError("invalid_option", `give the options as an object: { key, user, ${needed} }`);
  const unknown = Object.keys(options).find((name) => !NAMES.includes(name));
  if (unknown !== undefined)
    throw new BlockError(
      "invalid_option",
      `there is no option ${JSON.stringify(unknown)}: there are ${NAMES.join(", ")}`,
    );
  for (const [name, [isIt, what]] of Object.entries(KINDS)) {
    const value = options[name];
    if (value === undefined ? name === needed : !isIt(value))
      throw new BlockError("invalid_option", `\`${name}\` must be ${what}`);
  }
}

/** No list, map or set. */
function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !(Symbol.iterator in value);
}
