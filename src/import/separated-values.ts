/**
 * Comma-separated values (RFC 4180), also with semicolons or tabs. `label,value`, `key,value` and `name,value,date` are a
 * fact a row; a column with texts alone has sentences; in any other table a row is about what its first cell names, in the
 * group of the file's name.
 */

import type { FoundMemory } from "./findings.ts";
import { type LabelNames, NO_TOPIC, type Topic, topicOf } from "./label-names.ts";
import { tableRow } from "./table-rows.ts";

const KEY_HEAD = /^(?:label|key|name|field|property|attribute|item|topic|question|setting)$/i;
const VALUE_HEAD =
  /^(?:value|content|memory|memories|text|fact|note|notes|answer|detail|details|description)$/i;
const GROUP_HEAD = /^(?:group|category|section|area|type)$/i;
const DATE_HEAD = /^(?:date|day|when)$/i;
/** What programs add to a row. */
const MACHINE_HEAD =
  /^(?:id|uuid|created|created_?at|updated|updated_?at|timestamp|user|user_?id|source|hash)$/i;
const THING_HEAD =
  /^(?:who|what|when|day|date|person|people|contact|first name|thing|place|account|subject|category|product|food|title|country|city|pet|project|tool|command)$/i;
const HEADS = [KEY_HEAD, VALUE_HEAD, GROUP_HEAD, DATE_HEAD, MACHINE_HEAD];

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
  const column = (form: RegExp) => heads.findIndex((head) => form.test(head));
  const [key, value, group, date] = [KEY_HEAD, VALUE_HEAD, GROUP_HEAD, DATE_HEAD].map(column);
  const isKnown = value >= 0 && heads.every((head) => HEADS.some((form) => form.test(head)));
  const isPair = heads.length === 2 && !isKnown && rows.length > 0 && !isHeader(rows);
  if (!isPair && rows.length > 0)
    found.leftOut.push({ line: 1, text: heads.join(", "), why: "the names of the columns" });
  for (const { line, cells } of isPair ? rows : rows.slice(1)) {
    const at = (index: number) => (index < 0 ? "" : (cells[index] ?? "").trim());
    const topic: Topic = at(group) === "" ? NO_TOPIC : topicOf(at(group));
    const leave = (why: string) => found.leftOut.push({ line, text: cells.join(", "), why });
    const add = (fact: { label: string; value: string }, isExact = false) =>
      found.facts.push({ line, ...fact, isExact });
    const when = at(date) === "" ? "" : ` (${at(date)})`;
    const row = isPair || !isKnown ? tableRow(isPair ? [] : heads, cells) : undefined;
    if (cells.every((cell) => cell.trim() === "")) leave("it is empty");
    else if (row !== undefined)
      if ("why" in row) leave(row.why);
      else add(names.keyed(row.key, row.value, isPair ? NO_TOPIC : topicOf(name.replace(/\.[a-z]+$/i, ""))));
    else if (at(value) === "") leave("it is empty");
    else if (at(key) === "") add(names.sentence(at(value) + when, topic));
    else {
      const whole = names.whole(at(key));
      add(
        whole === undefined
          ? names.keyed(at(key), at(value) + when, topic)
          : { label: whole, value: at(value) },
        whole !== undefined,
      );
    }
  }
  return found;
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
