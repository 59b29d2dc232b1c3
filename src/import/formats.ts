/**
 * The files that can be imported, each known by its content: JSON by the fields that only such a file has, lines of JSON by
 * their first one, tables by their name or first line, and all else as text. It needs nothing of Node.js: a page reads a
 * file with the same rules.
 */

import { groupOf } from "../base/channel-labels.ts";
import type { FactOrigin } from "../base/fact-origins.ts";
import { type FoundFact, type FoundMemory, UnreadableFileError } from "./findings.ts";
import { isChatExport, readChatMemories, readReferenceServer } from "./graphs-and-chats.ts";
import { LabelNames, type NameableLabel } from "./label-names.ts";
import { fieldOf, type LocatedValue, listIn, locatedJson, textField } from "./located-json.ts";
import { readLangGraph, readLettaAgent, readMemories, readProfile, textOf } from "./other-memories.ts";
import { readOwnExport } from "./own-export.ts";
import { looksSeparated, readSeparated } from "./separated-values.ts";
import { readTextLines } from "./text-lines.ts";
import { tidyFacts } from "./tidy-facts.ts";

/** By the name for --as: what a file is said to be. */
export const FORMATS = {
  sideband: "an export of Sideband",
  lines: "lines LABEL=value",
  "mcp-memory": "the memory of MCP's reference server",
  mem0: "an export of mem0",
  supermemory: "an export of supermemory",
  langgraph: "items of a LangGraph store",
  letta: "an agent file of Letta",
  chatgpt: "ChatGPT's export",
  csv: "a table of comma-separated values",
  text: "text",
} as const;

export type FormatName = keyof typeof FORMATS;

interface FormatOptions {
  /** The name of the file, without its folder. */
  readonly name: string;
  /** It belongs to a project, as a repository's CLAUDE.md does: so do its facts, but for those about the user. */
  readonly isOfProject?: boolean;
  /** The labels of the account, and those that the person's facts have. */
  readonly labels: readonly NameableLabel[];
  /** Whose memory is wanted where the file has several. */
  readonly userId: string;
  /** Where its facts come from, whatever the file is. */
  readonly origin?: FactOrigin | undefined;
}

type FileContent = { readonly records: readonly LocatedValue[] } | { readonly text: string };

const TEXT_FORMATS: readonly (FormatName | undefined)[] = ["text", "lines", "csv"];
const UTF8 = new TextDecoder("utf-8", { fatal: true });
const FILE_BYTES_MAX = 64 << 20;

/** The text of a file. */
export function decodedText(bytes: Uint8Array): string {
  if (bytes.length > FILE_BYTES_MAX) throw new UnreadableFileError("it is larger than 64 MiB");
  if (bytes.length === 0) throw new UnreadableFileError("it is empty");
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
  const isText =
    TEXT_FORMATS.includes(forced) || (forced === undefined && looksSeparated(text, options.name));
  const content: FileContent = isText ? { text } : contentOf(text, forced !== undefined);
  const format = forced ?? formatOf(content, options.name);
  const findings = withOrigins(tidyFacts(readAs(format, content, options)), format, options);
  return { format, findings: options.isOfProject === true ? ofProject(findings) : findings };
}

/** Whether a file by this name is for the agents in a project. */
export function isAgentsFile(name: string): boolean {
  return /^(?:(?:CLAUDE|AGENTS?|GEMINI)(?:\.local)?\.md|\.cursorrules|\.windsurfrules|copilot-instructions\.md)$/i.test(
    name,
  );
}

/** A person says what their notes say; another memory, or a file for agents, is read; our own export knows. */
function withOrigins(
  findings: FoundMemory,
  format: FormatName,
  { name, origin: given }: FormatOptions,
): FoundMemory {
  const isNotes = TEXT_FORMATS.includes(format) && !isAgentsFile(name);
  const usual = format === "sideband" ? undefined : isNotes ? "said" : "read";
  const facts = findings.facts.map((fact) => ({ ...fact, origin: given ?? fact.origin ?? usual }));
  return { ...findings, facts };
}

function ofProject(findings: FoundMemory): FoundMemory {
  const isMoved = ({ label, isExact }: FoundFact) =>
    isExact !== true && !["USER", "PREF"].includes(groupOf(label));
  return {
    ...findings,
    facts: findings.facts.map((fact) => (isMoved(fact) ? { scope: "project", ...fact } : fact)),
  };
}

function readAs(
  format: FormatName,
  content: FileContent,
  { name, labels, userId }: FormatOptions,
): FoundMemory {
  const names = new LabelNames(labels);
  if ("text" in content) {
    if (format === "csv") return readSeparated(content.text, name, names);
    // The comments of `sideband facts` are no headings.
    const text = format === "lines" ? content.text.replace(/^#.*$/gm, "") : content.text;
    return readTextLines(text, name, names);
  }
  const { records } = content;
  const [first] = records;
  switch (format) {
    case "sideband":
      return readOwnExport(records, userId);
    case "letta":
      return readLettaAgent(first, names);
    case "chatgpt":
      return readChatMemories(records, names);
    case "langgraph":
      return readLangGraph(itemsOf(records), names, userId);
    case "mcp-memory": {
      const graph = [...listIn(first, "entities"), ...listIn(first, "relations")];
      return readReferenceServer(graph.length > 0 ? graph : records, names);
    }
    default: {
      const profile = fieldOf(first, "results") === undefined ? profileOf(first) : undefined;
      if (profile !== undefined && records.length === 1) return readProfile(profile, names);
      const found = readMemories(memoriesOf(records), names, userId);
      const hasGraph = listIn(first, "relations").length > 0;
      return hasGraph ? { ...found, notRead: "the relations of its graph" } : found;
    }
  }
}

/** One value of JSON, lines of them, or a text. */
function contentOf(text: string, isJson: boolean): FileContent {
  const start = text.trimStart().slice(0, 100);
  const lines = text.split("\n");
  const first = lines.findIndex((line) => line.trim() !== "");
  // A memory that an assistant was asked for may begin with a date, [2026-01-31].
  if (!isJson && !/^(?:\{|\[\s*[{[\]"])/.test(start)) return { text };
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

function formatOf(content: FileContent, name: string): FormatName {
  if ("text" in content)
    return looksSeparated(content.text, name) ? "csv" : isLines(content.text) ? "lines" : "text";
  const [first] = content.records;
  const has = (...names: string[]) => names.every((name) => fieldOf(first, name) !== undefined);
  if (["user", "key", "label", "account", "request"].includes(textField(first, "kind") ?? ""))
    return "sideband";
  if (["entity", "relation"].includes(textField(first, "type") ?? "") || has("entities", "relations"))
    return "mcp-memory";
  if (has("agents", "blocks") || has("core_memory")) return "letta";
  if (isChatExport(first)) return "chatgpt";
  const [item] = itemsOf(content.records);
  if (
    fieldOf(item, "value") !== undefined &&
    (fieldOf(item, "namespace") ?? fieldOf(item, "prefix")) !== undefined
  )
    return "langgraph";
  const [memory] = memoriesOf(content.records);
  if ((fieldOf(memory, "containerTags") ?? fieldOf(memory, "containerTag")) !== undefined)
    return "supermemory";
  if (memory !== undefined || has("results") || profileOf(first) !== undefined) return "mem0";
  throw new UnreadableFileError(
    `it is JSON, but none that is known; known are ${Object.values(FORMATS).slice(2, 8).join(", ")}`,
    "format",
  );
}

/** Whether every line is a fact, but for comments such as those that `sideband facts` prints. */
function isLines(text: string): boolean {
  const lines = text.split("\n").filter((line) => line.trim() !== "" && !line.startsWith("#"));
  return lines.length > 0 && lines.every((line) => /^[A-Z][A-Z0-9_]{0,15}\.[a-z0-9_]{1,48}=/.test(line));
}

/** A list of memories, the answer of get_all or list, OpenMemory's backup, or lines of the latter. */
function memoriesOf(records: readonly LocatedValue[]): readonly LocatedValue[] {
  const [first] = records;
  const inside = [...listIn(first, "results"), ...listIn(first, "memories"), ...listIn(first, "documents")];
  const memories = inside.length > 0 ? inside : records;
  // supermemory lists documents, each with the memories that it made of them.
  const made = memories.flatMap((memory) =>
    listIn(memory, "memoryEntries").map((entry) => ({
      ...entry,
      value: new Map([...fieldsOf(memory), ...fieldsOf(entry)]),
    })),
  );
  return (made.length > 0 ? made : memories).filter(
    (memory) =>
      typeof memory.value === "string" ||
      (MEMORY_FIELDS.some((name) => fieldOf(memory, name) !== undefined) && textOf(memory) !== undefined),
  );
}

const MEMORY_FIELDS = ["memory", "content"];

function fieldsOf({ value }: LocatedValue): readonly (readonly [string, LocatedValue])[] {
  return value instanceof Map ? [...value] : [];
}

/** The items of a store: a list, lines, or the answer of a search. */
function itemsOf(records: readonly LocatedValue[]): readonly LocatedValue[] {
  const inside = listIn(records[0], "items");
  return inside.length > 0 ? inside : records;
}

/** An object whose fields say something of a user, such as mem0's structured export; undefined where it is another one. */
function profileOf(record: LocatedValue | undefined): LocatedValue | undefined {
  const inner = fieldOf(record, "data") ?? record;
  if (!(inner?.value instanceof Map) || memoriesOf([inner]).length > 0) return undefined;
  const isSimple = ({ value }: LocatedValue) => typeof value !== "object" || value === null;
  return [...inner.value.values()].some((field) => isSimple(field) || listIn(field).some(isSimple))
    ? inner
    : undefined;
}
