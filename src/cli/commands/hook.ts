/**
 * sideband hook: what the hooks of Claude Code and Codex call. It never fails and never takes long: a failure is one
 * line on standard error, and the agent goes on.
 */

import { parseArgs } from "node:util";
import { SECTION_PARTS, type SectionParts } from "../../agent-side/memory-section.ts";
import { HOSTS, type HookHost, hookInput, runHook, usesMemory, withoutMemory } from "../../agents/hooks.ts";
import { projectOf } from "../../agents/project.ts";
import { readAgentConfig } from "../../config.ts";
import { openAgentMemory } from "../../main/agent.ts";
import { type Command, EXIT_OK, UsageError } from "../command.ts";
import { optionErrorText } from "../option-errors.ts";

const INPUT_BYTES_MAX = 1 << 20;

export const hook: Command = {
  name: "hook",
  summary: "run a hook of Claude Code or Codex (its JSON on standard input)",
  help: `usage: sideband hook [--host claude-code|codex] [--user ID] [--include index|block|both]

Reads the JSON that the host writes to a hook. SessionStart prints the memory as the host wants it
(hookSpecificOutput.additionalContext); PreCompact asks Claude Code's summary to list what is not stored yet, and flushes
where the prompt has the block; Stop asks the agent of a long session once to store what
is lasting; any other event does nothing. The memory is that of "sideband mcp": the service of SIDEBAND_API_URL and
SIDEBAND_API_KEY, or the owner of the data folder. Where the folder has no owner, one is started in the background.
The project is the git repository of the folder in the host's JSON (SIDEBAND_PROJECT; "off" for none).

  --host HOST    the host whose limits apply: ${Object.keys(HOSTS).join(" (the default) or ")}
  --user ID      whose memory (SIDEBAND_USER_ID; the name of the user who runs it)
  --include ...  the facts in plain text, the sealed block, or both (SIDEBAND_INCLUDE, else index)

Exit status: always 0: an agent never stops because of its memory. A failure, also a wrong call, is one line on
standard error. The hook waits 2 seconds at most for an answer (8 before a compaction; SIDEBAND_TIMEOUT_MS for both).
If an owner must be started first, the hook waits up to 15 seconds more. The host ends hooks that "sideband agents
install" wrote after 10 seconds. The owner goes on starting, and the next hook finds it.`,

  async run(args) {
    let output = "";
    try {
      const { user, host, ...given } = optionsOf(args);
      const config = readAgentConfig();
      const include = given.include ?? config.include;
      const input = hookInput(await inTime(readInput(), config.timeoutMs));
      let outcome = withoutMemory(input, host);
      if (usesMemory(input, include)) {
        const timeoutMs = input.event === "PreCompact" ? config.compactionTimeoutMs : config.timeoutMs;
        const project = projectOf([input.cwd ?? process.cwd()], config.project);
        // It has its own time limits: starting an owner may take longer.
        const memory = await openAgentMemory(config);
        const work = runHook(memory, user ?? config.userId, input, { host, include, timeoutMs, project });
        outcome = await inTime(work, timeoutMs);
      }
      output = outcome.output;
      if (outcome.note !== "") console.error(outcome.note);
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      console.error(`sideband: going on without memory: ${reason.replaceAll("\n", " ")}`);
      // With any other status, some hosts stop the agent.
      if (error instanceof UsageError) return EXIT_OK;
    }
    // Not left to the event loop: a request that hangs must not keep the agent waiting.
    await new Promise<void>((resolve) => process.stdout.write(output, () => resolve()));
    process.exit(EXIT_OK);
  },
};

interface HookArguments {
  readonly user: string | undefined;
  readonly include: SectionParts | undefined;
  readonly host: HookHost;
}

function optionsOf(args: string[]): HookArguments {
  let values: { user?: string | undefined; include?: string | undefined; host: string };
  try {
    values = parseArgs({
      args,
      options: {
        user: { type: "string" },
        include: { type: "string" },
        host: { type: "string", default: "claude-code" },
      },
    }).values;
  } catch (error) {
    throw new UsageError(optionErrorText(error as Error));
  }
  const include = SECTION_PARTS.find((part) => part === values.include);
  if (include === undefined && values.include !== undefined)
    throw new UsageError(`--include takes one of ${SECTION_PARTS.join(", ")}`);
  const hosts = Object.keys(HOSTS) as HookHost[];
  const host = hosts.find((name) => name === values.host);
  if (host === undefined) throw new UsageError(`--host takes one of ${hosts.join(", ")}`);
  return { user: values.user, include, host };
}

async function inTime<T>(work: Promise<T>, ms: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${ms} ms`)), ms);
  });
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
}

async function readInput(): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of process.stdin) {
    size += chunk.length;
    if (size > INPUT_BYTES_MAX) throw new Error("the host's JSON is too long");
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}
