/**
 * Facts that travel with a conversation as one sealed block, and are nowhere else: `seal` makes the block, `open` finds it
 * in any text. An application has a key and, if it likes, labels of its own; it keeps nothing between two calls.
 */

import { isWellFormed, utf8 } from "../base/bytes.ts";
import { USER_ID_LENGTH_MAX, VALUE_BYTES_MAX } from "../base/limits.ts";
import { buildBlock } from "../codec/block.ts";
import { type Codebook, codebookVersionOf, PLAIN_CODEBOOK } from "../codec/codebook.ts";
import { TEXT_LENGTH_MAX } from "../codec/framing.ts";
import { type OpenedBlock, openBlocks, readValue } from "../codec/read-block.ts";
import type { BlockKey } from "../codec/seal.ts";
import { type Refusal, type UnreadableBlock, unreadable } from "../codec/unreadable.ts";
import { READER_FORMAT_VERSION } from "../reader/codebook.ts";
import { BlockError } from "./errors.ts";
import { blockKeyOf, keyRings } from "./keys.ts";
import { COUNTER_CHANNEL, LabelList } from "./label-list.ts";
import { loadReader, type ModelOptions } from "./model.ts";

/** Values by label. */
export type Facts = Readonly<Record<string, string>>;

interface CommonOptions extends ModelOptions {
  /** Whose block it is: a text that only opens with the same text again, such as the id of a conversation or a person. */
  user: string;
  /** The application's own labels, beside the 40 standard ones. Only ever add to the end. */
  labels?: readonly string[] | undefined;
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
  readonly kind: Refusal["kind"] | "other-labels";
  readonly reason: string;
}

const OTHER_LABELS: Unopened = {
  ok: false,
  kind: "other-labels",
  reason:
    "the block was sealed with other `labels`, or a longer list of them; names are only ever added at its end",
};
const COUNTER_MAX = 2 ** 40;
/** Stands for the codebook of a block that has not been decoded yet: it is asked for its version only. */
const READER_TO_COME: Codebook = { version: READER_FORMAT_VERSION, predictors: [] };
const KNOWN_CODEBOOKS = [READER_TO_COME, PLAIN_CODEBOOK];

/** Seals facts into a block, `[MEM] … [/MEM]`: 512 words, 516 tokens. The same call gives the same block. */
export async function seal(options: SealOptions): Promise<string> {
  const { facts, after, compress = true } = options;
  const userId = boundUser(options.user);
  const key = blockKeyOf(options.key);
  const labels = new LabelList(options.labels ?? []);
  const given = Object.entries(facts).map(([label, value], order) => {
    checkFact(label, value);
    return { channel: labels.channelOf(label), value, order };
  });
  const counter = counterAfter(after);
  const check = labels.checkOf(given.map(({ channel }) => channel));
  // The first to be taken, so that it is never without room.
  const counted = { channel: COUNTER_CHANNEL, value: `${counter}${check}`, order: given.length };
  const isCounted = counter > 1 || check !== "";
  const codebook = compress ? await loadReader(options) : PLAIN_CODEBOOK;
  const { text, overflow } = buildBlock(isCounted ? [...given, counted] : given, { key, userId, codebook });
  if (overflow.length > 0) {
    const names = overflow.map((channel) => labels.labelOf(channel) ?? "the counter");
    const how = compress ? "shorten or drop some" : "shorten or drop some, or seal with the reader model";
    throw new BlockError("block_full", `no room in the block for ${names.join(", ")}: ${how}`, {
      overflow: names,
    });
  }
  return text;
}

/** Finds the newest block of a user in a text and opens it, mending what is missing or wrong. */
export async function open(options: OpenOptions): Promise<Opened> {
  const { text, key } = options;
  const userId = boundUser(options.user);
  const labels = new LabelList(options.labels ?? []);
  const keys = typeof key === "string" ? [key] : key;
  if (keys.length === 0) throw new BlockError("invalid_key", "give the key that the block was sealed with");
  if (typeof text !== "string") throw new TypeError("`text` must be a string");
  const results = keyRings(keys).map((ring) => newestOf(text, ring, userId, options));
  const opened = (await Promise.all(results)).filter((result) => result.ok);
  const newest = opened.sort((a, b) => b.counter - a.counter).at(0);
  if (newest === undefined) return whyNot(await Promise.all(results));
  const { values, check, ...report } = newest;
  const channels = values.map(({ channel }) => channel);
  // Blocks of the first release have no check.
  if (check !== "" && check !== labels.checkOf(channels)) return OTHER_LABELS;
  const facts: Record<string, string> = {};
  for (const { channel, value } of values) {
    const label = labels.labelOf(channel);
    if (label === undefined) return OTHER_LABELS;
    facts[label] = value;
  }
  return { ...report, blocks: opened.reduce((sum, { blocks }) => sum + blocks, 0), facts };
}

interface DecodedBlock extends Omit<OpenedFacts, "facts"> {
  /** Of the own labels in it; empty where it has none. */
  readonly check: string;
  readonly values: readonly { readonly channel: number; readonly value: string }[];
}

async function newestOf(
  text: string,
  ring: ReadonlyMap<number, BlockKey>,
  userId: string,
  options: ModelOptions,
): Promise<DecodedBlock | UnreadableBlock> {
  let newest: DecodedBlock | undefined;
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
    seen.add(JSON.stringify([decoded.counter, decoded.values]));
    // Of equal ones the last in the text, which comes first.
    if (newest === undefined || decoded.counter > newest.counter) newest = decoded;
  }
  return newest === undefined
    ? (refused ?? unreadable({ kind: "no-block" }))
    : { ...newest, blocks: seen.size };
}

async function decode(block: OpenedBlock, options: ModelOptions): Promise<DecodedBlock | UnreadableBlock> {
  const isPlain = codebookVersionOf(block.version) === PLAIN_CODEBOOK.version;
  const codebook = isPlain ? PLAIN_CODEBOOK : await loadReader(options);
  const values: { channel: number; value: string }[] = [];
  let counted = "1";
  for (const { channel, bits } of block.codes) {
    const value = readValue(codebook, channel, bits);
    if (value === undefined) return unreadable({ kind: "unknown-value", channel });
    if (channel === COUNTER_CHANNEL) counted = value;
    else values.push({ channel, value });
  }
  const counter = Number.parseInt(counted, 10);
  const check = counted.slice(String(counter).length);
  return { ok: true, values, counter, check, repaired: block.repaired, margin: block.guardLeft, blocks: 1 };
}

function whyNot(results: readonly (DecodedBlock | UnreadableBlock)[]): Unopened {
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
  const isText = typeof value === "string" && value !== "" && isWellFormed(value);
  if (!isText || utf8(value).length > VALUE_BYTES_MAX)
    throw new BlockError(
      "invalid_value",
      `the value of ${label} must be a text of 1 to ${VALUE_BYTES_MAX} bytes; leave the label out for none`,
    );
}
