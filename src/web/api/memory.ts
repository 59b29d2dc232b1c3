/** The client of the memory page and of the account page, with a key; on the page of `sideband open` with its cookie. */

import { scopeOfLabel } from "../../base/channel-labels.ts";
import { CHANNEL_COUNT_MAX } from "../../base/limits.ts";
import type { LabelAnswer } from "../../contract/answers.ts";
import { ServiceCalls } from "../../sdk/calls.ts";

export type PageClient = ServiceCalls<string>;

/** Whose facts are shown, and where the person works. */
export interface Memory {
  readonly userId: string;
  readonly project: string | undefined;
}

export interface AccountLabels {
  readonly labels: readonly LabelAnswer[];
  /** How many may still be added. */
  readonly free: number;
  /** Persons make no labels by writing them. */
  readonly strict: boolean;
}

/** @param base what stands before the paths of the calls; only below the address of `sideband open` is there anything */
export function pageClient({ key, base = "" }: { key?: string; base?: string }): PageClient {
  return new ServiceCalls({
    // A person sees a failure, and tries again.
    retries: 0,
    timeoutMs: Number.POSITIVE_INFINITY,
    apiKey: key,
    baseUrl: location.origin + base,
    writtenBy: "memory page",
  });
}

export async function accountLabels(api: PageClient): Promise<AccountLabels> {
  const { channels, free = 0, strict = false } = await api.channels();
  return { labels: channels as LabelAnswer[], free, strict };
}

/** A worktree is named by its project and a name of its own, with a slash between. */
export function isWorktree(project: string): boolean {
  return project.includes("/");
}

/** The project of a worktree; a project's own name. */
export function outerProject(project: string): string {
  return project.split("/")[0];
}

/** The projects and worktrees in which a person has facts. */
export async function projectsOf(api: PageClient, userId: string): Promise<readonly string[]> {
  const { users } = await api.users({ prefix: userId });
  return users.find(({ user_id }) => user_id === userId)?.projects ?? [];
}

/** A label that a person has made, or makes. */
export function newFreeLabel(label: string, description = ""): LabelAnswer {
  const terms = { description, example: "", own: false, hidden: false };
  return { ...terms, channel: CHANNEL_COUNT_MAX, label, scope: scopeOfLabel(label) };
}
