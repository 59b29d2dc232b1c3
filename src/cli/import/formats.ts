/**
 * The files that `sideband import` reads, each known by its content: JSON by the fields that only such a file has,
 * lines of JSON by their first one, and all else as text.
 */

import { type FoundMemory, UnreadableFileError } from "./findings.ts";
import { LabelNames, type NameableLabel } from "./label-names.ts";
import { fieldOf, type LocatedValue, listIn, locatedJson, textField } from "./located-json.ts";
import { readFields, readLettaAgent, readMem0Memories, readReferenceServer } from "./other-memories.ts";
import { readOwnExport } from "./own-export.ts";
import { readTextLines } from "./text-lines.ts";

/** By the name for --as: what a file is said to be. */
export const FORMATS = {
  sideband: "an export of Sideband",
  lines: "lines LABEL=value",
  "mcp-memory": "the memory of MCP's reference server",
  mem0: "an export of mem0",
  letta: "an agent file of Letta",
  text: "text, such as CLAUDE.md",
} as const;

export type FormatName = keyof typeof FORMATS;

export interface FormatOptions {
  /** The labels of the account. */
  readonly labels: readonly NameableLabel[];
  /** Whose memory is wanted where the file has several. */
  readonly userId: string;
}

type FileContent = { readonly records: readonly LocatedValue[] } | { readonly text: string };

const UTF8 = new TextDecoder("utf-8", { fatal: true });

/** The text of a file. */
export function decodedText(bytes: Uint8Array): string {
  const [a, b] = bytes;
  if ((a === 0x50 && b === 0x4b) || (a === 0x1f && b === 0x8b))
    throw new UnreadableFileError("it is packed: unpack it, and import the file inside");
  try {
    // It takes a mark at the beginning off.
    return UTF8.decode(bytes);
  } catch {
    throw new UnreadableFileError("it is not text in UTF-8: save it as UTF-8");
  }
}

export function readFormat(
  text: string,
  forced: FormatName | undefined,
  options: FormatOptions,
): { format: FormatName; findings: FoundMemory } {
  const isText = forced === "text" || forced === "lines";
  const content: FileContent = isText ? { text } : contentOf(text, forced !== undefined);
  const format = forced ?? formatOf(content);
  return { format, findings: readAs(format, content, options) };
}

function readAs(format: FormatName, content: FileContent, { labels, userId }: FormatOptions): FoundMemory {
  if (format === "sideband") return readOwnExport(recordsOf(content), userId);
  const names = new LabelNames(labels);
  // The comments of `sideband facts` are no headings.
  if (format === "lines" && "text" in content)
    return readTextLines(content.text.replace(/^#.*$/gm, ""), names);
  if ("text" in content) return readTextLines(content.text, names);
  const [first] = content.records;
  switch (format) {
    case "letta":
      return readLettaAgent(first, names);
    case "mcp-memory": {
      const graph = [...listIn(first, "entities"), ...listIn(first, "relations")];
      return readReferenceServer(graph.length > 0 ? graph : content.records, names);
    }
    default: {
      const fields = fieldOf(first, "results") === undefined ? exportFields(first) : undefined;
      if (fields !== undefined && content.records.length === 1) return readFields(fields, names);
      return readMem0Memories(memoriesOf(content.records), names, userId);
    }
  }
}

function recordsOf(content: FileContent): readonly LocatedValue[] {
  return "records" in content ? content.records : [];
}

/** One value of JSON, lines of them, or a text. */
function contentOf(text: string, isJson: boolean): FileContent {
  const start = text.trimStart().slice(0, 2);
  const lines = text.split("\n");
  const first = lines.findIndex((line) => line.trim() !== "");
  // A memory that an assistant was asked for may begin with a date, [2026-01-31].
  if (!isJson && !/^(?:\{|\[\s*[{[\]]|\[$)/.test(start)) return { text };
  if (lines.length > 1 && isObject(lines[first])) {
    return {
      records: lines.flatMap((line, i) => (line.trim() === "" ? [] : [locatedJson(line, i + 1)])),
    };
  }
  const whole = locatedJson(text);
  return { records: Array.isArray(whole.value) ? whole.value : [whole] };
}

function isObject(line: string): boolean {
  try {
    return line.trimStart().startsWith("{") && typeof JSON.parse(line) === "object";
  } catch {
    return false;
  }
}

function formatOf(content: FileContent): FormatName {
  if ("text" in content) return isLines(content.text) ? "lines" : "text";
  const [first] = content.records;
  const has = (...names: string[]) => names.every((name) => fieldOf(first, name) !== undefined);
  if (["user", "key", "label", "request"].includes(textField(first, "kind") ?? "")) return "sideband";
  if (["entity", "relation"].includes(textField(first, "type") ?? "") || has("entities", "relations"))
    return "mcp-memory";
  if (has("agents", "blocks") || has("core_memory")) return "letta";
  if (memoriesOf(content.records).length > 0 || has("results") || exportFields(first) !== undefined)
    return "mem0";
  throw new UnreadableFileError(
    `it is JSON, but none that is known; known are ${Object.values(FORMATS).slice(2, 5).join(", ")} (--as NAME says which)`,
  );
}

/** Whether every line is a fact, but for comments such as those that `sideband facts` prints. */
function isLines(text: string): boolean {
  const lines = text.split("\n").filter((line) => line.trim() !== "" && !line.startsWith("#"));
  return lines.length > 0 && lines.every((line) => /^[A-Z][A-Z0-9_]{0,15}\.[a-z0-9_]{1,48}=/.test(line));
}

/** mem0's records: a list, the answer of get_all, OpenMemory's backup, or lines of the latter. */
function memoriesOf(records: readonly LocatedValue[]): readonly LocatedValue[] {
  const [first] = records;
  const inside = [...listIn(first, "results"), ...listIn(first, "memories")];
  const memories = inside.length > 0 ? inside : records;
  return memories.filter(
    (memory) => (textField(memory, "memory") ?? textField(memory, "content")) !== undefined,
  );
}

/** The fields of mem0's structured export; undefined where it is another one. */
function exportFields(record: LocatedValue | undefined): ReadonlyMap<string, LocatedValue> | undefined {
  const inner = fieldOf(record, "data") ?? record;
  if (!(inner?.value instanceof Map) || memoriesOf([inner]).length > 0) return undefined;
  const isSimple = ({ value }: LocatedValue) => typeof value !== "object" || value === null;
  return [...inner.value.values()].every((field) => isSimple(field) || listIn(field).some(isSimple))
    ? inner.value
    : undefined;
}
