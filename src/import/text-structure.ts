/**
 * The parts of a text: headings, lines that say something, rows of tables, and what says nothing, with the reason. Markdown
 * as CommonMark has it, and what people write without it: a heading may be bold, in capitals, underlined, a line with a
 * colon at its end, or a few words above a list. Lines that were wrapped become one again.
 */

import { LABEL_FORM } from "../base/channel-labels.ts";
import { exactLine, keyOf } from "./keyed-line.ts";
import { slugWords } from "./words.ts";

export type TextPart =
  /** Levels 1 to 6 are Markdown's, 7 looks like a heading, 8 is a line in a section. Below a short one is one list. */
  | {
      readonly kind: "heading";
      readonly line: number;
      readonly text: string;
      readonly level: number;
      readonly isShort?: boolean;
    }
  | TextLine
  | {
      readonly kind: "row";
      readonly line: number;
      readonly cells: readonly string[];
      readonly header: readonly string[];
    }
  /** Inside a code block or the like, where only whole labels count. */
  | {
      readonly kind: "code";
      readonly line: number;
      readonly text: string;
      readonly why: string;
      readonly fence?: string;
    }
  | { readonly kind: "nothing"; readonly line: number; readonly text: string; readonly why: string }
  | { readonly kind: "blank"; readonly line: number };

export interface TextLine {
  readonly kind: "line";
  readonly line: number;
  readonly text: string;
  readonly indent: number;
  readonly isListed: boolean;
}

export const HEADING = "a heading";
const CODE = "a code block";
const FRONT_MATTER = "front matter";
const COMMENT = "a comment";
const MARKUP = "markup without text";
const PRIVATE = "it is <private>";

const LOOKS_LIKE_HEADING = 7;
const COLON_HEADING = 8;
/** Front matter is short. */
const FRONT_MATTER_LINES_MAX = 60;
/** A line that is not as long was not wrapped. */
const WRAPPED_LENGTH_MIN = 45;

const FENCE = /^\s*(`{3,}|~{3,})\s*(\S*)/;
const ATX = /^ {0,3}(#{1,6})\s+(\S.*?)(?:\s+#+)?\s*$/;
const RULE = /^ {0,3}(?:[-*_=~]\s?){3,}$/;
const BULLET = /^(\s*)((?:[-*+•‣◦·–—▪●]|\(?\d{1,3}[.)]|[a-z]\))\s+)(.*)$/;
const BOLD_LINE = /^(\*\*|__)([^*_]{1,80})\1:?$/;
const ROW = /^\|.*\|$/;
const ROW_RULE = /^[|\s:-]*-[|\s:-]*$/;
/** As GitHub and Obsidian write notices and tags. */
const CALLOUT = /^\[![a-z]+\][+-]?\s*/i;
const HASHTAGS = /^(?:#[\p{L}\p{N}/_-]+\s*)+$/u;
const TAGS_ONLY = /^(?:<\/?[a-z][^>]{0,200}>\s{0,4})+$/i;

export function textParts(text: string, isMarkdown: boolean): TextPart[] {
  return withTextHeadings(withoutWraps(new PartReader(text.split(/\r\n|\r|\n/), isMarkdown).read()));
}

class PartReader {
  readonly #lines: readonly string[];
  readonly #isMarkdown: boolean;
  readonly #parts: TextPart[] = [];
  #fence: { readonly marks: string; readonly info: string } | undefined;
  #isComment = false;
  #isPrivate = false;
  #header: readonly string[] | undefined;

  constructor(lines: readonly string[], isMarkdown: boolean) {
    this.#lines = lines;
    this.#isMarkdown = isMarkdown;
  }

  read(): TextPart[] {
    const frontMatterEnd = this.#frontMatterEnd();
    for (const [i, line] of this.#lines.entries()) {
      if (i <= frontMatterEnd) this.#silent(i, line, FRONT_MATTER);
      else if (!this.#isFenced(i, line) && !this.#isHidden(i, line)) this.#readLine(i, line);
    }
    return this.#parts;
  }

  #frontMatterEnd(): number {
    if (!/^---\s*$/.test(this.#lines[0])) return -1;
    const end = this.#lines.slice(1, FRONT_MATTER_LINES_MAX).findIndex((line) => /^---\s*$/.test(line)) + 1;
    const inside = this.#lines.slice(1, end);
    return inside.length > 0 && inside.every((line) => /^(?:[\w.-]+\s*[:=]|\s+|- |#|$)/.test(line))
      ? end
      : -1;
  }

  /** Where only whole labels count; marks alone are nothing. */
  #silent(i: number, line: string, why: string, fence?: string): void {
    const text = line.trim();
    if (text === "" || /^(?:---|```|~~~)/.test(text)) this.#parts.push({ kind: "blank", line: i + 1 });
    else
      this.#parts.push({
        kind: "code",
        line: i + 1,
        text: fence === undefined ? text : line,
        why,
        ...(fence === undefined ? {} : { fence }),
      });
  }

  #isFenced(i: number, line: string): boolean {
    const fence = FENCE.exec(line);
    const open = this.#fence;
    if (open === undefined) {
      if (fence === null || this.#isComment) return false;
      this.#fence = { marks: fence[1], info: fence[2] };
    } else if (fence?.[1].startsWith(open.marks) && fence[2] === "") this.#fence = undefined;
    else {
      this.#silent(i, line, CODE, open.info);
      return true;
    }
    this.#parts.push({ kind: "blank", line: i + 1 });
    return true;
  }

  /** Comments, and what is <private>. */
  #isHidden(i: number, line: string): boolean {
    const lower = line.toLowerCase();
    const [opens, closes] = [lower.lastIndexOf("<private>"), lower.lastIndexOf("</private>")];
    const wasPrivate = this.#isPrivate;
    if (opens >= 0 || closes >= 0) this.#isPrivate = opens > closes;
    // A line that opens and closes it has other parts, too: what is private of a value is cut where it is kept.
    if (wasPrivate || this.#isPrivate) {
      this.#parts.push({ kind: "nothing", line: i + 1, text: "(not shown)", why: PRIVATE });
      return true;
    }
    const wasComment = this.#isComment;
    if (/^\s*%%.*%%\s*$/.test(line)) {
      this.#parts.push({ kind: "nothing", line: i + 1, text: line.trim(), why: COMMENT });
      return true;
    }
    if (!wasComment && /^\s*<!--/.test(line)) this.#isComment = true;
    if (!this.#isComment) return false;
    if (line.includes("-->")) this.#isComment = false;
    if (line.trim() !== "")
      this.#parts.push({ kind: "nothing", line: i + 1, text: line.trim(), why: COMMENT });
    return true;
  }

  #readLine(i: number, raw: string): void {
    const line = i + 1;
    const quoted = raw.replace(/^(?:\s{0,3}>\s?)+/, "").trimEnd();
    const text = quoted.trim();
    const heading = ATX.exec(quoted);
    const header = this.#header;
    this.#header = undefined;
    if (text === "") this.#parts.push({ kind: "blank", line });
    // Its value is taken exactly.
    else if (LABEL_FORM.test(exactLine(raw)?.key ?? ""))
      this.#parts.push({ kind: "line", line, text: raw, indent: 0, isListed: false });
    else if (RULE.test(quoted)) this.#readRule(line, text);
    else if (heading !== null)
      this.#parts.push({ kind: "heading", line, level: heading[1].length, text: plainText(heading[2]) });
    else if (ROW.test(text)) this.#readRow(line, text, header);
    else if (CALLOUT.test(text))
      this.#parts.push({
        kind: "heading",
        line,
        level: COLON_HEADING,
        text: text.replace(CALLOUT, "") || "Note",
        isShort: true,
      });
    else if (HASHTAGS.test(text)) this.#parts.push({ kind: "nothing", line, text, why: "tags" });
    else if (TAGS_ONLY.test(text)) this.#parts.push({ kind: "nothing", line, text, why: MARKUP });
    else if (!/[\p{L}\p{N}]/u.test(text)) this.#parts.push({ kind: "nothing", line, text, why: MARKUP });
    else if (BOLD_LINE.test(text)) {
      const [, , bold] = BOLD_LINE.exec(text)!;
      this.#parts.push({ kind: "heading", line, level: LOOKS_LIKE_HEADING, text: bold.replace(/:$/, "") });
    } else this.#readText(line, quoted);
  }

  /** A line under a text makes it a heading. */
  #readRule(line: number, text: string): void {
    const last = this.#parts.at(-1);
    const before = this.#parts.at(-2);
    const isAlone = before === undefined || before.kind === "blank" || before.kind === "heading";
    if (/^(?:=+|-+)$/.test(text) && last?.kind === "line" && !last.isListed && isAlone && isTitle(last.text))
      this.#parts[this.#parts.length - 1] = {
        kind: "heading",
        line: last.line,
        text: last.text,
        level: text.startsWith("=") ? 1 : 2,
      };
    this.#parts.push({ kind: "blank", line });
  }

  #readRow(line: number, text: string, header: readonly string[] | undefined): void {
    const cells = text
      .slice(1, -1)
      .split(/(?<!\\)\|/)
      .map((cell) => plainText(cell.replaceAll("\\|", "|").trim()));
    const next = this.#lines[line]?.trim() ?? "";
    if (ROW_RULE.test(text)) {
      this.#header = header;
      this.#parts.push({ kind: "blank", line });
    } else if (header === undefined && ROW_RULE.test(next)) {
      this.#header = cells;
      this.#parts.push({ kind: "nothing", line, text, why: HEADING });
    } else {
      this.#header = header ?? [];
      this.#parts.push({ kind: "row", line, cells, header: header ?? [] });
    }
  }

  #readText(line: number, raw: string): void {
    const bullet = BULLET.exec(raw);
    const indent = widthOf(/^\s*/.exec(raw)![0]);
    const last = this.#parts.at(-1);
    const text = (bullet?.[3] ?? raw).trim();
    const definition = /^:\s+(\S.*)$/.exec(text);
    if (definition !== null && last?.kind === "line" && !last.isListed)
      this.#parts[this.#parts.length - 1] = { ...last, text: `${last.text}: ${definition[1]}` };
    else if (bullet !== null) {
      if (text === "") this.#parts.push({ kind: "nothing", line, text: raw.trim(), why: "it is empty" });
      else this.#parts.push({ kind: "line", line, text, indent, isListed: true });
    } else if (last?.kind === "line" && last.isListed && indent > last.indent && keyOf(text) === undefined)
      this.#parts[this.#parts.length - 1] = { ...last, text: `${last.text} ${text}` };
    else if (this.#isMarkdown && indent >= 4 && !this.#isInList()) this.#silent(line - 1, raw, CODE);
    else this.#parts.push({ kind: "line", line, text, indent, isListed: false });
  }

  #isInList(): boolean {
    const last = this.#parts.findLast((part) => part.kind !== "blank");
    return (
      last?.kind === "line" && (last.isListed || last.indent > 0 || this.#parts.at(-1)?.kind !== "blank")
    );
  }
}

function widthOf(space: string): number {
  return space.replaceAll("\t", "    ").length;
}

/** Without the marks of Markdown around the whole and around bold words. */
export function plainText(text: string): string {
  const bare = text.replace(/(\*\*|__)(?=\S)([^*_`]+?)(?<=\S)\1/g, "$2");
  const [, inside] = /^`([^`]+)`$/.exec(bare) ?? /^\*([^*\s][^*]*)\*$/.exec(bare) ?? [];
  return (inside ?? bare).trim();
}

/** How what is said begins, and no heading does. */
const STATEMENT =
  /^(?:no|not|never|always|don['’]?t|do|does|use|uses|avoid|keep|prefers?|likes?|loves?|hates?|wants?|needs?|has|have|is|are|was|can|cannot|can['’]?t|i|i['’]?m|we|she|he|they|it)\s/i;

/** Whether a line could be a heading by its looks. */
export function isTitle(text: string): boolean {
  return !STATEMENT.test(text) && text.length <= 60 && !/[.!?;,]$/.test(text) && keyOf(text) === undefined;
}

/** Runs of plain lines that were wrapped at a width, each as one line. */
function withoutWraps(parts: readonly TextPart[]): TextPart[] {
  const result: TextPart[] = [];
  for (let i = 0; i < parts.length; ) {
    const run = [parts[i]];
    while (isPlain(parts[i]) && isPlain(parts[i + run.length])) run.push(parts[i + run.length]);
    const lines = run as TextLine[];
    if (run.length > 1 && isWrapped(lines))
      result.push({ ...lines[0], text: lines.map(({ text }) => text).join(" ") });
    else result.push(...run);
    i += run.length;
  }
  return result;
}

function isPlain(part: TextPart | undefined): boolean {
  return part?.kind === "line" && !part.isListed;
}

/** Whether no line had room for the first word of the next one, and one of them breaks off in a sentence. */
function isWrapped(lines: readonly TextLine[]): boolean {
  const width = Math.max(...lines.map(({ text }) => text.length));
  const startsSmall = (text: string) => /^[\p{Ll}]/u.test(text);
  if (width < WRAPPED_LENGTH_MIN || startsSmall(lines[0].text) || exactLine(lines[0].text) !== undefined)
    return false;
  const pairs = lines.slice(1).map(({ text }, i) => [lines[i].text, text] as const);
  return (
    lines.slice(1).every(({ text }) => keyOf(text) === undefined) &&
    pairs.every(
      ([one, next]) =>
        one.length >= WRAPPED_LENGTH_MIN && one.length + 1 + next.split(" ")[0].length >= width,
    ) &&
    pairs.some(
      ([one, next]) =>
        !/[.!?:]$/.test(one) &&
        (startsSmall(next) || /(?:,|\b(?:a|an|the|of|to|in|on|at|and|or|for|with|my))$/.test(one)),
    )
  );
}

/** Lines that stand for a heading: `Family:`, `FAMILY`, or a word or two above a list. */
function withTextHeadings(parts: readonly TextPart[]): TextPart[] {
  const isMarked = parts.some((part) => part.kind === "heading" && part.level < LOOKS_LIKE_HEADING);
  return parts.map((part, i) => {
    if (part.kind !== "line" || part.isListed) return part;
    const before = parts[i - 1];
    const next = parts[i + 1];
    const isFirst = before === undefined || before.kind === "blank" || before.kind === "heading";
    const following = parts.slice(i + 1, i + 4).find(({ kind }) => kind !== "blank");
    const { line, text } = part;
    const heading = (level: number) => ({
      kind: "heading" as const,
      line,
      level,
      text: plainText(text.replace(/:$/, "")),
    });
    if (/:(?:\*\*)?$/.test(text)) {
      const isAbove =
        next?.kind === "line" ? !/:$/.test(next.text) : following?.kind === "line" && following.isListed;
      if (!isAbove && next?.kind !== "row") return part;
      return { ...heading(isFirst && !isMarked ? LOOKS_LIKE_HEADING : COLON_HEADING), isShort: true };
    }
    if (!isFirst || !isTitle(text)) return part;
    const words = slugWords(text).length;
    if (following?.kind !== "line" && following?.kind !== "row") return part;
    if (/\p{Lu}{3}/u.test(text) && text === text.toUpperCase() && words <= 6)
      return heading(LOOKS_LIKE_HEADING);
    const isList = following.kind === "row" || following.isListed;
    const isBesideLonger =
      !isList && (keyOf(following.text) !== undefined || slugWords(following.text).length >= 4);
    const wordsMax = isList ? (next === following ? 4 : 2) : isBesideLonger || next?.kind === "blank" ? 2 : 0;
    if (words > wordsMax || /\d/.test(text)) return part;
    // Right above its lines it is about these alone.
    if (next === following) return { ...heading(LOOKS_LIKE_HEADING), isShort: true };
    return /^\p{Lu}/u.test(text) ? heading(LOOKS_LIKE_HEADING) : part;
  });
}
