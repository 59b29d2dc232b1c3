/**
 * context: the facts of a user as one block, as many as fit, with all of them in plain text beside it; or only one of
 * the two. The index alone does no block work.
 */

import type { Requester } from "../base/accounts.ts";
import { andThen, type MaybePromise } from "../base/maybe-promise.ts";
import { ITEMS_AT_ONCE_MAX } from "../base/slices.ts";
import { CARRIERS_MAX } from "../codec/block-room.ts";
import type { UserBlock } from "./blocks.ts";
import type { Person } from "./places.ts";
import type { View } from "./ports.ts";
import { acceptedState } from "./review.ts";
import type { MemoryServices } from "./services.ts";
import { viewFor } from "./shared-projects.ts";

/** What of a context is asked for. */
export type Include = "index" | "block" | "both";

/** The same object as long as the user's facts stay as they are; of a user without facts it is empty. */
export type UserContext = Pick<UserBlock, "userId" | "text" | "facts" | "overflow" | "carriers">;

export function readContext(
  services: MemoryServices,
  requester: Requester,
  person: Person,
  include: Include = "both",
): MaybePromise<UserContext> {
  const { userId } = person;
  const { account } = requester;
  return andThen(viewFor(services, account, person), (view) => {
    if (include !== "index")
      return andThen(services.blocks.of(requester, view), (block) => block ?? emptyContext(userId));
    return readIndex(services, view);
  });
}

function readIndex(services: MemoryServices, view: View): MaybePromise<UserContext> {
  const { account, userId } = view;
  const { store, review, turns } = services;
  const accepted = andThen(store.readUser(view), (stored) =>
    review ? acceptedState(store, view, stored) : stored,
  );
  return andThen(accepted, (state) => {
    if (state === undefined) return emptyContext(userId);
    return andThen(services.labels.inOrder(account, state.facts), ({ facts }) => {
      const context = { ...emptyContext(userId), facts };
      return facts.length > ITEMS_AT_ONCE_MAX ? turns.next(account).then(() => context) : context;
    });
  });
}

function emptyContext(userId: string): UserContext {
  return {
    userId,
    text: "",
    facts: [],
    overflow: [],
    carriers: { used: 0, max: CARRIERS_MAX },
  };
}
