/** What a caller may do: a key, or a token, may be bound to one user, for reading only, for some groups of labels, and to write some. */

import { groupOf, LABEL_FORM } from "../base/channel-labels.ts";
import { Failure } from "../base/errors.ts";
import type { Groups } from "../base/groups.ts";
import type { LabelPatterns } from "../base/label-patterns.ts";
import type { KeyAccess } from "./records.ts";

interface Rights {
  readonly user: string | null;
  readonly access: KeyAccess;
  /** undefined: all. */
  readonly groups?: Groups | undefined;
  /** The labels that it may write; undefined: all. */
  readonly write?: LabelPatterns | undefined;
}

/** The labels that the author of a write may write. */
export interface Writable {
  /** undefined: all. */
  readonly patterns: LabelPatterns | undefined;
  /** Labels for the account's own key, where that is not the author's. */
  readonly reserved: ReadonlySet<string>;
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
export function mayAddLabels({ user, access, groups, write }: Rights): boolean {
  return user === null && access !== "read" && groups === undefined && write === undefined;
}

/** A label that a write changes must be one that its author may write. */
export function requireWritable(writable: Writable | undefined, label: string, param = "label"): void {
  if (writable === undefined || !LABEL_FORM.test(label)) return;
  const { patterns, reserved } = writable;
  if (reserved.has(label))
    throw labelNotAllowed(`Only the account's own key, bound to no user, writes ${label}.`, param);
  if (patterns !== undefined && !patterns.has(label))
    throw labelNotAllowed(`This key may not write ${label}, only: ${patterns.list.join(", ")}.`, param);
}

function labelNotAllowed(detail: string, param?: string): Failure {
  return new Failure("label_not_allowed", detail, param === undefined ? {} : { param });
}

/** Whether a caller may write a label of the account; not, whether it may write at all. */
export function mayWrite(
  { user, write }: Pick<Rights, "user" | "write">,
  { label, writers }: { readonly label: string; readonly writers?: "account" | undefined },
): boolean {
  return (user === null || writers === undefined) && write?.has(label) !== false;
}

/** For what concerns the account's labels. */
export function requireAllLabels({ write }: Pick<Rights, "write">): void {
  if (write !== undefined)
    throw labelNotAllowed(
      "This key may write some labels. The account's labels need a key that may write all.",
    );
}

/** A label that is written must be in a group of the caller's, whether it is there or not. */
export function requireGroup(groups: Groups, label: string, param = "label"): void {
  if (groups.has(label) || !LABEL_FORM.test(label)) return;
  throw new Failure("group_not_allowed", `This key is not for labels of the group ${groupOf(label)}.`, {
    param,
  });
}

/** For what concerns labels of all groups. */
export function requireAllGroups({ groups }: Pick<Rights, "groups">): void {
  if (groups !== undefined) throw wholeOnly();
}

export function wholeOnly(): Failure {
  return new Failure(
    "group_not_allowed",
    "This key is for some groups of labels. What concerns all of a user's facts, or the account's labels, needs a key for all groups.",
  );
}

/** For what concerns other users of the account, too. */
export function requireWholeAccount({ user }: Pick<Rights, "user">): void {
  if (user !== null)
    throw new Failure(
      "user_not_allowed",
      "This key is for one user. The account's own key is needed for what concerns the account.",
    );
}
