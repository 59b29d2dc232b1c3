/**
 * sideband hook: what the hooks of agents call. It never fails and never takes long: a failure is one
 * line on standard error, and the agent goes on. What needs no memory is printed before anything that can fail, and
 * what only some events need is loaded only for them: a hook is a process of its own each time.
 */

import { homedir } from "node:os";
import { join } from "node:path";
import { SECTION_PARTS, type SectionParts } from "../../agent-side/memory-section.ts";
import {
  HOSTS,
  type HookHost,
  type HookInput,
  hookInput,
  immediateOutput,
  memoryWork,
  outageOutput,
} from "../../agents/hooks.ts";
import { sessionNews } from "../../agents/session-news.ts";
import { readAgentConfig } from "../../config.ts";
import { type Command, EXIT_OK, oneOf, optionErrorText, parseCall, UsageError } from "../command.ts";

const INPUT_BYTES_MAX = 1 << 20;
const INPUT_MS = 2_000;
/** The share of its time that a hook waits for what has changed. */
const NEWS_SHARE = 0.4;
/** Hosts end a hook after 10 seconds and drop what it has printed: before that it says that memory is away. */
const START_MS = 9_000;

const HOST_NAMES = Object.keys(HOSTS) as HookHost[];
const OPTIONS = `  --host HOST    the host whose limits apply: ${HOST_NAMES.join(", ")};
                 the first if it is not named
  --user ID      whose memory (SIDEBAND_USER_ID; the name of the user who runs it)
  --include ...  the facts in plain text, the sealed block, or both (SIDEBAND_INCLUDE, else index)`;

export const hook: Command = {
  name: "hook",
  summary: "run a hook of an agent (its JSON on standard input)",
  help: `usage: sideband hook [--host HOST] [--user ID] [--include index|block|both]

Reads the JSON that the host writes to a hook. SessionStart prints the memory as the host wants it
(hookSpecificOutput.additionalContext); in a resumed session only if the facts are others than those that it shows. It
tells the person in one line what others have changed since this host's last session here (systemMessage; the times of
the last sessions are in ~/.sideband/sessions.json).
SubagentStart prints the facts for a sub-agent. PreCompact asks Claude Code's summary to list what is not stored yet;
then it flushes where the prompt has the block. Stop asks the agent of a long session once to store what is lasting.
Any other event does nothing. The memory is that of "sideband mcp": the service of SIDEBAND_API_URL and
SIDEBAND_API_KEY, or the owner of the data folder. Where the folder has no owner, one is started in the background.
The project is the git repository of the folder in the host's JSON (SIDEBAND_PROJECT; "off" for none).

${OPTIONS}

Exit status: always 0: an agent never stops because of its memory. A failure, also a wrong call, is one line on
standard error. Where memory is away when a session starts, the person is told (systemMessage), and the model is told
neither to claim to remember nor to have stored. The hook waits 2 seconds at most for an answer (8 before a compaction; SIDEBAND_TIMEOUT_MS for both).
If an owner must be started first, the hook waits up to 9 seconds in all: the host ends hooks that "sideband agents
install" wrote after 10. The owner goes on starting, and the next hook finds it.`,

  async run(args) {
    try {
      const options = optionsOf(args);
      const input = hookInput(await inTime(readInput(), INPUT_MS));
      await print(immediateOutput(input, options.host));
      await useMemory(input, options).catch(async (error) => {
        const reason = reasonOf(error);
        console.error(`sideband: going on without memory: ${reason}`);
        await print(outageOutput(input, options.host, reason));
      });
    } catch (error) {
      console.error(`sideband: going on without memory: ${reasonOf(error)}`);
    }
    // Not left to the event loop: a request that hangs must not keep the agent waiting. Always 0: with any other status,
    // some hosts stop the agent.
    process.exit(EXIT_OK);
  },
};

async function useMemory(input: HookInput, { host, ...given }: HookArguments): Promise<void> {
  const config = readAgentConfig();
  const include = given.include ?? config.include;
  const work = memoryWork(input, include);
  if (work === undefined) return;
  const { openAgentMemory, whereMemoryIs } = await import("../../main/agent.ts");
  const { openProject } = await import("../../agents/project.ts");
  const userId = given.user ?? config.userId;
  const isCompaction = input.event === "PreCompact";
  const timeoutMs = isCompaction ? config.compactionTimeoutMs : config.timeoutMs;
  const opened = openAgentMemory(config);
  const answered = async (memory: Awaited<typeof opened>) => {
    const project = await openProject(memory, userId, [input.cwd ?? process.cwd()], config);
    const file = join(homedir(), ".sideband", "sessions.json");
    const session = { file, host, where: whereMemoryIs(config), userId, project };
    const news = beginsSession(input)
      ? sessionNews(memory, { ...session, timeoutMs: timeoutMs * NEWS_SHARE })
      : undefined;
    return work(memory, userId, input, { host, include, timeoutMs, project, news });
  };
  // Starting an owner has a time limit of its own. But a host drops what was printed by a hook that it has to end.
  const { output, note } = isCompaction
    ? await inTime(opened.then(answered), timeoutMs)
    : await inTime(
        opened.then((memory) => inTime(answered(memory), timeoutMs)),
        Math.max(START_MS, timeoutMs),
      );
  if (note !== "") console.error(note);
  await print(output);
}

/** After a compaction, a session goes on. */
function beginsSession({ event, source }: HookInput): boolean {
  return event === "SessionStart" && source !== "compact";
}

function reasonOf(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).replaceAll("\n", " ");
}

function print(output: string): Promise<void> {
  return new Promise((resolve) => {
    if (output === "") resolve();
    else process.stdout.write(output, () => resolve());
  });
}

interface HookArguments {
  readonly user: string | undefined;
  readonly include: SectionParts | undefined;
  readonly host: HookHost;
}

function optionsOf(args: string[]): HookArguments {
  try {
    const { texts } = parseCall(args, { options: OPTIONS });
    return {
      user: texts.user,
      include: oneOf("include", SECTION_PARTS, texts.include),
      host: oneOf("host", HOST_NAMES, texts.host) ?? "claude-code",
    };
  } catch (error) {
    throw new UsageError(optionErrorText(error) ?? reasonOf(error));
  }
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
