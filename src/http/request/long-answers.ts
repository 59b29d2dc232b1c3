/**
 * Answers that do not leave in one piece. One with a long list is made list part by list part, as its reader takes it. A text
 * that is longer than an answer may be in one piece is handed to the connection part by part, each when its reader has
 * taken those before it.
 */

import { setImmediate as othersTurn } from "node:timers/promises";

/** The most that leaves in one piece. */
export const ANSWER_BYTES_MAX = 4 * 2 ** 20;
/** Of a longer text. */
const PART_LENGTH = 256 * 1024;
/** Entries of a list that are made in one go. */
export const LIST_PART = 256;
/** One that the reader takes, and the next. */
export const PARTS_IN_FLIGHT = 2;

interface LongList {
  readonly name: string;
  readonly length: number;
  readonly part: (start: number, end: number) => readonly unknown[];
}

/**
 * The JSON of an object whose last fields are long lists.
 * @param hold told how long what is in flight is; where it fails, the answer is cut off
 */
export async function* jsonParts(
  rest: object,
  lists: readonly LongList[],
  hold: (length: number) => void,
): AsyncGenerator<string> {
  yield JSON.stringify(rest).slice(0, -1);
  for (const { name, length, part } of lists) {
    yield `,"${name}":[`;
    for (let i = 0; i < length; i += LIST_PART) {
      await othersTurn();
      const text = (i === 0 ? "" : ",") + JSON.stringify(part(i, i + LIST_PART)).slice(1, -1);
      hold(PARTS_IN_FLIGHT * text.length);
      yield text;
    }
    yield "]";
  }
  yield "}";
}

/** The bytes of a long text. */
export async function* textParts(text: string): AsyncGenerator<Buffer> {
  for (let start = 0; start < text.length; ) {
    let end = Math.min(text.length, start + PART_LENGTH);
    // The two halves of a character stay together.
    if (isFirstHalf(text.charCodeAt(end - 1))) end += 1;
    yield Buffer.from(text.slice(start, end));
    start = end;
    await othersTurn();
  }
}

function isFirstHalf(unit: number): boolean {
  return unit >= 0xd800 && unit < 0xdc00;
}
