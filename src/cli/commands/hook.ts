/**
 * sideband hook: what the hooks of agents call. It never fails and never takes long: a failure is one
 * line on standard error, and the agent goes on. What needs no memory is printed before anything that can fail, and
 * what only some events need is loaded only for them: a hook is a process of its own each time.
 */

import { SECTION_PARTS } from "../../agent-side/memory-section.ts";
import {
  beginsSession,
  HOSTS,
  type HookHost,
  type HookInput,
  hookInput,
  immediateOutput,
  isTurnedOff,
  memoryWork,
  offOutput,
  outageOutput,
  withTimeout,
} from "../../agents/hooks.ts";
import { offText } from "../../agents/off.ts";
import { readAgentConfig } from "../../config.ts";
import {
  type Command,
  EXIT_OK,
  oneOf,
  optionErrorText,
  parseCall,
  UsageError,
  warnOfUnknownSettings,
} from "../command.ts";
import type { HookArguments } from "../hook-memory.ts";

const INPUT_BYTES_MAX = 1 << 20;
const INPUT_MS = 2_000;

const HOST_NAMES = Object.keys(HOSTS) as HookHost[];
const OPTIONS = `  --host HOST    the host whose limits apply: ${HOST_NAMES.join(", ")};
                 the first if it is not named
  --user ID      whose memory (SIDEBAND_USER_ID; the name of the user who runs it)
  --include ...  the facts in plain text, the sealed block, or both (SIDEBAND_INCLUDE, else index)
  --groups LIST  the groups of labels: USER,PREF, all but some: --groups=-HEALTH, or all (SIDEBAND_GROUPS)`;

export const hook: Command = {
  name: "hook",
  summary: "run a hook of an agent (its JSON on standard input)",
  help: `usage: sideband hook [--host HOST] [--user ID] [--include index|block|both] [--groups LIST]

Reads the JSON that the host writes to a hook. SessionStart prints the memory as the host wants it
(hookSpecificOutput.additionalContext); in a resumed session only if the facts are others than those that it shows. It
tells the person in one line what others have changed since this host's last session here (systemMessage; the times of
the last sessions are in ~/.sideband/sessions.json).
SubagentStart prints the facts for a sub-agent. PreCompact asks Claude Code's summary to list what is not stored yet;
then it flushes where the prompt has the block. Stop asks the agent of a long session once to store what is lasting.
Any other event does nothing. The memory is that of "sideband mcp": the service of SIDEBAND_API_URL and
SIDEBAND_API_KEY, or the owner of the data folder. Where the folder has no owner, one is started in the background.
The project is the git repository of the folder in the host's JSON (SIDEBAND_PROJECT; "off" for none).
Where memory is off (SIDEBAND_OFF, "sideband off"), it only says so to the person when a session starts.

${OPTIONS}

Exit status: always 0: an agent never stops because of its memory. A failure, also a wrong call, is one line on
standard error. Where memory is away when a session starts, the person is told (systemMessage), and the model is told
neither to claim to remember nor to have stored. The hook waits 2 seconds at most for an answer (8 before a compaction; SIDEBAND_TIMEOUT_MS for both).
If an owner must be started first, the hook waits up to 9 seconds in all: the host ends hooks that "sideband agents
install" wrote after 10. The owner goes on starting, and the next hook finds it.`,

  async run(args) {
    try {
      const options = optionsOf(args);
      const input = hookInput(await withTimeout(readInput(), INPUT_MS));
      if (beginsSession(input)) warnOfUnknownSettings();
      if (isTurnedOff(input)) process.exit(EXIT_OK);
      // Settings that cannot be read are named below.
      const off = await offIn(input).catch(() => undefined);
      if (off !== undefined) await print(offOutput(input, options.host, off));
      else await useHost(input, options);
    } catch (error) {
      console.error(`sideband: going on without memory: ${reasonOf(error)}`);
    }
    // Not left to the event loop: a request that hangs must not keep the agent waiting. Always 0: with any other status,
    // some hosts stop the agent.
    process.exit(EXIT_OK);
  },
};

async function offIn({ cwd = process.cwd() }: HookInput): Promise<string | undefined> {
  return offText(readAgentConfig(), [cwd]);
}

async function useHost(input: HookInput, options: HookArguments): Promise<void> {
  await print(immediateOutput(input, options.host));
  await withMemory(input, options).catch(async (error) => {
    const reason = reasonOf(error);
    console.error(`sideband: going on without memory: ${reason}`);
    await print(outageOutput(input, options.host, reason));
  });
}

async function withMemory(input: HookInput, options: HookArguments): Promise<void> {
  const config = readAgentConfig();
  const include = options.include ?? config.include;
  if (memoryWork(input, include) === undefined) return;
  const { useMemory } = await import("../hook-memory.ts");
  const { output, note } = await useMemory(input, { ...options, include }, config);
  if (note !== "") console.error(note);
  await print(output);
}

function print(output: string): Promise<void> {
  return new Promise((resolve) => {
    if (output === "") return resolve();
    // A host that has gone is no fault. Only here: a stream that nobody uses is not made.
    process.stdout.once("error", () => resolve());
    process.stdout.write(output, () => resolve());
  });
}

function reasonOf(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).replaceAll("\n", " ");
}

function optionsOf(args: string[]): HookArguments {
  try {
    const { texts } = parseCall(args, { options: OPTIONS });
    return {
      user: texts.user,
      include: oneOf("include", SECTION_PARTS, texts.include),
      host: oneOf("host", HOST_NAMES, texts.host) ?? "claude-code",
      groups: texts.groups,
    };
  } catch (error) {
    throw new UsageError(optionErrorText(error) ?? reasonOf(error));
  }
}

/** By events: an iterator of the stream takes Node some milliseconds more. */
function readInput(): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  return new Promise((resolve, reject) => {
    process.stdin.on("data", (chunk) => {
      size += chunk.length;
      if (size > INPUT_BYTES_MAX) reject(new Error("the host's JSON is too long"));
      else chunks.push(chunk);
    });
    process.stdin.once("end", () => resolve(Buffer.concat(chunks).toString())).once("error", reject);
  });
}
