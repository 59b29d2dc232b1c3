/** What a caller may do: a key, or a token, may be bound to one user, and may be for reading only. */

import { Failure } from "../base/errors.ts";
import type { KeyAccess } from "./records.ts";

interface Rights {
  readonly user: string | null;
  readonly access: KeyAccess;
}

/**
 * The user that a call is about: who is bound to one may leave it out, and may name no other.
 * @param named as the caller wrote it, not checked yet
 */
export function allowedUser<T>({ user }: Pick<Rights, "user">, named: T): T | string {
  if (user === null || named === user) return named;
  if (named === undefined) return user;
  throw new Failure(
    "user_not_allowed",
    "This key is for another user. Leave user_id out, or use the account's own key.",
    { param: "user_id" },
  );
}

export function requireWriteAccess({ access }: Pick<Rights, "access">): void {
  if (access === "read") throw new Failure("read_only_key", "This key may read, not write or forget.");
}

/** A label is there for all users of the account. */
export function mayAddLabels({ user, access }: Rights): boolean {
  return user === null && access !== "read";
}

/** For what concerns other users of the account, too. */
export function requireWholeAccount({ user }: Pick<Rights, "user">): void {
  if (user !== null)
    throw new Failure(
      "user_not_allowed",
      "This key is for one user. The account's own key is needed for what concerns the account.",
    );
}
