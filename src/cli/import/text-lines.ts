/**
 * Notes as text: CLAUDE.md, AGENTS.md, an assistant's memory that somebody pasted, lines `LABEL=value`, and the section
 * that `sideband export --as markdown` writes. A line is a fact if it has a key: `PREF.tone=dry`, `- **Tone:** dry`. What
 * stands after `=` is taken exactly, after `:` without Markdown's marks.
 *
 * In fenced blocks, in front matter and in lists inside a list only whole labels count: their keys are about something
 * else. Blank lines, rules, fences and comments say nothing, and are not listed.
 */

import { unescapeText } from "../../agent-side/escaped-text.ts";
import type { PlaceKind } from "../../contract/answers.ts";
import type { Finding, FoundMemory } from "./findings.ts";
import type { LabelNames, Topic } from "./label-names.ts";
import { SECTION_BEGIN, SECTION_END, SECTION_FENCE } from "./markdown-section.ts";

const PLACE_LINE = /^# (person|project|worktree)$/;
const UNTIL_LINE = /^# until (\S+)$/;

const KEY_LENGTH_MAX = 30;
const NO_LABEL = "no label says what it is";
const HEADING = "a heading";
const PRIVATE = "it is <private>";
const PLACEHOLDER = "it is a gap to fill in";
const OTHER_FILE = "it names another file: import that one, too";

/** Only whole labels count. */
const WHOLE_LABELS: Topic = new Set();

const EXACT = /^\s*(?:[-*+]\s+)?([A-Za-z][A-Za-z0-9_]{0,15}\.[A-Za-z0-9_]{1,48})=(.*)$/;
const BULLET = /^\s*(?:(?:[-*+•]|\d{1,3}[.)])\s+)?(?:\[[ xX]\]\s+)?/;
/** As assistants write it before a memory: "[2026-01-31] - ". */
const DATE = /^\[(?:[\d-]{4,10}|unknown)\]\s{0,4}[-–—:]\s{0,4}/i;
const MARKED_KEY = /^(\*\*|__|`)([^*_`:=]{1,64})(?:[:=]\1\s|\1\s{0,4}[:=])\s*(.*)$/;
const PLAIN_KEY = /^([A-Za-z][\w. -]{0,63}?)\s{0,4}(?::(?=\s|$)|=)(.*)$/;
const MARKED_VALUE = /^(\*\*|`)(.+)\1$/;
const GAP = /^(?:\[[^\]]*\]|<[^>]*>|none|unknown|n\/a|tbd|todo|null|\?+|-+|…)?$/i;
/** A heading, or a line that stands for one: `**Family**`, `Family:`. */
const HEADING_LINE = /^ {0,3}#{1,6} (.+)$|^(?:\*\*|__)([^*_]+)(?:\*\*|__):?\s*$|^([^\s*+-][^:=]{0,80}):\s*$/;
const TITLE = /^ {0,3}# /;
const INDENTED = /^(?: {2}|\t)/;
const SILENT = /^(?:[-*_=]{3,}|\|[\s|:-]*\||<!--.*-->)?$/;
const FENCE = /^\s*(`{3,}|~{3,})\s*(\S*)/;

type KeyedLine = { readonly label: string; readonly value: string } | { readonly why: string };

/** A line as a fact, or why it is none. */
function keyedLine(line: string, names: LabelNames, topic: Topic): KeyedLine {
  const exact = EXACT.exec(unquoted(line));
  const known = exact === null ? undefined : names.find(exact[1], WHOLE_LABELS);
  if (exact !== null && known !== undefined)
    return "why" in known ? known : { label: known.label, value: exact[2] };
  const item = line.replace(BULLET, "").replace(DATE, "");
  if (/^@\S+$/.test(item)) return { why: OTHER_FILE };
  const split = splitKey(item);
  if (split === undefined) return { why: NO_LABEL };
  const found = names.find(split.key, topic);
  if (found === undefined) return { why: noLabelCalled(split.key) };
  if ("why" in found) return found;
  const value = withoutMarks(split.rest.trim());
  return GAP.test(value) ? { why: PLACEHOLDER } : { label: found.label, value };
}

export function noLabelCalled(key: string): string {
  return key.length <= KEY_LENGTH_MAX ? `no label is called "${key}"` : NO_LABEL;
}

function splitKey(item: string): { readonly key: string; readonly rest: string } | undefined {
  const marked = MARKED_KEY.exec(item);
  if (marked !== null) return { key: marked[2].trim(), rest: marked[3] };
  const plain = PLAIN_KEY.exec(item);
  return plain === null ? undefined : { key: plain[1].trim(), rest: plain[2] };
}

/** An item that is code as a whole, `- `PREF.tone=dry``, without its quotes. */
function unquoted(line: string): string {
  const found = /^\s*(?:[-*+]\s+)?`([^`]+)`\s*$/.exec(line);
  return found === null ? line : found[1];
}

function withoutMarks(value: string): string {
  const found = MARKED_VALUE.exec(value);
  return found === null || found[2].includes(found[1]) ? value : found[2];
}

/** Where a line stands. */
interface Surroundings {
  /** The fence that is open, and what it says its content is. */
  fence: { readonly marks: string; readonly info: string } | undefined;
  isFrontMatter: boolean;
  /** In a section of ours, where only the fenced block counts. */
  isSection: boolean;
  isPrivate: boolean;
  /** Whether there was a heading. */
  isBegun: boolean;
  topic: Topic;
  scope: PlaceKind | undefined;
  expiresAt: string | undefined;
}

export function readTextLines(text: string, names: LabelNames): FoundMemory {
  const found: FoundMemory = { facts: [], leftOut: [] };
  readLines(text, (i) => ({ line: i + 1 }), names, undefined, found);
  return found;
}

/** A text inside another format, of which is known what it is about. */
export function readPiece(
  text: string,
  at: Finding,
  names: LabelNames,
  topic: Topic,
  found: FoundMemory,
): void {
  readLines(text, () => at, names, topic, found);
}

function readLines(
  text: string,
  placeOf: (index: number) => Finding,
  names: LabelNames,
  topic: Topic,
  found: FoundMemory,
): void {
  const around: Surroundings = {
    fence: undefined,
    isFrontMatter: false,
    isSection: false,
    isPrivate: false,
    isBegun: false,
    topic,
    scope: undefined,
    expiresAt: undefined,
  };
  for (const [i, line] of text.split(/\r?\n/).entries()) {
    if (isStructure(line, i, around)) continue;
    const at = placeOf(i);
    const isForeign = around.fence !== undefined || around.isFrontMatter || INDENTED.test(line);
    if (around.fence?.info === SECTION_FENCE) readSectionLine(line, at, names, around, found);
    else if (isPrivateLine(line, around)) found.leftOut.push({ ...at, text: "(not shown)", why: PRIVATE });
    else if (isHeading(line, names, around)) found.leftOut.push({ ...at, text: line.trim(), why: HEADING });
    else addLine(line, at, names, isForeign ? WHOLE_LABELS : around.topic, found);
  }
}

/** A heading says what the lines below it are about. */
function isHeading(line: string, names: LabelNames, around: Surroundings): boolean {
  const heading = around.fence === undefined ? HEADING_LINE.exec(line) : null;
  if (heading === null) return false;
  const topic = names.topicOf(heading[1] ?? heading[2] ?? heading[3]);
  // The title of a text begins no part of it, unless it says what all of it is about.
  if (around.isBegun || !TITLE.test(line) || topic?.size !== 0) around.topic = topic;
  around.isBegun = true;
  return true;
}

function addLine(line: string, at: Finding, names: LabelNames, topic: Topic, found: FoundMemory): void {
  const keyed = keyedLine(line, names, topic);
  if ("why" in keyed) found.leftOut.push({ ...at, text: line.trim(), why: keyed.why });
  else found.facts.push({ ...at, ...keyed });
}

/** Whether a line is a mark of Markdown and nothing else. */
function isStructure(line: string, index: number, around: Surroundings): boolean {
  const fence = FENCE.exec(line);
  if (fence !== null && around.fence === undefined) {
    around.fence = { marks: fence[1], info: fence[2] };
    around.scope = undefined;
    return true;
  }
  if (
    fence !== null &&
    around.fence !== undefined &&
    fence[1].startsWith(around.fence.marks) &&
    fence[2] === ""
  ) {
    around.fence = undefined;
    return true;
  }
  if (/^---\s*$/.test(line) && (index === 0 || around.isFrontMatter)) around.isFrontMatter = index === 0;
  if (around.fence === undefined && line === SECTION_BEGIN) around.isSection = true;
  else if (around.fence === undefined && line === SECTION_END) around.isSection = false;
  return SILENT.test(line.trim()) || (around.isSection && around.fence === undefined);
}

function isPrivateLine(line: string, around: Surroundings): boolean {
  const opens = line.toLowerCase().lastIndexOf("<private>");
  const closes = line.toLowerCase().lastIndexOf("</private>");
  const wasPrivate = around.isPrivate;
  if (opens >= 0 || closes >= 0) around.isPrivate = opens > closes;
  // A line that opens and closes it has other parts, too: what is private of a value is cut where it is kept.
  return wasPrivate || around.isPrivate;
}

/** A line of an exported section: its value is spelled as in a prompt. */
function readSectionLine(
  line: string,
  at: Finding,
  names: LabelNames,
  around: Surroundings,
  found: FoundMemory,
): void {
  const place = PLACE_LINE.exec(line);
  const until = UNTIL_LINE.exec(line);
  if (place !== null) around.scope = place[1] as PlaceKind;
  else if (until !== null) around.expiresAt = until[1];
  else {
    const keyed = keyedLine(line, names, WHOLE_LABELS);
    const { scope, expiresAt } = around;
    if ("why" in keyed) found.leftOut.push({ ...at, text: line.trim(), why: keyed.why });
    else found.facts.push({ ...at, label: keyed.label, value: unescapeText(keyed.value), scope, expiresAt });
    around.expiresAt = undefined;
  }
}
