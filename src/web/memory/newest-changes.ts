/**
 * The newest changes of a memory: those of the person, in whichever project, and in a shared project those of the team, which
 * are a list of their own for the service.
 */

import type { ChangesAnswer } from "../../contract/answers.ts";
import type { PageClient } from "../api/memory.ts";

export type ListedChange = ChangesAnswer["changes"][number];

export interface NewestChanges {
  readonly changes: readonly ListedChange[];
  /** Whether there are earlier ones. */
  readonly isMore: boolean;
}

type Api = Pick<PageClient, "changes">;

const LIMIT_MAX = 200;

interface ChangesWanted {
  readonly since: string;
  readonly count: number;
}

/** @param team the shared project whose changes are among them */
export async function newestChanges(
  api: Api,
  userId: string,
  team: string | undefined,
  wanted: ChangesWanted,
): Promise<NewestChanges> {
  const lists = [changesOf(api, userId, undefined, wanted)];
  if (team !== undefined) lists.push(changesOf(api, userId, team, wanted));
  const both = await Promise.all(lists);
  const all = both.flatMap(({ changes }) => changes).sort((a, b) => Date.parse(b.at) - Date.parse(a.at));
  const isMore = all.length > wanted.count || both.some((list) => list.isMore);
  return { changes: all.slice(0, wanted.count), isMore };
}

/** Of the person, or only what the members of a project share. */
async function changesOf(
  api: Api,
  userId: string,
  team: string | undefined,
  { since, count }: ChangesWanted,
): Promise<NewestChanges> {
  const changes: ListedChange[] = [];
  let next: string | null = null;
  do {
    // Of a project the person's own changes come along.
    const limit = team === undefined ? Math.min(LIMIT_MAX, count - changes.length) : LIMIT_MAX;
    const page: ChangesAnswer = await api.changes(userId, {
      since,
      limit,
      project: team,
      cursor: next ?? undefined,
    });
    changes.push(...page.changes.filter(({ place }) => team === undefined || place === "shared"));
    next = page.next_cursor;
  } while (next !== null && changes.length < count);
  return { changes: changes.slice(0, count), isMore: next !== null || changes.length > count };
}
