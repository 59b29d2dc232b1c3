/** What a reader of a foreign memory finds in it: facts with their labels, and lines that are no facts. */

import type { NewLabelTerms } from "../agent-side/agent-memory.ts";
import type { FactOrigin, PlaceKind } from "../contract/answers.ts";

/** Where in the file something stands. */
export interface Finding {
  readonly line: number;
  /** What of the line, where it holds several things: "observation 2", "block human". */
  readonly part?: string | undefined;
}

export interface FoundFact extends Finding {
  readonly label: string;
  readonly value: string;
  /** The file itself has the whole label: it is not made another one, and the value stays as it is. */
  readonly isExact?: boolean | undefined;
  /** Where the file itself says whose the fact is. */
  readonly scope?: PlaceKind | undefined;
  /** The project or worktree that the file names. */
  readonly project?: string | undefined;
  /** RFC 3339. */
  readonly expiresAt?: string | undefined;
  /** Where the file itself says it. */
  readonly origin?: FactOrigin | undefined;
}

export interface LeftOutLine extends Finding {
  readonly text: string;
  readonly why: string;
}

export interface FoundMemory {
  readonly facts: FoundFact[];
  readonly leftOut: LeftOutLine[];
  /** Labels that the file brings along. */
  readonly labels?: readonly (NewLabelTerms & { readonly label: string })[];
  /** Whose memory it is, where the file says so. */
  readonly userId?: string;
  /** What is no memory in such a file, and was not looked at. */
  readonly notRead?: string;
}

/** What cannot be read at all, in words for a person. */
export class UnreadableFileError extends Error {
  override name = "UnreadableFileError";
}

/** The one user of a file, or the wanted one of several. */
export function chosenUser(users: ReadonlySet<string>, wanted: string): string | undefined {
  if (users.has(wanted) || users.size === 0) return users.size === 0 ? undefined : wanted;
  if (users.size === 1) return [...users][0];
  const names = [...users].sort().slice(0, 5).join(", ");
  throw new UnreadableFileError(
    `it holds the memory of ${users.size} users (${names}${users.size > 5 ? ", …" : ""}): name one with --of`,
  );
}

/** Of the file's users another one. */
export function ofAnotherUser(userId: string): string {
  return `it is ${userId}'s: --of ${userId} imports it`;
}
