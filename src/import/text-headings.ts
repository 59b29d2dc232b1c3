/**
 * Headings without Markdown: a line in capitals, a line with a colon at its end, a few words above a list or a paragraph,
 * and a title. What is in doubt is a line that says something.
 */

import { keyOf } from "./keyed-text.ts";
import { reasonOfNoFacts } from "./no-facts.ts";
import {
  COLON_HEADING,
  HEADING,
  LOOKS_LIKE_HEADING,
  plainText,
  type TextLine,
  type TextPart,
} from "./text-parts.ts";
import { slugWords } from "./words.ts";

/** A longer line above code is no name for it. */
const LEAD_WORDS_MAX = 5;
const SENTENCES = /[\p{L}\d)]{3}[.!?]\s+\p{Lu}/u;
const LEAD = "it leads to what is below";

/** Lines that stand for a heading: `Family:`, `FAMILY`, or a word or two above a list. */
export function withTextHeadings(parts: readonly TextPart[]): TextPart[] {
  const isMarked = parts.some((part) => part.kind === "heading" && part.level < LOOKS_LIKE_HEADING);
  return parts.map((part, i) => {
    if (part.kind !== "line" || part.isListed) return part;
    const before = parts[i - 1];
    const next = parts[i + 1];
    const isFirst = before === undefined || before.kind === "blank" || before.kind === "heading";
    const following = parts.slice(i + 1, i + 4).find((part) => part.kind !== "blank" || part.isRule === true);
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
      const isTable =
        following?.kind === "row" || (following?.kind === "nothing" && following.why === HEADING);
      const isOverCode = following?.kind === "code";
      // Among lines with keys it has no value, unless what follows is set off.
      const isEmptyKey =
        before?.kind === "line" &&
        keyOf(before.text) !== undefined &&
        next?.kind === "line" &&
        !next.isListed &&
        next.indent <= part.indent;
      if ((!isAbove && !isTable && !isOverCode) || isEmptyKey) return part;
      // Of a paragraph only the last sentence leads to what is below: all of it is a line.
      if (SENTENCES.test(text)) return part;
      if (isOverCode && slugWords(text).length > LEAD_WORDS_MAX)
        return { kind: "nothing", line, text, why: LEAD };
      return { ...heading(isFirst && !isMarked ? LOOKS_LIKE_HEADING : COLON_HEADING), isShort: true };
    }
    if (!isFirst || !isTitle(text)) return part;
    const words = slugWords(text).length;
    if (following?.kind !== "line" && following?.kind !== "row") return part;
    const isCapital = /\p{Lu}{3}/u.test(text) && text === text.toUpperCase();
    const isList = following.kind === "row" || following.isListed;
    const below = linesBelow(parts, i);
    if (below.length > 1 && below.every(({ indent }) => indent > part.indent))
      return { ...heading(LOOKS_LIKE_HEADING), isShort: true };
    const saysMore = ({ text }: TextLine) => keyOf(text) !== undefined || slugWords(text).length >= 4;
    const isBesideLonger = !isList && saysMore(following) && below.every(saysMore);
    const wordsMax = isCapital
      ? 6
      : isList
        ? next === following
          ? 4
          : 2
        : isBesideLonger || next?.kind === "blank"
          ? 2
          : 0;
    if (words > wordsMax || /\d/.test(text)) return part;
    // Right above its lines it is about these alone.
    if (next === following) return { ...heading(LOOKS_LIKE_HEADING), isShort: true };
    return /^\p{Lu}/u.test(text) ? heading(LOOKS_LIKE_HEADING) : part;
  });
}

/** The lines right below a part. */
function linesBelow(parts: readonly TextPart[], i: number): TextLine[] {
  const below: TextLine[] = [];
  for (let part = parts[i + 1]; part?.kind === "line"; part = parts[i + 1 + below.length]) below.push(part);
  return below;
}

/** A text with headings may have a title, alone in its first line. */
export function withoutTitle(parts: readonly TextPart[]): TextPart[] {
  const first = parts.findIndex(({ kind }) => kind !== "blank");
  const [part, next] = parts.slice(Math.max(first, 0));
  const hasHeadings = parts.some(({ kind }) => kind === "heading");
  if (part?.kind !== "line" || part.isListed || next?.kind !== "blank" || !hasHeadings) return [...parts];
  if (!/^\p{Lu}/u.test(part.text) || /[.!?;,]$/.test(part.text) || keyOf(part.text) !== undefined)
    return [...parts];
  return parts.with(first, { kind: "nothing", line: part.line, text: part.text, why: HEADING });
}

/** How what is said begins, and no heading does. */
const STATEMENT =
  /^(?:no|not|never|always|don['’]?t|do|does|use|uses|avoid|keep|prefers?|likes?|loves?|hates?|wants?|needs?|has|have|is|are|was|can|cannot|can['’]?t|i|i['’]?m|we|she|he|they|it)\s/i;

/** Whether a line with a colon is a sentence all the same: "Do not upgrade: it breaks the build". */
export function isStatement(text: string): boolean {
  return STATEMENT.test(text) && /^\S+ [^:=]*\S: \S/.test(text);
}

/** Whether a line could be a heading by its looks. */
export function isTitle(text: string): boolean {
  const isPhrase = text.length <= 60 && !/[.!?;,。！？、]$/.test(text);
  return (
    isPhrase && !STATEMENT.test(text) && keyOf(text) === undefined && reasonOfNoFacts(text) === undefined
  );
}
