/**
 * Sideband as OpenClaw's memory: the facts of the user and of the workspace's project go into every prompt, a flush runs
 * before every compaction where the prompt has the block, and the model gets the tools. The plugin in agents/openclaw loads it. It imports nothing of
 * OpenClaw: the host takes a plain object for a plugin.
 */

import { CONTEXT_TOKENS, SECTION_PARTS, type SectionParts } from "../agent-side/memory-section.ts";
import { ADD_LABEL, type MemoryTool, type ToolInput, toolsFor } from "../agent-side/memory-tools.ts";
import { REMEMBER_PROMPT, STORE_BEFORE_COMPACTION } from "../agent-side/prompts.ts";
import { type ToolLabels, writtenLabels } from "../agent-side/tool-labels.ts";
import { toolResultText } from "../agent-side/tool-texts.ts";
import { Sideband } from "../sdk/index.ts";
import { type AdapterOptions, flushed, injected, inputSchema, runTool } from "./adapter.ts";
import { openProject, placeOf } from "./project.ts";

/** `plugins.entries.sideband.config` of the host. */
interface PluginConfig {
  readonly apiUrl?: string;
  readonly apiKey?: string;
  readonly userId?: string;
  readonly project?: string;
  readonly include?: SectionParts;
  readonly timeoutMs?: number;
}

/** What the host says of a run. */
interface RunContext {
  readonly workspaceDir?: string;
}

interface PluginTool {
  readonly name: string;
  readonly label: string;
  readonly description: string;
  readonly parameters: object;
  execute(id: string, params: ToolInput | undefined): Promise<object>;
}

/** The part of the host's interface that we use. */
interface PluginApi {
  readonly pluginConfig?: PluginConfig;
  readonly logger?: { warn?(line: string): void };
  registerMemoryCapability(capability: object): void;
  registerTool(make: (context?: RunContext) => PluginTool | null, options: { names: string[] }): void;
  on(event: string, handler: (event: object, context?: RunContext) => Promise<unknown>): void;
}

/** As the host's own plan for the turn before a compaction, but for the prompt. */
const FLUSH_PLAN = {
  softThresholdTokens: 4_000,
  forceFlushTranscriptBytes: 2 << 20,
  reserveTokensFloor: 20_000,
  prompt: STORE_BEFORE_COMPACTION,
  systemPrompt: STORE_BEFORE_COMPACTION,
  relativePath: "memory/sideband.md",
};
const NAME_PREFIX = "sideband_";
const toolNames = (text: string) => text.replace(/\b(remember|recall|find)\b(?= |\.)/g, `${NAME_PREFIX}$1`);

/** @param environment SIDEBAND_ variables; the host's own settings come first */
export function openclawPlugin(environment: Readonly<Record<string, string | undefined>>) {
  return {
    id: "sideband",
    name: "Sideband",
    description: "Facts that survive compaction, kept exactly.",
    kind: "memory",
    register: (api: PluginApi): void => register(api, environment),
  };
}

function register(api: PluginApi, environment: Readonly<Record<string, string | undefined>>): void {
  const { apiUrl, apiKey, timeoutMs, ...config } = api.pluginConfig ?? {};
  const warn = (line: string) => (api.logger?.warn ? api.logger.warn(line) : console.error(line));
  if (["1", "true"].includes(environment.SIDEBAND_OFF ?? "")) {
    warn("Sideband is off: SIDEBAND_OFF is set");
    return;
  }
  const contextTokens = environment.SIDEBAND_CONTEXT_TOKENS ? undefined : CONTEXT_TOKENS;
  const memory = new Sideband({ baseUrl: apiUrl, apiKey, contextTokens, onWarning: warn });
  const userId = config.userId ?? (environment.SIDEBAND_USER_ID || "default");
  const settings = {
    project: config.project ?? (environment.SIDEBAND_PROJECT || undefined),
    projectFrom: environment.SIDEBAND_PROJECT_FROM === "path" ? "path" : "remote",
    timeoutMs,
  } as const;
  const places = new Map<string | undefined, string | undefined>();
  const include = config.include ?? SECTION_PARTS.find((part) => part === environment.SIDEBAND_INCLUDE);
  let known: ToolLabels | undefined;
  // Tools are made without waiting: they have the labels that were known before.
  const readLabels = async () => {
    known = await memory.channels({ failFast: true, timeoutMs }).catch(() => known);
  };
  const tools = () => {
    // Until the service has said whether this key may.
    const addsLabels = known?.free !== 0;
    const writes = known && writtenLabels(known, undefined);
    return toolsFor({ hasBlock: false, addsLabels, labels: known?.channels, writes, strict: known?.strict });
  };
  const optionsIn = ({ workspaceDir }: RunContext = {}): AdapterOptions => ({
    memory,
    userId,
    timeoutMs,
    include,
    addLabels: known?.free !== 0,
    writtenBy: "openclaw",
    project: places.get(workspaceDir) ?? placeOf(given(workspaceDir), settings),
  });

  api.registerMemoryCapability({
    promptBuilder: () => [toolNames(REMEMBER_PROMPT)],
    flushPlanResolver: () => FLUSH_PLAN,
  });
  api.on("before_prompt_build", async (_event, context) => {
    if (known === undefined) void readLabels();
    const folder = context?.workspaceDir;
    places.set(folder, await openProject(memory, userId, given(folder), settings));
    const section = await injected("", optionsIn(context));
    return section === "" ? undefined : { appendSystemContext: section };
  });
  api.on("before_compaction", async (_event, context) => {
    const flush = await flushed(optionsIn(context));
    if (flush?.flushed && !flush.lossless)
      warn(`sideband: these facts did not fit in the block: ${flush.overflow.join(", ")}`);
  });
  for (const tool of tools()) registerTool(api, tool, { tools, optionsIn, readLabels });
}

/** What is known of the memory when the host asks. */
interface Known {
  readonly tools: () => readonly MemoryTool[];
  readonly optionsIn: (context?: RunContext) => AdapterOptions;
  readonly readLabels: () => Promise<void>;
}

function registerTool(api: PluginApi, tool: MemoryTool, { tools, optionsIn, readLabels }: Known): void {
  const name = `${NAME_PREFIX}${tool.name}`;
  const make = (context?: RunContext): PluginTool | null => {
    const offered = tools().find((one) => one.name === tool.name);
    // Null: the host does not offer it.
    if (offered === undefined) return null;
    return {
      name,
      label: tool.title ?? tool.name,
      description: offered.description,
      parameters: inputSchema(tool, optionsIn(context)),
      async execute(_id, params) {
        const details = await runTool(tool, optionsIn(context), params ?? {});
        if (tool.name === ADD_LABEL) await readLabels();
        return { content: [{ type: "text", text: toolResultText(details) }], details };
      },
    };
  };
  api.registerTool(make, { names: [name] });
}

function given(folder: string | undefined): string[] {
  return folder === undefined ? [] : [folder];
}
