/** The users of an account, page by page. */

import { OWN_PLACE } from "./places.ts";
import type { Place } from "./records.ts";
import type { MemoryServices } from "./services.ts";
import { AFTER_PROJECTS } from "./shared-places.ts";

export interface ListedUser {
  readonly userId: string;
  /** Projects and worktrees with facts. */
  readonly projects: readonly Place[];
  /** Facts of the person's own place. */
  readonly channelCount: number;
  /** When a fact was last written; null where only a history is left. */
  readonly updatedAtMs: number | null;
}

interface ListInput {
  readonly prefix: string;
  readonly after: string;
  readonly limit: number;
  /** The one user whom the caller may see; null: all. */
  readonly only: string | null;
}

export async function listUsers(
  services: MemoryServices,
  account: string,
  input: ListInput,
): Promise<{ users: readonly ListedUser[]; isMore: boolean }> {
  const { store, clock } = services;
  const { only, prefix, after, limit } = input;
  const found =
    only === null
      ? // What is shared in a project is nobody's.
        await store.listUsers(account, {
          prefix,
          after: after > AFTER_PROJECTS ? after : AFTER_PROJECTS,
          limit: limit + 1,
        })
      : [only].filter((user) => user.startsWith(prefix) && after === "");
  const nowMs = clock.now();
  const users = await Promise.all(
    found.slice(0, limit).map(async (userId) => {
      const described = await store.describeUser(account, userId, nowMs);
      if (described === undefined) return [];
      const { facts, updatedAtMs } = described;
      const projects = [...facts.keys()].filter((place) => place !== OWN_PLACE);
      const listed: ListedUser = { userId, projects, channelCount: facts.get(OWN_PLACE) ?? 0, updatedAtMs };
      return [listed];
    }),
  );
  return { users: users.flat(), isMore: found.length > limit };
}
