/** Facts as they are kept, and what can be changed of them: what a write asks of the law (law/law.ts). */

import type { FactOrigin } from "../base/fact-origins.ts";
import type { FactCode } from "../blockwork/fact-code.ts";
import type { Place } from "./records.ts";

export interface FactRecord {
  readonly place: Place;
  /** What it is stored under. The channel of a label is looked up where it is shown (labels.ts). */
  readonly label: string;
  /** That of its label, where the person has made it (FreeLabel). */
  readonly number?: number | undefined;
  readonly value: string;
  /** Larger than that of every fact of the user written before. */
  readonly revision: number;
  readonly code?: FactCode;
  readonly updatedAtMs: number;
  /** Since when it has this value, label, end, origin and pin: writing the same again changes only `updatedAtMs`. */
  readonly sinceMs: number;
  /** From this moment on it is no fact any more. */
  readonly expiresAtMs: number | null;
  /** Who wrote the value first: whoever writes the same value again does not replace them. The session likewise. */
  readonly writtenBy: string | null;
  readonly sessionId: string | null;
  /** Of a shared project's: the user who wrote the value first, unless they were erased. */
  readonly author?: string | undefined;
  /** Which value of this label at this place it is, counted from 1. */
  readonly ordinal: number;
  /** Where the value comes from, as the last write of it said that named an origin. */
  readonly origin?: FactOrigin | undefined;
  /** It comes first where a prompt has not room for all. */
  readonly pinned?: true | undefined;
}

/** A value that a label had, with the end that it would have had. */
export interface EarlierFact extends Omit<FactRecord, "code" | "number"> {
  /** "renamed": the next value is the same one, under another label. */
  readonly ended: "replaced" | "forgotten" | "expired" | "renamed";
  readonly endedAtMs: number;
  /** What its label was until then, where what ended the value has changed that too. */
  readonly former?: FormerLabel;
  /** In a shared project: the user_id of who has forgotten or renamed it. */
  readonly endedBy?: string | undefined;
}

export interface FormerLabel {
  readonly label: string;
  /** Where the person has made it. */
  readonly description: string | null;
}

/** What a label asks of its values. */
export interface ValueTerms {
  readonly label: string;
  readonly oneOf: readonly string[] | null;
  readonly maxBytes: number | null;
}

/** Of a change whose label the account does not have. */
export interface FreeTerms {
  /** Makes the label where the person does not have it. Otherwise the change is refused (`label_unknown`). */
  readonly make: boolean;
  /** Replaces the one that the label has; null: it has none. */
  readonly description?: string | null | undefined;
}

/** One fact that is written, or forgotten. */
export interface FactChange {
  readonly kind?: undefined;
  readonly place: Place;
  readonly label: string;
  /** null: it is forgotten. */
  readonly value: string | null;
  /** The time of the write, where it is not now: for imports. */
  readonly updatedAtMs?: number;
  /** Since when it holds, where that is later: a fact that is renamed keeps the time at which it was written. */
  readonly sinceMs?: number;
  /** At least this ordinal, for imports: values before it were not kept. */
  readonly ordinal?: number;
  /** How the value before it ended, where it was not just replaced: for imports and renames. */
  readonly ending?: Pick<EarlierFact, "ended" | "former" | "endedBy">;
  readonly expiresAtMs?: number | null;
  /** A forgotten fact leaves its history, and becomes a part of it. Otherwise both go. */
  readonly keepHistory?: boolean;
  /** The revision that it must have now; 0: there must be none. */
  readonly ifRevision?: number;
  /** Absent: the value is not checked. */
  readonly terms?: ValueTerms;
  readonly free?: FreeTerms | undefined;
  /** What stands before the names of its fields in the request. */
  readonly param?: string;
  /** Absent: a value that is there already keeps its own, and another has none; null: none. */
  readonly origin?: FactOrigin | null | undefined;
  /** The revision that the value has, where it is not a new one: for earlier values of a fact that is renamed. */
  readonly revision?: number;
  /** Absent: as it is. */
  readonly pinned?: boolean | undefined;
}

/** An item is added to the list on a label at the only place, or removed from the one that counts in the places. */
export interface ItemChange {
  readonly kind: "append" | "remove";
  readonly label: string;
  readonly places: readonly Place[];
  readonly item: string;
  readonly terms: ValueTerms;
  readonly free?: FreeTerms | undefined;
  readonly expiresAtMs: number | null;
  readonly ifRevision?: number;
  readonly origin?: FactOrigin | undefined;
  readonly pinned?: boolean | undefined;
}

/** The fact that counts in the places is forgotten; where there is none, what is kept of it at the place `otherwise`. */
export interface ForgetChange {
  readonly kind: "forget";
  readonly label: string;
  readonly places: readonly Place[];
  readonly otherwise: Place;
  readonly free?: FreeTerms | undefined;
  readonly keepHistory?: boolean;
  readonly ifRevision?: number;
}

export interface RestoreChange {
  readonly kind: "restore";
  readonly label: string;
  readonly places: readonly Place[];
  readonly revision: number;
  readonly terms: ValueTerms;
  readonly free?: FreeTerms | undefined;
  /** For a value whose own end has come. */
  readonly expiresAtMs: number | null;
  readonly ifRevision?: number;
}

/** The fact that counts in the places goes to another label of its place, with its history. */
export interface RenameChange {
  readonly kind: "rename";
  readonly label: string;
  readonly places: readonly Place[];
  readonly free?: FreeTerms | undefined;
  readonly to: string;
  readonly terms: ValueTerms;
  readonly toFree?: FreeTerms | undefined;
  /** Where the other label has a fact, both become a list; otherwise it is refused. */
  readonly merge: boolean;
  readonly ifRevision?: number | undefined;
}

export interface RollbackChange {
  readonly kind: "rollback";
  /** This place and those inside it; "" for all of the user. */
  readonly within: Place;
  readonly toMs: number;
  readonly dryRun: boolean;
  readonly partial: boolean;
  /** Only what has not changed since this moment. */
  readonly unchangedSinceMs?: number | undefined;
}

export interface MoveChange {
  readonly kind: "move";
  readonly from: Place;
  readonly to: Place;
  /** Between a person and a project that is shared: this place alone, without those inside it, and these labels. */
  readonly only?: MovedLabels;
}

export interface MovedLabels {
  readonly isMeant: (label: string) => boolean;
  /** Each must be there. */
  readonly named: readonly string[];
}

/** The name of a user who is erased goes from what is shared. */
export interface DisownChange {
  readonly kind: "disown";
  readonly author: string;
}

/** Values of labels as they were: an earlier one has an end. The oldest first. */
export interface ImportChange {
  readonly kind: "import";
  readonly lives: readonly {
    readonly place: Place;
    readonly label: string;
    readonly values: readonly PastValue[];
    readonly free?: FreeTerms | undefined;
  }[];
}

/** A value that was, or is: an earlier one has an end. */
export type PastValue = Omit<FactRecord, "code" | "place" | "label" | "number" | "expiresAtMs"> & {
  readonly expiresAtMs?: number | null;
  readonly ended?: EarlierFact["ended"];
  readonly endedAtMs?: number;
  readonly former?: FormerLabel;
  readonly endedBy?: string | undefined;
};

/** Everything at a place and inside it is forgotten, with its history; null: everything of the user. */
export interface EraseChange {
  readonly kind: "erase";
  readonly within: Place | null;
}

/** At a place alone, without those inside it: labels that none of their values keeps there are forgotten, with their history. */
export interface ClearChange {
  readonly kind: "clear";
  readonly place: Place;
  /** Asked of the present value, and of earlier ones. */
  readonly isKept: (value: FactRecord | EarlierFact) => boolean;
}

/** Facts whose end has come become history. */
export interface ExpireChange {
  readonly kind: "expire";
  readonly place: Place;
  readonly label: string;
}

export type Change =
  | FactChange
  | ItemChange
  | ForgetChange
  | RestoreChange
  | RenameChange
  | RollbackChange
  | MoveChange
  | ImportChange
  | EraseChange
  | ClearChange
  | DisownChange
  | ExpireChange;
