/**
 * The hooks for Claude Code, Codex and hosts that use the same JSON. A session that starts, or goes on after a compaction, gets
 * the memory; a resumed one only if its facts have changed; a sub-agent gets the facts. What is worth keeping is said by
 * the MCP server, whose words both hosts tell their models; the hooks do not say it again. Before a compaction Claude
 * Code's summary is asked to list what is not stored yet. When a long session stops, its agent is asked once to store
 * what is lasting. The last two need no memory, so nothing can keep them from being said. Where memory is away, a session
 * starts with a line for the person and one for the model that say so.
 *
 * A transcript is a file of JSON lines that the hosts name. It may have hundreds of megabytes, so only its end is kept in memory.
 */

import { closeSync, fstatSync, openSync, readSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import type { AgentMemory } from "../agent-side/agent-memory.ts";
import {
  contextFor,
  hasSection,
  memorySection,
  outageSection,
  replacingSection,
  type SectionParts,
} from "../agent-side/memory-section.ts";
import {
  ASKED_BEFORE_END,
  LIST_BEFORE_COMPACTION,
  STORE_AFTER_COMPACTION,
  STORE_BEFORE_END,
  TURNED_OFF,
} from "../agent-side/prompts.ts";

/** What the hosts do differently. */
export const HOSTS = {
  /** Replaces what is longer than 10,000 characters by the name of a file. Adds PreCompact's output to its summary prompt. */
  "claude-code": { lengthMax: 9_900, summaryPrompt: true },
  /** Has no limit if the hook says so (`additionalContextLimit`), and no way from PreCompact to its summary. */
  codex: { lengthMax: Number.POSITIVE_INFINITY, summaryPrompt: false },
  "gemini-cli": { lengthMax: Number.POSITIVE_INFINITY, summaryPrompt: false },
  vscode: { lengthMax: Number.POSITIVE_INFINITY, summaryPrompt: false },
  /** Has names of its own for what it tells and takes. */
  cursor: { lengthMax: Number.POSITIVE_INFINITY, summaryPrompt: false },
  /** Its plugin calls the hook. */
  opencode: { lengthMax: Number.POSITIVE_INFINITY, summaryPrompt: false },
} as const;

export type HookHost = keyof typeof HOSTS;

/** What a host tells a hook, as far as we use it. */
export interface HookInput {
  readonly event: string;
  readonly cwd: string | undefined;
  readonly source: string | undefined;
  readonly transcriptPath: string | undefined;
  /** Whether the agent goes on only because a hook asked it to. */
  readonly stopHookActive: boolean;
}

interface HookOptions {
  readonly host: HookHost;
  readonly include: SectionParts;
  readonly timeoutMs: number;
  readonly project: string | undefined;
  /** How many tokens a section has at most; 0: all facts. */
  readonly contextTokens: number;
  /** Only facts of these groups; undefined: all. */
  readonly groups?: string | undefined;
  /** A line for the person about what has changed; empty for none. */
  readonly news?: Promise<string> | undefined;
}

/** Whether the person has turned memory off in this session, with the prompt of the MCP server. */
export function isTurnedOff({ transcriptPath }: Pick<HookInput, "transcriptPath">): boolean {
  try {
    return transcriptPath !== undefined && fileHolds(transcriptPath, TURNED_OFF);
  } catch {
    // A session that starts has no transcript yet.
    return false;
  }
}

/** Whether a file has a text of plain ASCII anywhere: a session may go on for long after it. */
function fileHolds(path: string, text: string): boolean {
  const file = openSync(path, "r");
  try {
    const bytes = Buffer.alloc(END_BYTES_MAX);
    for (let at = 0; ; at += bytes.length - text.length) {
      const length = readSync(file, bytes, 0, bytes.length, at);
      if (bytes.subarray(0, length).includes(text)) return true;
      if (length < bytes.length) return false;
    }
  } finally {
    closeSync(file);
  }
}

/** The share of its time that a hook waits for the block; after that it uses the facts alone. */
const BLOCK_SHARE = 0.6;
/** A session in which the agent has spoken less often than this is not asked. */
const LONG_SESSION_MESSAGES = 20;

/** Reads the host's JSON; throws if it is not the input of a hook. */
export function hookInput(text: string): HookInput {
  const parsed: unknown = JSON.parse(text);
  if (typeof parsed !== "object" || parsed === null || !("hook_event_name" in parsed)) {
    throw new TypeError("the host's JSON has no hook_event_name");
  }
  const fields = parsed as Record<string, unknown>;
  const textIn = (name: string) => (typeof fields[name] === "string" ? fields[name] : undefined);
  const event = textIn("hook_event_name") ?? "";
  // Cursor spells the first letter small, and tells the folders of its window.
  const [root] = Array.isArray(fields.workspace_roots) ? (fields.workspace_roots as unknown[]) : [];
  return {
    event: event.charAt(0).toUpperCase() + event.slice(1),
    cwd: textIn("cwd") ?? (typeof root === "string" ? root : undefined),
    source: textIn("source"),
    transcriptPath: textIn("transcript_path"),
    stopHookActive: fields.stop_hook_active === true,
  };
}

/** What a hook says before anything that can fail: it needs neither a setting nor the memory. */
export function immediateOutput(input: HookInput, host: HookHost): string {
  if (input.event === "PreCompact") return HOSTS[host].summaryPrompt ? LIST_BEFORE_COMPACTION : "";
  return input.event === "Stop" ? askAtEnd(input) : "";
}

/**
 * Stop: an agent that has worked for long is asked once to store what is lasting. Whether it was asked before is in
 * the end of the transcript. The end of a session itself has no way back to the agent in either host.
 */
function askAtEnd({ transcriptPath, stopHookActive }: HookInput): string {
  if (transcriptPath === undefined || stopHookActive) return "";
  const { text: transcript } = transcriptEnd(transcriptPath);
  const messages = transcript.match(/"role":\s?"assistant"/g)?.length ?? 0;
  if (messages < LONG_SESSION_MESSAGES || transcript.includes(ASKED_BEFORE_END)) return "";
  return JSON.stringify({ decision: "block", reason: STORE_BEFORE_END });
}

/** What a hook does with the memory. */
type HookWork = (
  memory: AgentMemory,
  userId: string,
  input: HookInput,
  options: HookOptions,
) => Promise<{
  /** For standard output, which the host reads; empty for nothing. */
  readonly output: string;
  /** A line for standard error; empty for nothing. */
  readonly note: string;
}>;

/** The work for an event; undefined where the memory is not needed. Without the block there is nothing to flush. */
export function memoryWork({ event }: HookInput, include: SectionParts): HookWork | undefined {
  if (event === "SessionStart") return startSession;
  if (event === "SubagentStart") return startSubagent;
  return event === "PreCompact" && include !== "index" ? flush : undefined;
}

const startSession: HookWork = async (memory, userId, input, options) => {
  const { lengthMax } = HOSTS[options.host];
  const told = input.source === "compact" ? STORE_AFTER_COMPACTION : "";
  const room = lengthMax - told.length - replacingSection("").length;
  const section = await sectionOf(memory, userId, options, room);
  const news = await options.news;
  if (input.source !== "resume") return contextOutput(input, options.host, told, section, news);
  // The conversation has the facts if they are the same.
  const shown = lastSectionLine(input.transcriptPath);
  if (shown === "") return contextOutput(input, options.host, "", section, news);
  const replacing = replacingSection(section);
  const isSame = [section, replacing].some((text) => text !== "" && lineHolds(shown ?? "", text));
  return contextOutput(input, options.host, "", isSame ? "" : replacing, news);
};

/** The facts in plain text: a sub-agent's context is short-lived, and nothing reads a block in it. */
const startSubagent: HookWork = async (memory, userId, input, options) => {
  const { lengthMax } = HOSTS[options.host];
  return contextOutput(
    input,
    options.host,
    "",
    await sectionOf(memory, userId, { ...options, include: "index" }, lengthMax),
  );
};

/** What a hook prints where memory is away; empty for an event that the host expects nothing from. */
export function outageOutput(input: HookInput, host: HookHost, reason: string): string {
  if (input.event !== "SessionStart" && input.event !== "SubagentStart") return "";
  // One line is enough for the person: a session can have many sub-agents.
  const said = input.event === "SubagentStart" ? "" : `Sideband: going on without memory: ${reason}`;
  return contextOutput(input, host, "", outageSection(), said, true).output;
}

/** What a hook prints where memory is off: the person is told when a session begins. */
export function offOutput(input: HookInput, host: HookHost, line: string): string {
  return beginsSession(input) && host !== "cursor" ? contextOutput(input, host, "", "", line).output : "";
}

/** After a compaction, a session goes on. */
export function beginsSession({ event, source }: HookInput): boolean {
  return event === "SessionStart" && source !== "compact";
}

const flush: HookWork = async (memory, userId, _input, { timeoutMs, project }) => {
  const { lossless, overflow } = await memory.flush(userId, { timeoutMs, project });
  const note = lossless ? "" : `sideband: these facts did not fit in the block: ${overflow.join(", ")}`;
  return { output: "", note };
};

function contextOutput(
  { event: hookEventName }: HookInput,
  host: HookHost,
  told: string,
  section: string,
  news = "",
  isAway = false,
) {
  const additionalContext = [told, section].filter((text) => text !== "").join("\n\n");
  if (host === "cursor")
    return { output: JSON.stringify({ additional_context: additionalContext }), note: "" };
  const output = {
    // Hosts show it to the person, and not to the model.
    ...(news === "" ? {} : { systemMessage: news }),
    // Our own plugin asks again; other hosts do not know the field.
    ...(isAway && host === "opencode" ? { isAway } : {}),
    ...(additionalContext === "" ? {} : { hookSpecificOutput: { hookEventName, additionalContext } }),
  };
  return { output: Object.keys(output).length === 0 ? "" : JSON.stringify(output), note: "" };
}

/**
 * The memory section; without the block if that takes too long. An owner that was just started must load the reader
 * before it can build a block. The facts in plain text, which the model reads, are available immediately. A section that
 * is longer than the host takes has no block, and then fewer facts.
 */
async function sectionOf(
  memory: AgentMemory,
  userId: string,
  { include, timeoutMs, project, contextTokens, groups }: HookOptions,
  lengthMax: number,
): Promise<string> {
  const asked = { timeoutMs, project, groups, ...contextFor(include, contextTokens) };
  const context = memory.context(userId, asked);
  const soon =
    include !== "both" ? await context : await Promise.race([context, pause(timeoutMs * BLOCK_SHARE)]);
  let section = soon && memorySection(soon, include);
  const fewer = (tokens: number) => Math.floor((tokens || lengthMax / 2) / 2);
  let tokens = include === "index" ? fewer(contextTokens) : contextTokens;
  for (; section === undefined || section.length > lengthMax; tokens = fewer(tokens)) {
    const index = await memory.context(userId, { ...asked, ...contextFor("index", tokens) });
    section = memorySection(index, "index");
  }
  return section;
}

/** Hundreds of turns of a usual session. */
const END_BYTES_MAX = 4 << 20;
/** A line after which the model sees nothing of what was before: of Claude Code, of Codex. */
const COMPACTED = /"subtype":"compact_boundary"|"type":"compacted"/;

/** The last lines of a transcript. Where it is longer, the first of them may be a part of a line. */
function transcriptEnd(path: string): { readonly text: string; readonly isWhole: boolean } {
  const file = openSync(path, "r");
  try {
    const { size } = fstatSync(file);
    const length = Math.min(size, END_BYTES_MAX);
    const bytes = Buffer.alloc(length);
    const text = bytes.toString("utf8", 0, readSync(file, bytes, 0, length, size - length));
    return { text, isWhole: length === size };
  } finally {
    closeSync(file);
  }
}

/** The last line with a section that the model still sees; empty if there is none, undefined if that is not known. */
function lastSectionLine(path: string | undefined): string | undefined {
  try {
    const { text, isWhole } = transcriptEnd(path ?? "");
    for (const line of text.split("\n").reverse()) {
      if (COMPACTED.test(line)) return "";
      if (hasSection(line)) return line;
    }
    return isWhole ? "" : undefined;
  } catch {
    return undefined;
  }
}

/** Whether a line holds a text, however its host spells characters in JSON. */
function lineHolds(line: string, text: string): boolean {
  let spelled = line;
  try {
    spelled = JSON.stringify(JSON.parse(line));
  } catch {
    // A part of a line is compared as it is.
  }
  return spelled.includes(JSON.stringify(text).slice(1, -1));
}

export async function withTimeout<T>(work: Promise<T>, ms: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${ms} ms`)), ms);
  });
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
}
