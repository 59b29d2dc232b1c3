/**
 * The regular expressions of src, and hostile texts for each. An expression that tries again from every place of a long
 * run takes time with the square of the text: a prompt with 40,000 line breaks, or a value, then stops a service.
 *
 * The texts are made of an expression's own letters and words, repeated, alone and in pairs, with an end that spoils
 * the match. Quick ones are passed over; the others are timed at two lengths.
 */

import { TAG } from "../../src/agent-side/escaped-text.ts";
import { beginningOf } from "../../src/agent-side/pattern-beginning.ts";
import { SECRET_PATTERNS } from "../../src/agent-side/secret-patterns.ts";
import { HIDDEN_CHARACTER, HIDDEN_CHARACTERS } from "../../src/base/hidden-characters.ts";
import { PIECES } from "../../src/memory/token-count.ts";
import type { SourceFile } from "./rules.ts";

export interface Expression {
  readonly where: string;
  readonly expression: RegExp;
}

/** What `new RegExp` makes, by file: the arguments are known only when the program runs. */
const CONSTRUCTED: Readonly<Record<string, readonly RegExp[]>> = {
  "src/base/hidden-characters.ts": [new RegExp(`[${HIDDEN_CHARACTERS}]`, "gu"), HIDDEN_CHARACTER],
  "src/agent-side/escaped-text.ts": [TAG],
  "src/agent-side/secrets.ts": SECRET_PATTERNS.flatMap(({ pattern }) =>
    [pattern, beginningOf(pattern)].map((source) => new RegExp(source, "i")),
  ),
  // The patterns of schemas, which are collected where they are written.
  "src/contract/validation.ts": [],
  "src/http/request/router.ts": [/^\/admin\/keys\/([^/]+)\/([^/]+)$/],
  "src/main/local-page.ts": [/^\/channels\/[^/]+$/],
  "src/memory/identifiers.ts": [/^[\x21-\x7e]{1,128}$/],
  "src/memory/token-count.ts": [PIECES],
};

/** The expressions of a file: literals, patterns of schemas, and what CONSTRUCTED says. Throws where that says nothing. */
export function expressionsIn({ path, text }: SourceFile): Expression[] {
  const found = literalsIn(text).map(({ at, source, flags }) => ({
    where: `${path}:${text.slice(0, at).split("\n").length}`,
    expression: new RegExp(source, flags),
  }));
  const made = CONSTRUCTED[path];
  if (made !== undefined) return [...found, ...made.map((expression) => ({ where: path, expression }))];
  if (/\bRegExp\(/.test(text))
    throw new Error(`${path} makes a RegExp: say in test/tidy/expressions.ts which`);
  const patterns = text.matchAll(/\bpattern: ("(?:[^"\\\n]|\\.)*")/g);
  return [
    ...found,
    ...Array.from(patterns, ([, quoted]) => ({
      where: path,
      expression: new RegExp(JSON.parse(quoted), "u"),
    })),
  ];
}

const COMMENT = /\/\/.*|\/\*[\s\S]*?\*\//y;
const LITERAL = /\/((?:[^/\\[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+)\/([dgimsuvy]*)(?![\w$])/y;
/** A part of a template: to its end, or to a value in it. */
const TEMPLATE = /(?:[^`\\$]|\\[\s\S]|\$(?!\{))*(?:`|\$\{)/y;
const TOKEN = /"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|[\w$]+|\s+|=>|[\s\S]/y;
/** After these a slash begins an expression; after a name, a number, a bracket or a tag it divides or closes. */
const BEFORE_LITERAL = /^(?:[(,=:[!&|?{};+*%~^-]|=>|return|typeof|case|of|in|)$/;

function literalsIn(text: string): { at: number; source: string; flags: string }[] {
  const found: { at: number; source: string; flags: string }[] = [];
  /** For each template that we are in a value of: how many braces are open in the value. */
  const open: number[] = [];
  let at = 0;
  let before = "";
  const take = (form: RegExp): RegExpExecArray | null => {
    form.lastIndex = at;
    const match = form.exec(text);
    if (match !== null) at = form.lastIndex;
    return match;
  };
  const takeTemplate = () => {
    const hasValue = take(TEMPLATE)?.[0].endsWith("${") === true;
    if (hasValue) open.push(0);
    before = hasValue ? "(" : "`";
  };
  while (at < text.length) {
    if (take(COMMENT) !== null) continue;
    const start = at;
    const literal = text[at] === "/" && BEFORE_LITERAL.test(before) ? take(LITERAL) : null;
    if (literal !== null) {
      found.push({ at: start, source: literal[1], flags: literal[2] });
      before = "/";
      continue;
    }
    const token = take(TOKEN)?.[0] ?? "";
    if (token === "{" && open.length > 0) open[open.length - 1] += 1;
    if (token === "}" && open.length > 0) open[open.length - 1] -= 1;
    if (token === "`") takeTemplate();
    else if (token === "}" && open.at(-1) === -1) {
      open.pop();
      takeTemplate();
    } else if (token.trim() !== "") before = token;
  }
  return found;
}

const LENGTH = 2_000;
const LENGTH_FACTOR = 4;
const QUICK_MS = 1;
const FLOOR_MS = 20;
/** Linear work grows by 4, quadratic work by 16. */
const GROWTH_MAX = 12;
/** An expression that takes exponential or cubic time shows it at one of these, and would not end on a longer text. */
const SHORT_LENGTHS = [16, 20, 24, 28, 32, 40, 100, 400, 1_000];
const RUNS = 3;
const ROUNDS = 3;

/** How much longer a piece of work takes on a text four times as long, if it is clearly more than four times as long. */
export function growthFault(
  work: (text: string) => unknown,
  make: (length: number) => string,
): string | undefined {
  const long = SHORT_LENGTHS.find((length) => timeMs(work, make(length), 3, FLOOR_MS) > FLOOR_MS);
  if (long !== undefined) return `more than ${FLOOR_MS} ms for ${long} characters`;
  const text = make(LENGTH);
  let fault: string | undefined;
  // A busy machine can make a text look slow once.
  for (let round = 0; round < ROUNDS; round++) {
    const shortMs = timeMs(work, text, RUNS, QUICK_MS);
    if (shortMs < QUICK_MS) return undefined;
    const longMs = timeMs(work, make(LENGTH * LENGTH_FACTOR), 1);
    if (longMs < FLOOR_MS || longMs <= shortMs * GROWTH_MAX) return undefined;
    fault = `${shortMs.toFixed(1)} ms for ${LENGTH} characters, ${longMs.toFixed(1)} ms for ${LENGTH * LENGTH_FACTOR}`;
  }
  return fault;
}

/** The processor time of the shortest of some runs; the first that is short enough ends them. */
function timeMs(work: (text: string) => unknown, text: string, runs: number, enoughMs = 0): number {
  // The clock never shows less, and is asked in a fraction of the time.
  if (enoughMs > 0) {
    const startMs = performance.now();
    work(text);
    const shownMs = performance.now() - startMs;
    if (shownMs <= enoughMs) return shownMs;
  }
  let bestMs = Number.POSITIVE_INFINITY;
  for (let run = 0; run < runs && bestMs > enoughMs; run++) {
    const start = process.cpuUsage();
    work(text);
    const { user, system } = process.cpuUsage(start);
    bestMs = Math.min(bestMs, (user + system) / 1_000);
  }
  return bestMs;
}

/** An expression that is used as it is: for all matches, or for the first. */
export function expressionFault({ where, expression }: Expression): string | undefined {
  // Not by replace, whose matches V8 keeps for the next time.
  const all = (text: string) => {
    expression.lastIndex = 0;
    for (let match = expression.exec(text); match !== null; match = expression.exec(text)) {
      if (match[0] === "") expression.lastIndex += 1;
    }
  };
  const work = expression.global ? all : (text: string) => expression.test(text);
  for (const { start, unit, end } of hostileParts(expression.source)) {
    // A word is repeated half as often as a letter: it is the places to begin at that count.
    const make = (length: number) => start + unit.repeat(length / Math.min(2, unit.length)) + end;
    const fault = growthFault(work, make);
    if (fault !== undefined)
      return `${where}: ${String(expression).slice(0, 100)} on ${JSON.stringify(`${start}${unit}`)}…: ${fault}`;
  }
  return undefined;
}

/** Letters that most expressions have a class for. */
const USUAL = ["a", "0", " ", "\n", "-", ".", "/"];
/** No expression takes it for a part of what it looks for. */
const SPOILER = "\0";
/** Of more units than this not every pair is tried, only those with a usual letter. */
const PAIRED_MAX = 24;

function* hostileParts(source: string): Generator<{ start: string; unit: string; end: string }> {
  const { words, letters } = partsOf(source);
  const units = [...new Set([...words, ...letters, ...USUAL])];
  const seconds = units.length <= PAIRED_MAX ? units : USUAL;
  for (const unit of units) {
    yield { start: "", unit, end: "" };
    yield { start: "", unit, end: SPOILER };
    for (const second of seconds) if (second !== unit) yield { start: "", unit: unit + second, end: SPOILER };
  }
  for (const start of words) for (const unit of seconds) yield { start, unit, end: SPOILER };
}

/** The literal words and the single letters in the source of an expression, classes included. */
function partsOf(source: string): { words: string[]; letters: string[] } {
  const token =
    /\\u\{([0-9a-f]+)\}|\\u([0-9a-f]{4})|\\x([0-9a-f]{2})|\\([nrt])|\\[bBdDsSwWpP](?:\{\w+\})?|\\(.)|\{\d*,?\d*\}|\(\?[:=!<]+|([[\]()|*+?^$.])|(.)/gisu;
  const names: Readonly<Record<string, string>> = { n: "\n", r: "\r", t: "\t" };
  const words = [""];
  const letters = new Set<string>();
  for (const [, brace, unicode, hex, name, escaped, sign, plain] of source.matchAll(token)) {
    const code = brace ?? unicode ?? hex;
    const letter =
      code === undefined
        ? (names[name] ?? escaped ?? plain)
        : String.fromCodePoint(Number.parseInt(code, 16));
    if (letter === undefined) words.push("");
    else {
      words[words.length - 1] += letter;
      letters.add(letter);
    }
    if (sign !== undefined) words.push("");
  }
  return { words: [...new Set(words.filter((word) => word.length > 1))], letters: [...letters] };
}
