/** What the calls of the client take beside their arguments. */

import type { SectionParts } from "../agent-side/memory-section.ts";
import type { PlaceKind } from "../contract/answers.ts";
import type { CallOptions } from "./transport.ts";

/** Where the person works. */
export interface PlaceOptions extends CallOptions {
  /** A project, or a project and a worktree with a slash between: its facts count before the person's own. */
  project?: string | undefined;
}

export interface WriterOptions extends PlaceOptions {
  /** Who writes, such as the name of the agent. */
  writtenBy?: string | undefined;
  sessionId?: string | undefined;
  /** A write sent twice with the same key counts once, for 24 hours. Default: a random key. */
  idempotencyKey?: string | undefined;
  /** The revision that the fact must have now, else `revision_mismatch`; 0: there must be none. */
  ifRevision?: number | undefined;
}

/** How long a fact lives, and where. */
export interface FactTerms {
  /** Where it goes, whatever its label says. */
  scope?: PlaceKind | undefined;
  /** Seconds until it ends; or when, in RFC 3339 with a zone. Not both. */
  ttlS?: number | undefined;
  expiresAt?: string | undefined;
}

export interface EncodeOptions extends WriterOptions, FactTerms {}

export interface ForgetOptions extends PlaceOptions {
  scope?: PlaceKind | undefined;
  /** Keeps the earlier values, and the forgotten one as the last of them. */
  keepHistory?: boolean | undefined;
  ifRevision?: number | undefined;
}

export interface PageOptions extends CallOptions {
  /** Entries on a page. */
  limit?: number | undefined;
  /** `next_cursor` of the page before. */
  cursor?: string | undefined;
}

export interface ContextOptions extends PlaceOptions {
  /** The facts in plain text, the sealed block, or both. The index alone is answered sooner. Default: both. */
  include?: SectionParts | undefined;
}

export interface InjectOptions extends ContextOptions {}

export interface RollbackOptions extends PlaceOptions {
  /** Only lists what would change. */
  dryRun?: boolean | undefined;
  /** Goes back also where the history of some labels does not reach that far; they stay as they are. */
  partial?: boolean | undefined;
  writtenBy?: string | undefined;
}
