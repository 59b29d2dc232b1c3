/**
 * The parts of a text: headings, lines that say something, rows of tables, and what says nothing, with the reason. Markdown
 * as CommonMark has it, and what people write without it.
 */

import { LABEL_FORM } from "../base/channel-labels.ts";
import { exactLine, keyOf } from "./keyed-text.ts";
import { isTitle, withoutTitle, withTextHeadings } from "./text-headings.ts";
import {
  COLON_HEADING,
  HEADING,
  headingText,
  LOOKS_LIKE_HEADING,
  plainText,
  type TextPart,
} from "./text-parts.ts";
import { mayGoOn, unwrapLines } from "./wrapped-lines.ts";

const CODE = "a code block";
const FRONT_MATTER = "front matter";
const COMMENT = "a comment";
const MARKUP = "markup without text";
const PRIVATE = "it is <private>";

/** Front matter is short. */
const FRONT_MATTER_LINES_MAX = 60;

const FENCE = /^\s*(`{3,}|~{3,})\s*(\S*)/;
const ATX = /^ {0,3}(#{1,6})\s+(\S.*?)(?:\s+#+)?\s*$/;
const RULE = /^ {0,3}(?:[-*_=~]\s?){3,}$/;
const BULLET = /^(\s*)((?:[-*+•‣◦·–—−▪●►➤→»]|\(?\d{1,3}[.)]|[a-z]\))\s+|[-•–](?=\p{L}))(.*)$/u;
/** A box to tick, as a sign. */
const TICK = /^(\s*)(?:[-*+•]\s+)?([☐▢□☑☒✓✔])\s*/;
/** === House ===, in a text without Markdown. */
const LINED = /^([-=~*])\1{1,20}\s+\S.{0,60}?\s+\1{2,20}$/;
const BOLD_LINE = /^(\*\*|__)([^*_]{1,80})\1:?$/;
const ROW = /^\|.*\|$/;
const ROW_RULE = /^(?=[|\s:]*-)[|\s:-]+$/;
const QUOTATION = /^\s{0,3}>\s*["“„«]/;
/** As GitHub and Obsidian write notices and tags. */
const CALLOUT = /^\[![a-z]+\][+-]?\s*/i;
const HASHTAGS = /^(?:#[\p{L}\p{N}/_-]+\s*)+$/u;
const TAGS_ONLY = /^(?:<\/?[a-z][^>]{0,200}>\s{0,4})+$/i;

export function textParts(text: string, isMarkdown: boolean): TextPart[] {
  return withoutTitle(
    withTextHeadings(unwrapLines(new PartReader(text.split(/\r\n|\r|\n/), isMarkdown).read())),
  );
}

class PartReader {
  readonly #lines: readonly string[];
  readonly #isMarkdown: boolean;
  /** Its headings are about all up to the next one. */
  readonly #isSectioned: boolean;
  readonly #parts: TextPart[] = [];
  #fence: { readonly marks: string; readonly info: string; readonly block: number } | undefined;
  #isComment = false;
  /** How often the last line was quoted, and one. */
  #depth = 1;
  #isPrivate = false;
  #header: readonly string[] | undefined;

  constructor(lines: readonly string[], isMarkdown: boolean) {
    this.#lines = lines;
    this.#isMarkdown = isMarkdown;
    this.#isSectioned = isMarkdown || lines.some((line) => /^ {0,3}##/.test(line));
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
  #silent(i: number, line: string, why: string): void {
    const text = line.trim();
    const open = this.#fence;
    const indented = why === CODE ? { text, fence: "", block: this.#indentedBlock(i) } : { text };
    const inside = open === undefined ? indented : { text: line, fence: open.info, block: open.block };
    // A blank line inside a block ends nothing.
    if (text === "" && open !== undefined) return;
    if (text === "" || /^(?:---|```|~~~)/.test(text)) this.#parts.push({ kind: "blank", line: i + 1 });
    else this.#parts.push({ kind: "code", line: i + 1, why, ...inside });
  }

  /** Tildes that nothing closes stand below a heading. */
  #isClosed(i: number, marks: string): boolean {
    return marks.startsWith("`") || this.#lines.some((line, at) => at > i && line.trim().startsWith(marks));
  }

  /** The first line of the block that a line is in. */
  #indentedBlock(i: number): number {
    const last = this.#parts.at(-1);
    return last?.kind === "code" && last.line === i ? (last.block ?? i) : i;
  }

  #isFenced(i: number, line: string): boolean {
    const fence = FENCE.exec(line);
    const open = this.#fence;
    if (open === undefined) {
      if (fence === null || this.#isComment || !this.#isClosed(i, fence[1])) return false;
      this.#fence = { marks: fence[1], info: fence[2], block: i };
    } else if (fence?.[1].startsWith(open.marks) && fence[2] === "") this.#fence = undefined;
    else {
      this.#silent(i, line, CODE);
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
    const [marks = ""] = /^(?:\s{0,3}>\s?)+/.exec(raw) ?? [];
    const quoted = raw.slice(marks.length).trimEnd();
    const text = quoted.trim();
    // In mail, somebody else goes on where a quotation ends.
    const depth = marks.split(">").length;
    if (!this.#isMarkdown && depth < this.#depth) this.#parts.push({ kind: "blank", line, isRule: true });
    this.#depth = depth;
    const heading = ATX.exec(quoted);
    const header = this.#header;
    this.#header = undefined;
    if (text === "") this.#parts.push({ kind: "blank", line });
    // Its value is taken exactly.
    else if (LABEL_FORM.test(exactLine(raw)?.key ?? ""))
      this.#parts.push({ kind: "line", line, text: raw, indent: 0, isListed: false });
    else if (RULE.test(quoted)) this.#readRule(line, text);
    else if (heading !== null)
      this.#parts.push({
        kind: "heading",
        line,
        level: heading[1].length,
        text: headingText(heading[2]),
        isShort: this.#isOverParagraph(i),
      });
    else if (LINED.test(text))
      this.#parts.push({
        kind: "heading",
        line,
        level: LOOKS_LIKE_HEADING,
        text: headingText(text),
        isShort: this.#isOverParagraph(i),
      });
    else if (QUOTATION.test(raw)) this.#parts.push({ kind: "nothing", line, text, why: "a quotation" });
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
      const isShort = (this.#lines[i + 1] ?? "").trim() !== "";
      this.#parts.push({
        kind: "heading",
        line,
        level: LOOKS_LIKE_HEADING,
        text: headingText(bold),
        isShort,
      });
    } else this.#readText(line, quoted);
  }

  /** Without Markdown, a heading right above its lines is about these alone. */
  #isOverParagraph(i: number): boolean {
    return !this.#isSectioned && (this.#lines[i + 1] ?? "").trim() !== "";
  }

  /** A line under a text makes it a heading. */
  #readRule(line: number, text: string): void {
    const last = this.#parts.at(-1);
    const before = this.#parts.at(-2);
    const isAlone = before === undefined || before.kind === "blank" || before.kind === "heading";
    const isNumbered = last?.kind === "line" && /^\s*\d{1,2}[.)]\s/.test(this.#lines[last.line - 1]);
    const isText = last?.kind === "line" && (!last.isListed || isNumbered);
    const isUnderline = /^(?:=+|-+|~+)$/.test(text) && isText && isAlone && isTitle(last.text);
    if (isUnderline)
      this.#parts[this.#parts.length - 1] = {
        kind: "heading",
        line: last.line,
        text: headingText(last.text),
        level: text.startsWith("=") ? 1 : 2,
        isShort: this.#isOverParagraph(line - 1),
      };
    this.#parts.push({ kind: "blank", line, isRule: !isUnderline });
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

  #readText(line: number, unmarked: string): void {
    const raw = unmarked.replace(
      TICK,
      (_, space, sign) => `${space}- [${"☐▢□".includes(sign) ? " " : "x"}] `,
    );
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
    } else if (
      last?.kind === "line" &&
      last.isListed &&
      indent > last.indent &&
      keyOf(text) === undefined &&
      mayGoOn(last.text, text)
    )
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
