/**
 * A line with a key: `Tone: dry`, `**Tone** – dry`, `tone = dry`, and `PREF.tone=dry`, whose value is taken exactly. A key
 * is a few words: what is longer is a sentence with a colon, and what calls attention ("Note: …") is none. And a row of a
 * table, of Markdown or of comma-separated values.
 */

import { GAP } from "./no-facts.ts";

const KEY_LENGTH_MAX = 40;
const KEY_WORDS_MAX = 5;

const EXACT = /^\s*(?:[-*+]\s+)?`?([A-Za-z][A-Za-z0-9_]{0,15}\.[A-Za-z0-9_]{1,48})=(.*)$/;
const MARKED = /^(\*\*|__)([^*_`]{1,64}?)(?::\1|\1\s{0,4}(?:[:=]|\s[-–—]|[–—]))\s+(.*)$/;
const PLAIN = /^([^:=`"“<>[\]{}|]{1,64}?)\s{0,4}(?:[:：](?=\s|$)|=(?![=>]))\s{0,4}(.*)$/;
const CALLS =
  /^(?:note|note to self|nb|n\.b\.|ps|p\.s\.|important|reminder|remember|to ?do|tip|warning|caution|update|edit|fyi|question|also|example|e\.g\.|i\.e\.|hint|attention|idea|fixme|q|a)$/i;

export interface KeyedText {
  readonly key: string;
  readonly value: string;
}

/** `LABEL=value`: the label as it is spelled, and all that stands behind the sign. */
export function exactLine(line: string): KeyedText | undefined {
  const found = EXACT.exec(line);
  if (found === null) return undefined;
  const isQuoted = /^\s*(?:[-*+]\s+)?`/.test(line);
  if (isQuoted && !/`\s*$/.test(found[2])) return undefined;
  return { key: found[1], value: isQuoted ? found[2].replace(/`\s*$/, "") : found[2] };
}

export function keyOf(text: string): KeyedText | undefined {
  const marked = MARKED.exec(text);
  const [key, value] = marked === null ? (PLAIN.exec(text)?.slice(1) ?? []) : marked.slice(2);
  if (key === undefined || CALLS.test(key.trim())) return undefined;
  const words = key.trim().split(/\s+/);
  // A sentence may have a colon, and an address has one.
  if (key.length > KEY_LENGTH_MAX || words.length > KEY_WORDS_MAX || /[.!?;]\s|[,;]$/.test(key))
    return undefined;
  return /[\p{L}\p{N}]/u.test(key) ? { key: key.trim(), value: value.trim() } : undefined;
}

const GENERAL_HEAD =
  /^(?:values?|descriptions?|details?|notes?|settings?|answers?|info|content|text|what|meaning|facts?|memory|comments?|)$/i;
const NUMBER_HEAD = /^(?:#|no\.?|nr\.?|id|number)$/i;

type TableRow = KeyedText | { readonly why: string };

/** @param header may be empty */
export function tableRow(header: readonly string[], allCells: readonly string[]): TableRow {
  // A number of the row says nothing.
  const start = NUMBER_HEAD.test(header[0]?.trim() ?? "-") && allCells.length > 2 ? 1 : 0;
  const cells = allCells.slice(start);
  const heads = header.slice(start).map((head) => head.trim());
  const [name = "", ...rest] = cells.map((cell, i) => (i > 0 && GAP.test(cell.trim()) ? "" : cell.trim()));
  // "45" is the week 45 where the column says so.
  const key = /^\d/.test(name) && heads.length > 0 ? `${heads[0]} ${name}`.trim() : name;
  if (key === "")
    return { why: rest.every((cell) => cell === "") ? "it is empty" : "its first cell is empty" };
  const filled = rest.flatMap((cell, i) => (cell === "" ? [] : [{ head: heads[i + 1] ?? "", cell }]));
  if (filled.length === 0) return { why: "it is empty" };
  const [first] = filled;
  if (rest.length === 1)
    return { key: GENERAL_HEAD.test(first.head) ? key : `${key} ${first.head}`, value: first.cell };
  return { key, value: filled.map(({ head, cell }) => (head === "" ? cell : `${head}: ${cell}`)).join("; ") };
}
