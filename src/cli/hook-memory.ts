/**
 * What a hook does with the memory, within the time that it has. It is loaded only for the events that need the memory: most
 * do not.
 */

import { homedir } from "node:os";
import { join } from "node:path";
import { hostGroups } from "../agent-side/host-groups.ts";
import type { SectionParts } from "../agent-side/memory-section.ts";
import { beginsSession, type HookHost, type HookInput, memoryWork, withTimeout } from "../agents/hooks.ts";
import { openProject } from "../agents/project.ts";
import { sessionNews } from "../agents/session-news.ts";
import { promptGroups } from "../base/groups.ts";
import type { AgentConfig } from "../config.ts";
import { memoryLocation, openAgentMemory } from "../main/agent.ts";

/** The share of its time that a hook waits for what has changed. */
const NEWS_SHARE = 0.4;
/** Hosts end a hook after 10 seconds and drop what it has printed: before that it says that memory is away. */
const START_MS = 9_000;

export interface HookArguments {
  readonly user: string | undefined;
  readonly include: SectionParts | undefined;
  readonly host: HookHost;
  /** Those of the settings where undefined. */
  readonly groups: string | undefined;
}

/** What is for standard output, and a line for standard error; each empty for nothing. */
export async function useMemory(
  input: HookInput,
  { host, user, include = "index", groups: named }: HookArguments,
  config: AgentConfig,
): Promise<{ readonly output: string; readonly note: string }> {
  const { contextTokens } = config;
  const work = memoryWork(input, include);
  if (work === undefined) return { output: "", note: "" };
  const userId = user ?? config.userId;
  const ofHost = named === undefined ? config.groups : promptGroups(named);
  const isCompaction = input.event === "PreCompact";
  const timeoutMs = isCompaction ? config.compactionTimeoutMs : config.timeoutMs;
  const opened = openAgentMemory(config);
  const answered = async (memory: Awaited<typeof opened>) => {
    const project = await openProject(memory, userId, [input.cwd ?? process.cwd()], config);
    const file = join(homedir(), ".sideband", "sessions.json");
    const groups = await hostGroups(memory, userId, ofHost, { project, timeoutMs });
    const session = { file, host, where: memoryLocation(config), userId, project, groups };
    const news = beginsSession(input)
      ? sessionNews(memory, { ...session, timeoutMs: timeoutMs * NEWS_SHARE })
      : undefined;
    return work(memory, userId, input, { host, include, timeoutMs, project, contextTokens, groups, news });
  };
  // Starting an owner has a time limit of its own. But a host drops what was printed by a hook that it has to end.
  return isCompaction
    ? withTimeout(opened.then(answered), timeoutMs)
    : withTimeout(
        opened.then((memory) => withTimeout(answered(memory), timeoutMs)),
        Math.max(START_MS, timeoutMs),
      );
}
