/**
 * sideband hook: what the hooks of Claude Code and Codex call. It never fails and never takes long: a failure is one
 * line on standard error, and the agent goes on.
 */

import { parseArgs } from "node:util";
import { readAgentConfig } from "../../config.ts";
import { openAgentMemory, runHook, usesMemory } from "../../main/agent.ts";
import { type Command, EXIT_OK, UsageError } from "../command.ts";

const INPUT_BYTES_MAX = 1 << 20;
const PARTS = ["both", "index", "block"] as const;

export const hook: Command = {
  name: "hook",
  summary: "run a hook of Claude Code or Codex (its JSON on standard input)",
  help: `usage: sideband hook [--user ID] [--include both|index|block]

Reads the JSON that the host writes to a hook. SessionStart prints the memory as the host wants it
(hookSpecificOutput.additionalContext); PreCompact flushes; any other event does nothing. The memory is that of
"sideband mcp": the service of SIDEBAND_API_URL and SIDEBAND_API_KEY, or the owner of the data folder. Where the
folder has no owner, one is started in the background.

  --user ID      whose memory (SIDEBAND_USER_ID; the name of the user who runs it)
  --include ...  the facts in plain text, the sealed block, or both

Exit status: always 0, after 2 seconds at most (SIDEBAND_TIMEOUT_MS), or 15 where the owner must be started first: an
agent never stops because of its memory. A failure, also a wrong call, is one line on standard error.`,

  async run(args) {
    let output = "";
    try {
      const { user, include } = optionsOf(args);
      const config = readAgentConfig();
      const { timeoutMs } = config;
      const input = await inTime(readInput(), timeoutMs);
      if (!usesMemory(input)) return EXIT_OK;
      // It has its own time limits: starting an owner may take longer.
      const memory = await openAgentMemory(config);
      const work = runHook(memory, user ?? config.userId, input, { include, timeoutMs });
      const outcome = await inTime(work, timeoutMs);
      output = outcome.output;
      if (outcome.note !== "") console.error(outcome.note);
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      console.error(`sideband: going on without memory: ${reason.replaceAll("\n", " ")}`);
      // Some hosts stop the agent at any other status.
      if (error instanceof UsageError) return EXIT_OK;
    }
    // Not left to the event loop: a request that hangs must not keep the agent waiting.
    await new Promise<void>((resolve) => process.stdout.write(output, () => resolve()));
    process.exit(EXIT_OK);
  },
};

function optionsOf(args: string[]): { user: string | undefined; include: (typeof PARTS)[number] } {
  let values: { user?: string | undefined; include: string };
  try {
    values = parseArgs({
      args,
      options: { user: { type: "string" }, include: { type: "string", default: "both" } },
    }).values;
  } catch (error) {
    throw new UsageError((error as Error).message);
  }
  const include = PARTS.find((part) => part === values.include);
  if (include === undefined) throw new UsageError(`--include takes one of ${PARTS.join(", ")}`);
  return { user: values.user, include };
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
