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
  readonly pinned?: true | undefined;
  /** What its label is for, where it is the person's own. */
  readonly description?: string | undefined;
}

export interface LeftOutLine extends Finding {
  readonly text: string;
  readonly why: string;
  /** Whose it is, where the file has the memory of several users. */
  readonly ofUser?: string | undefined;
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

  /** @param missing what the person has to say: whose memory it is, of these users, or which format it has */
  constructor(
    message: string,
    readonly missing?: { readonly users: readonly string[] } | "format",
  ) {
    super(message);
  }
}

/** The one user of a file, or the wanted one of several. */
export function chosenUser(users: ReadonlySet<string>, wanted: string): string | undefined {
  if (users.has(wanted) || users.size === 0) return users.size === 0 ? undefined : wanted;
  if (users.size === 1) return [...users][0];
  const names = [...users].sort();
  const first = names.slice(0, 5).join(", ") + (names.length > 5 ? ", …" : "");
  throw new UnreadableFileError(`it holds the memory of ${names.length} users (${first})`, { users: names });
}

/** Of the file's users another one. */
export function ofAnotherUser(ofUser: string): Pick<LeftOutLine, "why" | "ofUser"> {
  return { why: `it is ${ofUser}'s`, ofUser };
}
