/**
 * What a code block of notes says: the commands of a shell, settings NAME=value, two columns (a folder and what is in
 * it), and a tree of folders. A block counts as a whole: where one line is of another kind, as in a program or a drawing,
 * none counts.
 */

import type { TextPart } from "./text-parts.ts";

type CodePart = TextPart & { readonly kind: "code" };

/** A line, with the comment above it or the first column as its key. Its value is empty where a line above has it. */
export interface CodeLine {
  readonly key: string | undefined;
  readonly value: string;
}

/** A longer block is a program. */
const LINES_MAX = 30;
const SHELL = /^(?:bash|sh|shell|zsh|fish|console|terminal|powershell|cmd)$/i;
const SETTINGS = /^(?:env|dotenv|ini|properties|conf)$/i;
const PLAIN = /^(?:text|txt|plain|plaintext)?$/i;

const COMMENT = /^\s*#+\s*(?!!)(\S.*)$/;
const TRAILING_COMMENT = /[ \t]{1,80}#[ \t]{1,8}/;
const PROMPT = /^\s*\$\s+/;
/** What a script has, and a list of commands does not. */
const SCRIPT =
  /^\s*(?:#!|(?:if|for|while|case|until|then|else|fi|do|done|esac|function|return|exit)\b|\w+\s*\(\)|[{}])|<<|[{]\s*$/;
const SETTING = /^(?:export\s+)?([A-Z][A-Z0-9_]+)=(\S.*)$/;
const COLUMNS = /^(\S+(?: \S+)*) {2,}((?![|│├└])\S+(?: \S+)*)$/;
/** A folder or file in a tree, with what is said of it. */
const BRANCH = /^([\s│├└─|`+-]{0,80})([^\s│├└─]\S*)(?:\s{1,80}(?:[#←–—-]\s+)?(\S.*))?$/;
const COMMAND =
  /^(?:npm|npx|pnpm|yarn|bun|deno|node|make|just|docker|podman|kubectl|helm|terraform|git|gh|go|cargo|rustc|uv|pip3?|poetry|pytest|python3?|ruff|dotnet|gradle|mvn|\.\/\w\S*|bundle|rails|rake|mix|swift|flutter|composer|php|brew|apt|sudo|curl|ssh|cd|tar|cp|systemctl|source)\s+\S/;

/** The lines of blocks that say something, each by the part that it begins at. */
export function codeLines(parts: readonly TextPart[]): ReadonlyMap<TextPart, CodeLine> {
  const blocks = new Map<number, CodePart[]>();
  for (const part of parts) {
    if (part.kind !== "code" || part.block === undefined) continue;
    const block = blocks.get(part.block) ?? [];
    blocks.set(part.block, block);
    block.push(part);
  }
  return new Map([...blocks.values()].flatMap((block) => [...linesOf(block)]));
}

function linesOf(block: readonly CodePart[]): ReadonlyMap<CodePart, CodeLine> {
  const none = new Map<CodePart, CodeLine>();
  const info = block[0].fence ?? "";
  const texts = block.filter(({ text }) => !COMMENT.test(text)).map(({ text }) => text.trim());
  if (block.length > LINES_MAX) return none;
  const isEvery = (form: RegExp) => texts.length > 0 && texts.every((text) => form.test(text));
  if (SETTINGS.test(info) || (PLAIN.test(info) && isEvery(SETTING))) return settingsOf(block);
  if (PLAIN.test(info) && block.some(({ text }) => /[├└]/.test(text))) return branchesOf(block);
  if (PLAIN.test(info) && isEvery(COLUMNS)) return columnsOf(block);
  const isShell =
    SHELL.test(info) || (PLAIN.test(info) && (isEvery(COMMAND) || texts.some((text) => PROMPT.test(text))));
  return isShell && !block.some(({ text }) => SCRIPT.test(text)) ? commandsOf(block) : none;
}

function settingsOf(block: readonly CodePart[]): Map<CodePart, CodeLine> {
  const lines = new Map<CodePart, CodeLine>();
  for (const part of block) {
    const [, key, value] = SETTING.exec(part.text.trim()) ?? [];
    if (key !== undefined) lines.set(part, { key, value: value.replace(TRAILING_COMMENT, " # ") });
  }
  return lines;
}

function columnsOf(block: readonly CodePart[]): Map<CodePart, CodeLine> {
  const lines = new Map<CodePart, CodeLine>();
  for (const part of block) {
    const [, key, value] = COLUMNS.exec(part.text.trim()) ?? [];
    if (key !== undefined) lines.set(part, { key, value });
  }
  return lines;
}

/** Each by its whole path. */
function branchesOf(block: readonly CodePart[]): Map<CodePart, CodeLine> {
  const lines = new Map<CodePart, CodeLine>();
  let path: { readonly depth: number; readonly name: string }[] = [];
  for (const part of block) {
    const [, marks, name, said] = BRANCH.exec(part.text.trimEnd()) ?? [];
    if (name === undefined) continue;
    path = [...path.filter(({ depth }) => depth < marks.length), { depth: marks.length, name }];
    const key = path.map((one) => one.name.replace(/\/$/, "")).join("/");
    if (said !== undefined) lines.set(part, { key, value: said });
  }
  return lines;
}

/** Of a session only what stands behind a prompt. A line that ends in a backslash goes on in the next one. */
function commandsOf(block: readonly CodePart[]): Map<CodePart, CodeLine> {
  const lines = new Map<CodePart, CodeLine>();
  const isSession = block.some(({ text }) => PROMPT.test(text));
  let comment: string | undefined;
  let open: { readonly part: CodePart; readonly key: string | undefined; readonly begun: string } | undefined;
  for (const part of block) {
    const [, said] = COMMENT.exec(part.text) ?? [];
    if (open === undefined && said !== undefined) comment = said.trim();
    if (open === undefined && (said !== undefined || (isSession && !PROMPT.test(part.text)))) continue;
    const text = part.text.replace(PROMPT, "").replace(TRAILING_COMMENT, " # ").trim();
    const { part: first, key, begun } = open ?? { part, key: comment, begun: "" };
    const value = `${begun} ${text.replace(/\\$/, "")}`.trim();
    if (first !== part) lines.set(part, { key: undefined, value: "" });
    lines.set(first, { key, value });
    open = text.endsWith("\\") ? { part: first, key, begun: value } : undefined;
    comment = undefined;
  }
  return lines;
}
