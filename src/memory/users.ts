/** The users of an account, page by page. */

import { OWN_PLACE } from "./places.ts";
import type { Place } from "./ports.ts";
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
}

export async function listUsers(
  services: MemoryServices,
  account: string,
  input: ListInput,
): Promise<{ users: readonly ListedUser[]; isMore: boolean }> {
  const { store, clock } = services;
  const found = await store.listUsers(account, { ...input, limit: input.limit + 1 });
  const nowMs = clock.now();
  const users = await Promise.all(
    found.slice(0, input.limit).map(async (userId) => {
      const facts = (await store.readLife(account, userId, { nowMs }))?.facts ?? [];
      return {
        userId,
        projects: [...new Set(facts.map(({ place }) => place))].filter((place) => place !== OWN_PLACE),
        channelCount: facts.filter(({ place }) => place === OWN_PLACE).length,
        updatedAtMs: facts.length === 0 ? null : Math.max(...facts.map(({ updatedAtMs }) => updatedAtMs)),
      };
    }),
  );
  return { users, isMore: found.length > input.limit };
}
