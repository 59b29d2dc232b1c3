/**
 * Values of all kinds and lengths, each reproducible from its kind, its length in bytes and a seed: what people store,
 * and what an attacker would store to make it take long.
 */

import { type Random, seededRandom } from "../../src/base/random.ts";

export interface ValueName {
  readonly kind: string;
  readonly bytes: number;
  readonly seed: number;
}

const WORDS = (
  "the user prefers short answers works on parser in Rust and lives near Lyon with two cats since last year " +
  "every morning before review of code she reads about music because meetings are planned for Thursday afternoon"
).split(" ");
const CHINESE =
  "完成代码变更后记得检查和更新任何涉及架构接口行为的修改都应同步文档用户喜欢在周末爬山喝茶".split("");
const CODE =
  "const return if ( ) { } ; => === await function value . length + 1 [ i ] \n // null ! throw new".split(
    " ",
  );
const BASE64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const SCRIPTS: Readonly<Record<string, readonly [number, number]>> = {
  ascii: [0x20, 0x7e],
  latin: [0xa1, 0x24f],
  greek: [0x391, 0x3c9],
  cyrillic: [0x410, 0x44f],
  hebrew: [0x5d0, 0x5ea],
  arabic: [0x627, 0x64a],
  devanagari: [0x905, 0x939],
  thai: [0xe01, 0xe30],
  kana: [0x3041, 0x3096],
  han: [0x4e00, 0x9fa5],
  hangul: [0xac00, 0xd7a3],
  emoji: [0x1f300, 0x1f64f],
  "han beyond 16 bits": [0x20000, 0x20100],
};

/** Makes the pieces that a value of a kind is joined from. */
type Pieces = (random: Random) => () => string;

const point = (random: Random, [from, to]: readonly [number, number]) =>
  String.fromCodePoint(from + random.below(to - from + 1));
const times = (count: number, piece: () => string) => Array.from({ length: count }, piece).join("");

const KINDS: Readonly<Record<string, Pieces>> = {
  "run of one character": (random) => {
    const character = point(random, random.pick(Object.values(SCRIPTS)));
    return () => character;
  },
  "repeated phrase": (random) => {
    const phrase = times(2 + random.below(6), () => `${random.pick(WORDS)} `);
    return () => phrase;
  },
  words: (random) => () => `${random.pick(WORDS)} `,
  chinese: (random) => () => random.pick(CHINESE),
  json: (random) => () => `{"${random.pick(WORDS)}":${random.below(1000)},"id":"${random.below(2 ** 30)}"},`,
  code: (random) => () => `${random.pick(CODE)}${random.pick([" ", "", WORDS[random.below(20)]])}`,
  base64: (random) => () => random.pick([...BASE64]),
  hexadecimal: (random) => () => random.below(256).toString(16).padStart(2, "0"),
  digits: (random) => () => String(random.below(10)),
  "spaces and signs": (random) => () => random.pick([..." \t\n.,;:-_/\\|<>[]{}()!?*&%$#@~^'\"`+="]),
  mixture: (random) => () => {
    const kind = random.pick(Object.keys(KINDS).filter((name) => name !== "mixture"));
    const piece = KINDS[kind](random);
    return times(1 + random.below(12), piece);
  },
  ...Object.fromEntries(
    Object.entries(SCRIPTS).map(([name, range]) => [
      `random ${name}`,
      (random: Random) => () => point(random, range),
    ]),
  ),
};

/** Not text: any bytes have a code. */
const RANDOM_BYTES = "random bytes";

export const VALUE_KINDS: readonly string[] = [...Object.keys(KINDS), RANDOM_BYTES];

/** At most `bytes` bytes, and at least 1; whole characters. */
export function makeValue({ kind, bytes, seed }: ValueName): Uint8Array {
  const random = seededRandom(seed);
  if (kind === RANDOM_BYTES) return random.bytes(bytes);
  const piece = KINDS[kind](random);
  let text = "";
  while (text.length < bytes) text += piece();
  const value = new Uint8Array(bytes);
  const { written } = new TextEncoder().encodeInto(text, value);
  return written > 0 ? value.slice(0, written) : Uint8Array.of(0x78);
}
