/**
 * The beginning of a regular expression: a small one that finds something in every text in which the whole one does. V8
 * compiles an expression when it is used first, and again for the second use: for a long one that takes a hundred times as
 * long as a search. A process that looks at one text asks for the beginnings first, and compiles the rest only where they are.
 */

const PART = /\\.|\[(?:[^\]\\]|\\.)*\]|\(\?<?[=!]|\(\?:|[^\\[]/y;
/** What stands behind a group that every match has: nothing, or how often it is repeated, which is not 0 times. */
const THERE = /\+\??|\{[1-9][0-9]*(?:,[0-9]*)?\}\??|(?![?*{])/y;
/** Letters in a row that say enough. */
const WORD_LENGTH = 6;

/**
 * Of each alternative all up to the first group that every match has, with the beginning of that, or to the end of the first
 * six letters in a row; all of it where it has neither.
 */
export function beginningOf(pattern: string): string {
  const beginnings: string[] = [];
  /** Where the groups begin that are open. */
  const open: number[] = [];
  let start = 0;
  let beginning: string | undefined;
  let letters = 0;
  const close = (at: number) => {
    beginnings.push(beginning ?? pattern.slice(start, at));
    start = at + 1;
    beginning = undefined;
  };
  const isThere = (at: number) => {
    THERE.lastIndex = at;
    return THERE.test(pattern);
  };
  for (let at = 0; at < pattern.length; ) {
    PART.lastIndex = at;
    const part = PART.exec(pattern)![0];
    at += part.length;
    const isLetter = open.length === 0 && /^[a-z]$/i.test(part) && isThere(at);
    letters = isLetter ? letters + 1 : 0;
    if (part === "|" && open.length === 0) close(at - 1);
    else if (part.startsWith("(")) open.push(at);
    else if (part === ")") {
      const from = open.pop()!;
      const isGroup = open.length === 0 && pattern.slice(0, from).endsWith("(?:") && isThere(at);
      if (isGroup) beginning ??= `${pattern.slice(start, from)}${beginningOf(pattern.slice(from, at - 1))})`;
    } else if (letters === WORD_LENGTH) beginning ??= pattern.slice(start, at);
  }
  close(pattern.length);
  return beginnings.join("|");
}
