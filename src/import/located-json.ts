/**
 * JSON whose values know the line on which they begin, so that a person finds what was not imported. JSON.parse checks
 * the text; the tokens of a sound text are then walked once.
 */

import { UnreadableFileError } from "./findings.ts";

export interface LocatedValue {
  readonly line: number;
  readonly value:
    | string
    | number
    | boolean
    | null
    | readonly LocatedValue[]
    | ReadonlyMap<string, LocatedValue>;
}

/** How a token begins; all of it, but for a text. */
const TOKEN = /["[\]{}:,]|[^\s[\]{}:,"]+|\s+/y;

export function locatedJson(text: string, firstLine = 1): LocatedValue {
  checkJson(text, firstLine);
  let line = firstLine;
  let root: LocatedValue | undefined;
  /** The containers that are open, each with the name that its next value gets. */
  const open: { readonly into: LocatedValue[] | Map<string, LocatedValue>; name?: string | undefined }[] = [];
  const add = (located: LocatedValue) => {
    const top = open.at(-1);
    if (top === undefined) root = located;
    else if (Array.isArray(top.into)) top.into.push(located);
    else top.into.set(top.name ?? "", located);
    if (top !== undefined) top.name = undefined;
  };
  for (const token of tokensOf(text)) {
    const top = open.at(-1);
    if (/^\s/.test(token)) line += token.split("\n").length - 1;
    else if (token === "{" || token === "[") {
      const into = token === "[" ? [] : new Map<string, LocatedValue>();
      add({ line, value: into });
      open.push({ into });
    } else if (token === "}" || token === "]") open.pop();
    else if (token === ":" || token === ",") continue;
    else if (top?.into instanceof Map && top.name === undefined) top.name = JSON.parse(token);
    else add({ line, value: JSON.parse(token) });
  }
  return root!;
}

function* tokensOf(text: string): Generator<string> {
  for (let at = 0; at < text.length; ) {
    TOKEN.lastIndex = at;
    const start = TOKEN.exec(text)![0];
    const token = start === '"' ? text.slice(at, endOfText(text, at)) : start;
    yield token;
    at += token.length;
  }
}

/** Not by an expression: one that goes back over a long text takes more stack than there is. */
function endOfText(text: string, start: number): number {
  for (let at = text.indexOf('"', start + 1); ; at = text.indexOf('"', at + 1)) {
    let escapes = 0;
    while (text[at - 1 - escapes] === "\\") escapes += 1;
    if (escapes % 2 === 0) return at + 1;
  }
}

function checkJson(text: string, firstLine: number): void {
  try {
    JSON.parse(text);
  } catch (error) {
    const [, position] = /at position (\d+)/.exec((error as Error).message) ?? [];
    const before = position === undefined ? text.trimEnd() : text.slice(0, Number(position)).trimEnd();
    const line = firstLine + before.split("\n").length - 1;
    throw new UnreadableFileError(`line ${line} is not JSON; is the file whole?`);
  }
}

export function listIn(located: LocatedValue | undefined, name?: string): readonly LocatedValue[] {
  const value = name === undefined ? located?.value : fieldOf(located, name)?.value;
  return Array.isArray(value) ? value : [];
}

export function fieldOf(located: LocatedValue | undefined, name: string): LocatedValue | undefined {
  return located?.value instanceof Map ? located.value.get(name) : undefined;
}

export function textField(located: LocatedValue | undefined, name: string): string | undefined {
  const value = fieldOf(located, name)?.value;
  return typeof value === "string" ? value : undefined;
}
