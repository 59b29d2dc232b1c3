/**
 * Notes as text: CLAUDE.md, AGENTS.md, plain notes, an assistant's memory that somebody pasted, lines `LABEL=value`, and the
 * section that `sideband export --as markdown` writes. Every line that says something becomes a fact: `- Wife: Grace` by
 * its key, a sentence by its first words, in the group of the heading above it. A line below another one in a list keeps
 * what it is about. What is left out has a reason; blank lines, rules and fences are not listed.
 */

import { unescapeText } from "../agent-side/escaped-text.ts";
import type { PlaceKind } from "../contract/answers.ts";
import { type CodeLine, codeLines } from "./code-lines.ts";
import type { Finding, FoundMemory } from "./findings.ts";
import { exactLine, type KeyedText, keyOf, tableRow } from "./keyed-text.ts";
import { isGeneral, type LabelNames, NO_TOPIC, type Topic, topicBelow, topicOf } from "./label-names.ts";
import { SECTION_BEGIN, SECTION_END, SECTION_FENCE } from "./markdown-section.ts";
import { GAP, reasonOfNoFacts } from "./no-facts.ts";
import { isStatement, isTitle } from "./text-headings.ts";
import { HEADING, plainText, type TextLine, type TextPart } from "./text-parts.ts";
import { textParts } from "./text-structure.ts";
import { yamlParts } from "./yaml-parts.ts";

const PLACE_LINE = /^# (person|shared|own|project|worktree)$/;
const UNTIL_LINE = /^# until (\S+)$/;

const PLACEHOLDER = "it is a gap to fill in";
const EMPTY = "it is empty";
const TASKS = /^(?:to[- ]?dos?|to[- ]?do list|reminders?)$/i;
const LINK = "a link, and nothing says what to";
const DONE = "it is done";
/** A heading of what does not count any more. */
const IGNORED =
  /\b(?:ignore|ignorieren|nicht beachten|ignorer|ignorar|ignorare|negeren|outdated|obsolete|veraltet)\b/i;
const TO_IGNORE = "its heading says to ignore it";
/** As assistants write it before a memory: "[2026-01-31] - ", "[2026-01-31]. ". */
const DATE = /^\[(?:[\d-]{4,10}|unknown)\][\s.:–—-]{1,4}/i;
const CHECKBOX = /^\[([ xX✓✔])\]\s+/;
const OTHER_KEY = /[,;.]\s+\p{L}[\p{L}'’-]{1,24}\s?:\s/u;
const MY_NAME =
  /^(?:[Mm]y|(?:[Tt]he )?[Uu]ser['’]s) (?:full )?name is (\p{Lu}[\p{L}'’-]*(?: \p{Lu}[\p{L}'’-]*){0,3})\.?$/u;

/** "AGENTS.md - loom" is about loom. */
const FILE_NAME = /^[A-Z]+\.md\s*[-–—:]\s*/;

type Heading = TextPart & { readonly kind: "heading" };

/** A list or a heading that lines stand below. */
interface ListItem {
  readonly indent: number;
  readonly topic: Topic;
}

/** @param name of the file, which tells Markdown from other text */
export function readTextLines(text: string, name: string, names: LabelNames): FoundMemory {
  const found: FoundMemory = { facts: [], leftOut: [] };
  const isMarkdown = /\.(?:md|mdc|markdown)$/i.test(name);
  const isYaml = /\.ya?ml$/i.test(name);
  const parts = isYaml ? yamlParts(text) : textParts(withoutSections(text), isMarkdown);
  new TextReader(names, found, (line) => ({ line }), NO_TOPIC).read(parts);
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
  new TextReader(names, found, () => at, topic).read(textParts(text, false));
}

/** Of a section of ours only the fenced block counts. */
function withoutSections(text: string): string {
  let isSection = false;
  let isFenced = false;
  return text
    .split("\n")
    .map((line) => {
      const bare = line.trimEnd();
      if (bare === SECTION_BEGIN) isSection = true;
      const isKept = !isSection || isFenced || bare.startsWith("```");
      if (isSection && bare.startsWith("```")) isFenced = !isFenced;
      if (bare === SECTION_END && !isFenced) isSection = false;
      return isKept ? line : "";
    })
    .join("\n");
}

class TextReader {
  readonly #names: LabelNames;
  readonly #found: FoundMemory;
  readonly #placeOf: (line: number) => Finding;
  readonly #outer: Topic;
  #headings: Heading[] = [];
  #title: string | undefined;
  #list: ListItem[] = [];
  /** Something stands below the last heading. */
  #isBegun = false;
  #firstIndent = 0;
  /** The last line was of a list, and no task. */
  #wasListed = false;
  /** The first lines of records (`Name: Ada`, and what is said of her below), and the one that the present line is of. */
  #records: ReadonlySet<TextPart> = new Set();
  #record: string | undefined;
  #code: ReadonlyMap<TextPart, CodeLine> = new Map();
  #scope: PlaceKind | undefined;
  #expiresAt: string | undefined;

  constructor(names: LabelNames, found: FoundMemory, placeOf: (line: number) => Finding, outer: Topic) {
    this.#names = names;
    this.#found = found;
    this.#placeOf = placeOf;
    this.#outer = outer;
  }

  read(parts: readonly TextPart[]): void {
    const title = titleOf(parts);
    this.#records = recordStarts(parts);
    this.#code = codeLines(parts);
    for (const [i, part] of parts.entries()) {
      if (part.kind !== "line") this.#record = undefined;
      if (part.kind === "heading") this.#readHeading(part, part === title);
      else if (part.kind === "line") this.#readLine(part, parts, i);
      else if (part.kind === "row") this.#readRow(part);
      else if (part.kind === "code" && part.fence === SECTION_FENCE)
        this.#readSectionLine(part.line, part.text);
      else if (part.kind === "code") this.#readCode(part);
      else if (part.kind === "nothing") this.#leave(part.line, part.text, part.why);
      // A line across ends what the headings above it are about.
      else if (part.isRule === true) this.#headings = [];
      else this.#endColonHeading(parts[i + 1]);
    }
  }

  #leave(line: number, text: string, why: string): void {
    this.#found.leftOut.push({ ...this.#placeOf(line), text, why });
  }

  #readHeading(heading: Heading, isTitle: boolean): void {
    const { line, text, level } = heading;
    this.#leave(line, text, HEADING);
    this.#list = [];
    this.#isBegun = false;
    this.#wasListed = false;
    this.#scope = undefined;
    if (isTitle) this.#title = text.replace(FILE_NAME, "");
    else this.#headings = [...this.#headings.filter((one) => one.level < level), heading];
  }

  /** The lines below `Family:` end where its list or paragraph ends. */
  #endColonHeading(next: TextPart | undefined): void {
    const last = this.#headings.at(-1);
    // A list goes on over blank lines, a paragraph does not.
    const isFollowed = next?.kind === "line" && next.isListed && this.#list.length > 0;
    if (last?.isShort === true && this.#isBegun && !isFollowed) this.#headings.pop();
  }

  /** What the headings say that a line is about. */
  #topic(): Topic {
    const told = this.#headings.filter(({ text }) => !isGeneral(text));
    if (told.length === 0) {
      const isUnderTitle = this.#headings.length === 0 && this.#title !== undefined;
      return isUnderTitle && this.#outer === NO_TOPIC ? topicOf(this.#title!) : this.#outer;
    }
    let topic = this.#outer;
    for (const { text, isShort } of told) {
      // Tasks are not of the kind of thing that they stand below.
      if (TASKS.test(text)) topic = this.#outer;
      const words = text.split(/\s+/).length;
      const isGroup =
        topic.group === undefined &&
        topic.above.length === 0 &&
        !(isShort === true && (words > 3 || !isTitle(text)));
      topic = isGroup ? topicOf(text) : topicBelow(topic, text);
    }
    return topic;
  }

  #readLine(part: TextLine, parts: readonly TextPart[], i: number): void {
    const { indent, isListed } = part;
    const isShort = this.#headings.at(-1)?.isShort === true;
    if (!this.#isBegun) this.#firstIndent = indent;
    this.#isBegun = true;
    if (!isListed && indent === 0) {
      if (isShort && (this.#list.length > 0 || this.#firstIndent > 0)) this.#headings.pop();
      this.#firstIndent = 0;
      this.#list = [];
    }
    this.#list = this.#list.filter((item) => item.indent < indent);
    if (this.#records.has(part)) this.#record = keyOf(part.text)?.value;
    // A list of tasks that follows another one is not about its heading.
    const before = parts[i - 1];
    const isTask = CHECKBOX.test(part.text);
    if (before?.kind === "blank" && isTask && this.#wasListed) this.#headings = [];
    this.#wasListed = isListed && !isTask;
    const { path } = part;
    const outer =
      path === undefined ? (this.#list.at(-1)?.topic ?? this.#topic()) : topicOfPath(path, this.#outer);
    const topic = this.#record === undefined ? outer : topicBelow(outer, this.#record);
    let next = parts[i + 1];
    for (let at = i + 2; next?.kind === "blank"; at++) next = parts[at];
    const hasBelow = next?.kind === "line" && next.indent > indent;
    const below = this.#addLine(part, topic, hasBelow);
    if (isListed && path === undefined) this.#list.push({ indent, topic: below });
  }

  /** Adds what a line says. Returns the topic of what stands below it in a list. */
  #addLine({ line, text: whole }: TextLine, topic: Topic, hasBelow: boolean): Topic {
    const exact = exactLine(whole);
    const label = exact === undefined ? undefined : this.#names.whole(exact.key);
    if (exact !== undefined && label !== undefined) {
      this.#add(line, { label, value: exact.value }, true);
      return topic;
    }
    const isDone = /^[^ ]/.test(CHECKBOX.exec(whole)?.[1] ?? " ");
    const text = whole.replace(CHECKBOX, "").replace(DATE, "").trim();
    const noFact = isDone && !hasBelow ? DONE : reasonOfNoFacts(text.replace(/^([*_])([^*_]+)\1$/, "$2"));
    const keyed = isStatement(text) || CHECKBOX.test(whole) ? undefined : onlyKeyOf(text);
    const name = plainText(keyed?.key ?? text);
    if (this.#headings.some((heading) => IGNORED.test(heading.text))) this.#leave(line, text, TO_IGNORE);
    else if (noFact !== undefined) this.#leave(line, text, noFact);
    else if (/^https?:\/\/\S+$/.test(text) && topic === NO_TOPIC) this.#leave(line, text, LINK);
    else if (keyed !== undefined && keyed.value === "") {
      this.#leave(line, text, hasBelow ? HEADING : EMPTY);
    } else if (hasBelow && isListHeading(text)) {
      this.#leave(line, text, HEADING);
      return topicBelow(topic, plainText(text.replace(/:$/, "")));
    } else if (keyed !== undefined) this.#addKeyed(line, keyed.key, keyed.value, topic);
    else if (MY_NAME.test(text))
      this.#add(line, { label: "USER.name", value: MY_NAME.exec(text)![1].trim() });
    else if (GAP.test(text)) this.#leave(line, text, PLACEHOLDER);
    else this.#add(line, this.#names.sentence(plainText(text), topic));
    return topicBelow(topic, name);
  }

  #addKeyed(line: number, key: string, value: string, topic: Topic): void {
    const plain = plainText(value);
    if (GAP.test(plain)) this.#leave(line, `${key}: ${value}`, PLACEHOLDER);
    else
      this.#add(line, this.#names.keyed(plainText(key), plain, topic), this.#names.whole(key) !== undefined);
  }

  #readRow({ line, cells, header }: TextPart & { kind: "row" }): void {
    this.#isBegun = true;
    const row = tableRow(header, cells);
    if ("why" in row) this.#leave(line, cells.join(" | "), row.why);
    else this.#addKeyed(line, row.key, row.value, this.#topic());
  }

  /** In code whole labels count, and what codeLines finds. */
  #readCode(part: TextPart & { kind: "code" }): void {
    const { line, text, why } = part;
    this.#isBegun = true;
    const exact = exactLine(text) ?? keyOf(text);
    const label =
      exact === undefined ? undefined : this.#names.whole(exact.key, !/^[A-Z][A-Z0-9_]*\./.test(text));
    const said = this.#code.get(part);
    if (exact !== undefined && label !== undefined) this.#add(line, { label, value: exact.value }, true);
    else if (said === undefined) this.#leave(line, text.trim(), why);
    else if (said.value === "") return;
    else if (said.key !== undefined) this.#addKeyed(line, said.key, said.value, this.#topic());
    else this.#add(line, this.#names.sentence(said.value, this.#topic()));
  }

  /** A line of an exported section: its value is spelled as in a prompt. */
  #readSectionLine(line: number, text: string): void {
    const place = PLACE_LINE.exec(text);
    const until = UNTIL_LINE.exec(text);
    if (place !== null) this.#scope = place[1] as PlaceKind;
    else if (until !== null) this.#expiresAt = until[1];
    else {
      const exact = exactLine(text);
      const label = exact === undefined ? undefined : this.#names.whole(exact.key);
      const [scope, expiresAt] = [this.#scope, this.#expiresAt];
      if (exact === undefined || label === undefined) this.#leave(line, text.trim(), "it is no LABEL=value");
      else
        this.#found.facts.push({
          ...this.#placeOf(line),
          label,
          value: unescapeText(exact.value),
          isExact: true,
          scope,
          expiresAt,
        });
      this.#expiresAt = undefined;
    }
  }

  #add(line: number, fact: { readonly label: string; readonly value: string }, isExact = false): void {
    this.#found.facts.push({ ...this.#placeOf(line), ...fact, isExact });
  }
}

/** "Dad: 12 May, Mum: 30 June" is not about one of them. */
function onlyKeyOf(text: string): KeyedText | undefined {
  const keyed = keyOf(text);
  return keyed === undefined || OTHER_KEY.test(keyed.value) ? undefined : keyed;
}

/** What a line is about that stands below some keys. */
function topicOfPath(path: readonly string[], outer: Topic): Topic {
  const told = path.filter((key) => !isGeneral(key));
  return told.reduce(
    (topic, key, i) => (i === 0 && topic === NO_TOPIC ? topicOf(key) : topicBelow(topic, key)),
    outer,
  );
}

/** Whether a line with others below it in a list only says what they are about. */
function isListHeading(text: string): boolean {
  return (
    /:$|^\*\*[^*]+\*\*$/.test(text) ||
    (isTitle(text) && text.split(/\s+/).length <= 3 && /^[\p{L}\s'’-]+$/u.test(text))
  );
}

/** The heading of the whole text: the only one of the first level, above all others. */
function titleOf(parts: readonly TextPart[]): TextPart | undefined {
  const headings = parts.flatMap((part) => (part.kind === "heading" ? [part] : []));
  const [first] = headings;
  const isOnly = first?.level === 1 && headings.filter(({ level }) => level === 1).length === 1;
  return isOnly && (headings.length > 1 || isGeneral(first.text)) ? first : undefined;
}

/** Lines `Name: …`, each at the beginning of a paragraph, where there are several. */
function recordStarts(parts: readonly TextPart[]): ReadonlySet<TextPart> {
  const starts = parts.filter(
    (part, i) =>
      part.kind === "line" &&
      !part.isListed &&
      (i === 0 || parts[i - 1].kind !== "line") &&
      keyOf(part.text)?.key.toLowerCase() === "name",
  );
  return new Set(starts.length > 1 ? starts : []);
}
