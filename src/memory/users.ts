/** The users of an account, page by page. */

import { OWN_PLACE } from "./places.ts";
import type { Place } from "./records.ts";
import type { MemoryServices } from "./services.ts";

export interface ListedUser {
  readonly userId: string;
  /** Projects and worktrees with facts. */
  readonly projects: readonly Place[];
  /** Facts of the person's own place. */
  readonly channelCount: number;
  /** When a fact was last written; null where only a history is left. */
  readonly updatedAtMs: number | null;
}

export interface ListInput {
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
      ? await store.listUsers(account, { prefix, after, limit: limit + 1 })
      : [only].filter((user) => user.startsWith(prefix) && after === "");
  const nowMs = clock.now();
  const users = await Promise.all(
    found.slice(0, limit).map(async (userId) => {
      const life = await store.readLife(account, userId, { nowMs });
      if (life === undefined) return [];
      const { facts } = life;
      const listed: ListedUser = {
        userId,
        projects: [...new Set(facts.map(({ place }) => place))].filter((place) => place !== OWN_PLACE),
        channelCount: facts.filter(({ place }) => place === OWN_PLACE).length,
        updatedAtMs: facts.length === 0 ? null : Math.max(...facts.map(({ updatedAtMs }) => updatedAtMs)),
      };
      return [listed];
    }),
  );
  return { users: users.flat(), isMore: found.length > limit };
}
