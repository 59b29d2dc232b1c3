/**
 * The tools for an agent: their names, input as JSON Schema, hints about their effects, and the call that each makes. The
 * MCP server and every adapter use the same tools. A model reads the list with every call, so it is short: the labels
 * stand in one place (tool-labels.ts), and a test counts its tokens.
 */

import { isWellFormed } from "../base/bytes.ts";
import { FACT_ORIGINS } from "../base/fact-origins.ts";
import type { LabelPatterns } from "../base/label-patterns.ts";
import { TTL_S_MAX } from "../base/limits.ts";
import { ownZone, parseMoment, SPOKEN_ENDS } from "../base/spoken-moments.ts";
import type { LabelScope, WrittenAnswer } from "../contract/answers.ts";
import {
  type AgentCallOptions,
  type AgentMemory,
  type AgentWriterOptions,
  PLACE_KINDS,
} from "./agent-memory.ts";
import { escapeText } from "./escaped-text.ts";
import { sanitizeValue } from "./secrets.ts";
import { labelsText, STANDARD_TOOL_LABELS, type ToolLabel, writableText } from "./tool-labels.ts";
import { given, type JsonObject, listedFact, recalledFacts, shownRevision } from "./tool-texts.ts";
import {
  errorCodeOf,
  forgottenLine,
  placeOfFact,
  readRevisions,
  readRevisionsAfter,
  renamedLine,
  type UndoIn,
  writtenLine,
} from "./written-line.ts";

/** What a model has filled in; null stands for what it left out where a host's schemas are strict. */
export type ToolInput = Readonly<Record<string, unknown>>;

export interface ToolCallOptions extends AgentWriterOptions {
  /** The command that undoes a write, where the person has one. */
  undoIn?: UndoIn | undefined;
  /** Keeps what looks like a secret too. */
  allowSecrets?: boolean | undefined;
}

export interface RunOptions extends ToolCallOptions {
  /** The labels that may be written; undefined: all that the key may write. */
  labels?: LabelPatterns | undefined;
}

export interface MemoryTool {
  readonly name: string;
  /** For a person, where the name does not say it. */
  readonly title?: string | undefined;
  readonly description: string;
  /** JSON Schema of the input properties that are required. */
  readonly input: JsonObject;
  /** JSON Schema of those that are not. */
  readonly optional: JsonObject;
  /** Only of use where the sealed block is in the prompt. */
  readonly isForBlock: boolean;
  /** The labels that a call would write; absent where it writes none. */
  writes?(input: ToolInput): readonly unknown[];
  /** Without what the protocol takes as given: a tool writes, and for one that reads the rest means nothing. */
  readonly annotations: {
    readonly readOnlyHint?: boolean;
    readonly destructiveHint?: boolean;
    readonly openWorldHint: boolean;
  };
  run(memory: AgentMemory, userId: string, input: ToolInput, options?: ToolCallOptions): Promise<JsonObject>;
}

export const READS = { readOnlyHint: true, openWorldHint: false };
/** What is replaced can be restored, so it is not destroyed: hosts ask for leave before they destroy. */
const KEEPS = { destructiveHint: false, openWorldHint: false };
const DELETES = { ...KEEPS, destructiveHint: true };

/** What it adds is there for all users of the account. */
const REACHES_OTHERS = { ...KEEPS, openWorldHint: true };

const TEXT = { type: "string" };
const WHOLE = { type: "integer" };
const REMEMBER = "remember";
export const HISTORY = "history";
export const ADD_LABEL = "add_label";
export const HISTORY_LISTS = "Lists the values of a fact, newest first";
const SCOPE = {
  scope: {
    type: "string",
    enum: PLACE_KINDS,
    description: "The label knows.",
  },
};

class NoProjectError extends Error {
  override name = "NoProjectError";
  readonly code = "no_project";

  constructor() {
    super("This session is in no project: leave the scope out, or name the scope person.");
  }
}

export const MEMORY_TOOLS: readonly MemoryTool[] = [
  {
    name: REMEMBER,
    description: rememberText({}),
    input: { label: TEXT, value: { ...TEXT, description: "One line, up to 1 KB." } },
    optional: {
      add: { type: "boolean" },
      new_label: { ...TEXT, enum: ["certain"], description: "Only if refused." },
      ttl_s: WHOLE,
      until: { ...TEXT, description: "friday, or a date" },
      origin: {
        ...TEXT,
        enum: FACT_ORIGINS,
        description: "By user, you, elsewhere.",
      },
      pinned: { type: "boolean" },
      ...SCOPE,
    },
    isForBlock: false,
    writes: ({ label }) => [label],
    annotations: KEEPS,
    async run(memory, userId, input, { allowSecrets, undoIn, ...options } = {}) {
      const scope = scopeIn(input, options);
      const label = textIn(input, "label");
      const kept = sanitizeValue(textIn(input, "value"), allowSecrets, label);
      const newLabel = input.new_label === "certain" ? "certain" : true;
      const origin = FACT_ORIGINS.find((one) => one === input.origin);
      const pinned = typeof input.pinned === "boolean" ? input.pinned : undefined;
      const written = { ...options, scope, newLabel, ...endOf(input), origin, pinned } as const;
      const answer =
        input.add === true
          ? await memory.append(userId, label, kept, written)
          : await memory.encode(userId, label, kept, written);
      return writtenResult(memory, userId, answer, { ...options, undoIn });
    },
  },
  {
    name: "recall",
    description: "Reads one fact, or all without a label.",
    input: {},
    optional: { label: TEXT },
    isForBlock: false,
    annotations: READS,
    async run(memory, userId, input, options) {
      if (typeof input.label !== "string") {
        return recalledFacts((await memory.facts(userId, reading(options))).facts);
      }
      const label = textIn(input, "label");
      try {
        const fact = await memory.decode(userId, label, reading(options));
        const { value, updated_at, written_by, written_by_user_id: user_id, expires_at, origin } = fact;
        return given({ label, value, updated_at, user_id, written_by, expires_at, origin });
      } catch (error) {
        if (errorCodeOf(error) === "fact_not_found") return { label, value: null };
        throw error;
      }
    },
  },
  {
    name: "find",
    description: "Finds facts by words.",
    input: { query: TEXT },
    optional: { everywhere: { type: "boolean", description: "In all projects." } },
    isForBlock: false,
    annotations: READS,
    async run(memory, userId, input, options) {
      const everywhere = input.everywhere === true;
      const { facts } = await memory.find(userId, textIn(input, "query"), {
        ...reading(options),
        everywhere,
      });
      return {
        facts: facts.map((fact) => ({
          ...listedFact(fact),
          ...given({ project: fact.project, guess: fact.guess }),
        })),
      };
    },
  },
  {
    name: "forget",
    description: "Forgets a fact; can be restored.",
    input: { label: TEXT },
    optional: {
      for_good: { type: "boolean", description: "History too, if asked." },
      scope: TEXT,
    },
    isForBlock: false,
    writes: ({ label }) => [label],
    annotations: DELETES,
    async run(memory, userId, input, { undoIn, ...more } = {}) {
      const options = reading(more);
      const label = textIn(input, "label");
      const isForGood = input.for_good === true;
      try {
        const scope = scopeIn(input, options) ?? (await placeOfFact(memory, userId, label, options));
        await memory.forget(userId, label, { ...options, scope, keepHistory: !isForGood });
        if (isForGood) return { result: `${label}: forgotten for good`, label, forgotten: true };
        const kept = await readRevisions(memory, userId, label, { ...options, scope });
        const result = forgottenLine(label, kept, undoIn?.(scope, options.project), scope);
        return { result, label, forgotten: true };
      } catch (error) {
        if (errorCodeOf(error) === "fact_not_found") return { label, forgotten: false };
        throw error;
      }
    },
  },
  {
    name: ADD_LABEL,
    description: "Adds a label for every user of the account.",
    input: { label: TEXT, description: TEXT },
    optional: { scope: { type: "string", enum: PLACE_KINDS } },
    isForBlock: false,
    writes: ({ label }) => [label],
    annotations: REACHES_OTHERS,
    async run(memory, _userId, input, { undoIn, writtenBy, ...more } = {}) {
      const { project: _, ...call } = reading(more);
      const options = { ...call, writtenBy };
      const wanted = { description: textIn(input, "description"), scope: input.scope ?? undefined };
      const terms = wanted as { description: string; scope: LabelScope | undefined };
      const { label, description, scope } = await memory.addLabel(textIn(input, "label"), terms, options);
      const undo = undoIn?.(undefined, undefined);
      const how = undo === undefined ? "" : `; undo: ${undo.program} labels remove ${label}${undo.options}`;
      return { result: `${label}: added for all users${how}`, label, description, scope };
    },
  },
  {
    name: HISTORY,
    description: `${HISTORY_LISTS}; restore brings one back; rename_to moves it (merge joins two).`,
    input: { label: TEXT },
    optional: { restore: WHOLE, rename_to: TEXT, merge: { type: "boolean" } },
    isForBlock: false,
    writes: ({ label, restore, rename_to: to }) =>
      typeof to === "string" ? [label, to] : typeof restore === "number" ? [label] : [],
    annotations: KEEPS,
    async run(memory, userId, input, { undoIn, allowSecrets: _, ...options } = {}) {
      const label = textIn(input, "label");
      if (typeof input.restore === "number" && typeof input.rename_to === "string")
        throw invalidInput("restore and rename_to are two writes: give one.");
      if (typeof input.restore === "number") {
        const answer = await memory.restore(userId, label, input.restore, options);
        return writtenResult(memory, userId, answer, { ...options, undoIn });
      }
      if (typeof input.rename_to === "string")
        return renamedResult(memory, userId, input, { ...options, undoIn });
      const { revisions } = await memory.history(userId, label, reading(options));
      return { label, revisions: revisions.map(shownRevision) };
    },
  },
  {
    name: "flush",
    title: "Flush before compaction",
    description: "Before a compaction: builds a new block, reads it back and returns it to be kept.",
    input: {},
    optional: {},
    isForBlock: true,
    annotations: READS,
    async run(memory, userId, _input, options) {
      const { status, channel_count, lossless, overflow, fdm_block } = await memory.flush(
        userId,
        reading(options),
      );
      return { status, channel_count, lossless, overflow: [...overflow], fdm_block };
    },
  },
  {
    name: "read_block",
    title: "Read a block",
    description: "Reads a [MEM] block of this user, even if it is damaged or inside other text.",
    input: { block: { ...TEXT, maxLength: 60_000 } },
    optional: {},
    isForBlock: true,
    annotations: READS,
    async run(memory, userId, input, options) {
      const { facts, missing, wrong, repaired, guard_left } = await memory.read(
        userId,
        textIn(input, "block", true),
        reading(options),
      );
      const marked = facts.map(({ label, value, mark }) => given({ label, value, mark }));
      return { facts: marked, missing, wrong, repaired, guard_left };
    },
  },
];

/** The labels that the tools offer. */
interface OfferedLabels {
  /** Of the account. */
  readonly labels?: readonly ToolLabel[] | undefined;
  /** Of one person, where the tools are theirs. */
  readonly personal?: readonly string[] | undefined;
  /** Those that may be written, where that is not all. */
  readonly writes?: LabelPatterns | undefined;
  readonly strict?: boolean | undefined;
}

/** The tools of an agent whose prompt has the block or not, and that may add labels or not, with the labels of its account. */
export function toolsFor({
  hasBlock,
  addsLabels,
  ...offered
}: OfferedLabels & { hasBlock: boolean; addsLabels: boolean }): readonly MemoryTool[] {
  return MEMORY_TOOLS.filter(({ isForBlock }) => hasBlock || !isForBlock)
    .filter(({ name }) => addsLabels || name !== ADD_LABEL)
    .map((tool) => (tool.name === REMEMBER ? { ...tool, description: rememberText(offered) } : tool));
}

/** Runs a tool. What it would write must be among the labels that may be written, whatever the model was offered. */
export async function runMemoryTool(
  tool: MemoryTool,
  memory: AgentMemory,
  userId: string,
  input: ToolInput,
  { labels, ...options }: RunOptions,
): Promise<JsonObject> {
  for (const label of tool.writes?.(input) ?? [])
    if (typeof label === "string") requireOffered(labels, label);
  return tool.run(memory, userId, input, options);
}

/** @param labels those that may be written; undefined: all */
export function requireOffered(labels: LabelPatterns | undefined, label: string): void {
  if (labels === undefined || labels.has(label)) return;
  const text = `${label} is not among the labels that may be written here: ${labels.list.join(", ")}.`;
  throw Object.assign(new Error(text), { code: "label_not_allowed" });
}

/** The input of a tool as JSON Schema. @param isPlaced whether there can be a project, so that a scope makes sense */
export function toolSchema({ input, optional }: MemoryTool, isPlaced: boolean) {
  const { scope, ...rest } = optional;
  return objectSchema(input, isPlaced ? optional : rest);
}

/** Without what a model need not read: a call with other fields is refused all the same. */
export function shortSchema({ additionalProperties, required, ...schema }: ReturnType<typeof toolSchema>) {
  return required.length === 0 ? schema : { ...schema, required };
}

/** Properties as the schema of an object that has them all, perhaps the optional ones, and no others. */
export function objectSchema(properties: JsonObject, optional: JsonObject = {}) {
  return {
    type: "object" as const,
    properties: { ...properties, ...optional },
    required: Object.keys(properties),
    additionalProperties: false,
  };
}

function rememberText({ labels = STANDARD_TOOL_LABELS, personal, writes, strict }: OfferedLabels): string {
  return (
    "Keeps a short, lasting fact that the user states or changes, exactly as written. " +
    `One fact a label: ${writableText(writes, strict)} ` +
    "It replaces the fact there; add=true adds to a list. Secrets are refused, <private> parts left out. " +
    labelsText(labels, personal, writes)
  );
}

/** What a call that writes nothing takes of the options. */
function reading({ timeoutMs, signal, failFast, project }: ToolCallOptions = {}): AgentCallOptions {
  return { timeoutMs, signal, failFast, project };
}

function scopeIn({ scope }: ToolInput, { project }: AgentCallOptions): LabelScope | undefined {
  if (scope === undefined || scope === null) return undefined;
  const said = PLACE_KINDS.find((one) => one === scope);
  if (said === undefined) throw invalidInput(`scope is one of ${PLACE_KINDS.join(", ")}.`);
  if (said !== "person" && project === undefined) throw new NoProjectError();
  return said;
}

/** @param isDamaged whether it may have half a character */
function textIn(input: ToolInput, name: string, isDamaged = false): string {
  const text = input[name];
  if (typeof text !== "string") throw invalidInput(`${name} is needed.`);
  if (!isDamaged && !isWellFormed(text))
    throw invalidInput(`${name} must be well-formed Unicode, without lone surrogates.`);
  return text;
}

function invalidInput(message: string): Error {
  return Object.assign(new Error(message), { code: "invalid_request" });
}

/** When a fact ends, in words of the zone of this process, or after how many seconds. */
function endOf({ ttl_s, until, add }: ToolInput): { ttlS?: number; expiresAt?: string } {
  const ends = { ...(typeof ttl_s === "number" && { ttlS: ttl_s }) };
  if (ends.ttlS !== undefined && (ends.ttlS < 1 || ends.ttlS > TTL_S_MAX))
    throw invalidInput(`ttl_s must be from 1 to ${TTL_S_MAX}.`);
  if (add === true && (ends.ttlS ?? until ?? undefined) !== undefined)
    throw invalidInput("An end is one of the whole list: give what ends a label of its own, without add.");
  if (typeof until !== "string") return ends;
  const [nowMs, said] = [Date.now(), escapeText(JSON.stringify(until))];
  const endMs = parseMoment(until, "end", nowMs, ownZone);
  if (ends.ttlS !== undefined) throw invalidInput("ttl_s and until both say when it ends: give one of them.");
  if (endMs === undefined) throw invalidInput(`until takes a moment such as ${SPOKEN_ENDS}, not ${said}.`);
  if (endMs <= nowMs) throw invalidInput(`until takes a moment in the future, not ${said}.`);
  return { expiresAt: new Date(endMs).toISOString() };
}

/** What was written, what it replaced, and how that is undone. */
async function writtenResult(
  memory: AgentMemory,
  userId: string,
  written: WrittenAnswer,
  { undoIn, ...options }: ToolCallOptions,
): Promise<JsonObject> {
  const { label, value, revision, place, expires_at, previous } = written;
  const kept = await readRevisionsAfter(memory, userId, written, options);
  const undo = undoIn?.(place, options.project);
  const named = place === "shared" ? "the team" : undefined;
  const result = writtenLine(written, kept, undo, undefined, named, options.project !== undefined);
  return given({ result, label, value, revision, place, expires_at, previous: previous?.value });
}

async function renamedResult(
  memory: AgentMemory,
  userId: string,
  input: ToolInput,
  { undoIn, ...options }: ToolCallOptions,
): Promise<JsonObject> {
  const [label, to] = [textIn(input, "label"), textIn(input, "rename_to")];
  const merge = input.merge === true ? "append" : undefined;
  const written = await memory.rename(userId, label, to, { ...options, merge });
  const { value, revision, place, previous } = written;
  const isMerged = previous !== null;
  const read = async (one: string) =>
    isMerged ? readRevisionsAfter(memory, userId, { label: one, place }, options) : [];
  const kept = { from: await read(label), to: await read(to) };
  const result = renamedLine(label, written, kept, undoIn?.(place, options.project));
  return given({ result, label: to, renamed: label, value, revision, place, previous: previous?.value });
}
