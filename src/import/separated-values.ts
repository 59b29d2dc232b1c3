/**
 * Comma-separated values (RFC 4180), also with semicolons or tabs. `label,value`, `key,value` and `name,value,date` are a
 * fact a row; a column with texts alone has sentences; in any other table a row is about what its first cell names, in the
 * group of the file's name.
 */

import type { FoundMemory } from "./findings.ts";
import { tableRow } from "./keyed-text.ts";
import { type LabelNames, NO_TOPIC, type Topic, topicOf } from "./label-names.ts";
import { GAP } from "./no-facts.ts";

const KEY_HEAD = /^(?:label|key|name|field|property|attribute|item|topic|question|setting)$/i;
const VALUE_HEAD =
  /^(?:value|content|memory|memories|text|fact|note|notes|answer|detail|details|description)$/i;
const GROUP_HEAD = /^(?:group|category|section|area|type)$/i;
const DATE_HEAD = /^(?:date|day|when)$/i;
/** What programs add to a row. */
const MACHINE_HEAD = /^(?:id|uuid|created|created_?at|updated|updated_?at|timestamp|user|user_?id|hash)$/i;
const THING_HEAD =
  /^(?:who|what|when|day|date|person|people|contact|first name|thing|place|account|subject|category|product|food|title|country|city|pet|project|tool|command)$/i;
/** What a program adds up. */
const SUM = /^(?:(?:grand |sub)?totals?|sum|summe|gesamt|subtotal)$/i;
/** Whose row may have a password in any column, and how one looks. */
const LOGIN = /\b(?:log-?in|sign-?in|account|credentials?|zugang|konto)\b/i;
const MADE_UP = /^(?=\S{0,60}\p{L})(?=\S{0,60}\d)(?=\S{0,60}[!#$%^&*?])\S{8,60}$/u;
const HEADS = [KEY_HEAD, VALUE_HEAD, GROUP_HEAD, DATE_HEAD, MACHINE_HEAD, /^source$/i];

interface Row {
  readonly line: number;
  readonly cells: readonly string[];
}

export function looksSeparated(text: string, name: string): boolean {
  const [first = ""] = text.split("\n", 1);
  return /\.(?:csv|tsv)$/i.test(name) || /^"?(?:label|key|name)"?[,;\t]"?value"?(?:[,;\t\r]|$)/i.test(first);
}

export function readSeparated(text: string, name: string, names: LabelNames): FoundMemory {
  const found: FoundMemory = { facts: [], leftOut: [] };
  const rows = rowsOf(text, separatorOf(text));
  const heads = (rows[0]?.cells ?? []).map((cell) => cell.trim());
  const isKnown =
    heads.some((head) => VALUE_HEAD.test(head)) &&
    heads.every((head) => HEADS.some((form) => form.test(head)));
  const isPair = heads.length === 2 && !isKnown && rows.length > 0 && !isHeader(rows);
  const body = isPair ? rows : rows.slice(1);
  const columns = isPair ? PAIR : columnsOf(heads, body, isKnown);
  const outer = isPair || isKnown ? NO_TOPIC : topicOf(name.replace(/\.[a-z]+$/i, ""));
  if (!isPair && rows.length > 0)
    found.leftOut.push({ line: 1, text: heads.join(", "), why: "the names of the columns" });
  for (const { line, cells } of body) {
    const at = (index: number) => (index < 0 ? "" : linesJoined(cells[index] ?? ""));
    const group = at(columns.group);
    const fact = factOf(columns, at, group === "" ? outer : topicOf(group), names);
    if ("label" in fact) found.facts.push({ line, ...fact });
    else found.leftOut.push({ line, text: cells.join(", "), why: fact.why });
  }
  return found;
}

interface Columns {
  readonly heads: readonly string[];
  /** Of no column: -1. */
  readonly group: number;
  readonly key: number;
  readonly date: number;
  readonly values: readonly number[];
}

const PAIR: Columns = { heads: [], group: -1, key: 0, date: -1, values: [1] };

/** What each column has. A first one that says the same in many rows, before one that does not, has groups. */
function columnsOf(heads: readonly string[], rows: readonly Row[], isKnown: boolean): Columns {
  const all = heads.map((_, i) => i).filter((i) => !MACHINE_HEAD.test(heads[i]));
  const column = (form: RegExp) => all.find((i) => form.test(heads[i])) ?? -1;
  const different = (i: number) => new Set(rows.map(({ cells }) => (cells[i] ?? "").trim())).size;
  const [first, second] = all;
  const isTopic = /^topic$/i.test(heads[first] ?? "") && different(first) < rows.length;
  const isRepeated = 3 * different(first) <= 2 * rows.length && different(second) > different(first);
  const isGrouped = isTopic || (all.length > 2 && isRepeated && !KEY_HEAD.test(heads[first]));
  const named = column(GROUP_HEAD);
  const group = all.length > 2 || isKnown ? (named < 0 && isGrouped ? first : named) : -1;
  const rest = all.filter((i) => i !== group);
  const keyed = rest.find((i) => KEY_HEAD.test(heads[i]));
  const key = keyed ?? (isKnown ? -1 : (rest[0] ?? -1));
  const date = isKnown ? column(DATE_HEAD) : -1;
  const values = rest.filter((i) => i !== key && i !== date);
  // A row may have more cells than there are columns.
  const width = Math.max(heads.length, ...rows.map(({ cells }) => cells.length));
  for (let i = heads.length; i < width; i++) values.push(i);
  return { heads, group, key, date, values };
}

type FoundRow =
  | { readonly label: string; readonly value: string; readonly isExact: boolean }
  | { readonly why: string };

function factOf(
  { heads, group, key, date, values }: Columns,
  at: (column: number) => string,
  topic: Topic,
  names: LabelNames,
): FoundRow {
  const name = at(key);
  const whole = name === "" ? undefined : names.whole(name);
  const [first = -1, ...more] = values;
  if (whole !== undefined && at(first) !== "") return { label: whole, value: at(first), isExact: true };
  if (SUM.test(name) || SUM.test(at(group))) return { why: "a sum" };
  if (GAP.test(name)) return { why: "it is a gap to fill in" };
  const isLogin = LOGIN.test(name);
  const headOf = (column: number) =>
    isLogin && MADE_UP.test(at(column)) ? "password" : (heads[column] ?? "");
  const cells = [first, ...(date < 0 ? [] : [date]), ...more];
  // The date stands behind the value that it is of, and what is called a value needs no name among others.
  const isDated = at(date) !== "" && at(first) !== "" && !GAP.test(at(first));
  const isPlain = cells.length > 1 && VALUE_HEAD.test(headOf(first));
  const row = tableRow(
    [headOf(key), ...cells.map((column) => (column === first && isPlain ? "" : headOf(column)))],
    [
      name === "" ? "-" : name,
      ...cells.map((column) => {
        if (column === first && isDated) return `${at(first)} (${at(date)})`;
        return column === date && isDated ? "" : at(column);
      }),
    ],
  );
  if (!("why" in row))
    return {
      ...(name === "" ? names.sentence(row.value, topic) : names.keyed(row.key, row.value, topic)),
      isExact: false,
    };
  // A name in a group says something alone.
  return at(group) === "" || name === "" ? row : { ...names.sentence(name, topic), isExact: false };
}

/** Whether the first of rows with two cells names the columns, by its words, or because only it has no digits. */
function isHeader([first, ...rest]: readonly Row[]): boolean {
  const [one, other] = first.cells.map((cell) => cell.trim());
  if (/\d|^$/.test(one) || /\d|^$/.test(other)) return false;
  return (
    THING_HEAD.test(one) ||
    KEY_HEAD.test(one) ||
    (rest.length > 1 && rest.every(({ cells }) => /\d/.test(cells[1] ?? "")))
  );
}

function separatorOf(text: string): string {
  const [first = ""] = text.split("\n", 1);
  const count = (separator: string) => first.split(separator).length;
  return [",", ";", "\t"].reduce((best, one) => (count(one) > count(best) ? one : best));
}

/** The lines of a cell as one: where the next begins as a sentence or a name does, it is another thing. */
function linesJoined(cell: string): string {
  let joined = "";
  for (const line of cell.split("\n").map((one) => one.trim())) {
    const isNext = joined !== "" && /^[\p{Lu}\d]/u.test(line) && !/[,;:.!?]$/.test(joined);
    joined = `${joined}${isNext ? ";" : ""} ${line}`.trim();
  }
  return joined;
}

/** The rows that have anything, each with the line on which it begins. */
function rowsOf(text: string, separator: string): Row[] {
  const rows: Row[] = [];
  let cells: string[] = [];
  let [cell, line, start, isQuoted] = ["", 1, 1, false];
  const endRow = () => {
    cells.push(cell);
    if (cells.some((one) => one.trim() !== "")) rows.push({ line: start, cells });
    cells = [];
    cell = "";
  };
  for (let i = 0; i < text.length; i++) {
    const character = text[i];
    if (character === "\n") line++;
    if (isQuoted) {
      if (character !== '"') cell += character;
      else if (text[i + 1] === '"') cell += text[++i];
      else isQuoted = false;
    } else if (character === '"' && cell.trim() === "") {
      cell = "";
      isQuoted = true;
    } else if (character === separator) {
      cells.push(cell);
      cell = "";
    } else if (character === "\n") {
      endRow();
      start = line;
    } else if (character !== "\r") cell += character;
  }
  endRow();
  return rows;
}
