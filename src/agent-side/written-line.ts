/**
 * What a write has done, as one line that a person understands, in a host as at a terminal:
 * `PREF.tone: was "dry", now "warm"; undo: sideband restore PREF.tone 17 --person`. Values are in quotes, so that none can pass for
 * the command behind it, and a long one is cut: the line is for reading, the fields beside it are exact. Only what the
 * history has after the write can be undone: a service may keep no history at all.
 *
 * The Hermes provider has a copy in Python.
 */

import type { HistoryAnswer, PlaceKind, WrittenAnswer } from "../contract/answers.ts";
import type { AgentCallOptions, AgentHistoryOptions, AgentMemory } from "./agent-memory.ts";
import { escapeText } from "./escaped-text.ts";

/** How a person starts `sideband` where the line is read, and the options that mean the same memory. */
export interface UndoCommand {
  readonly program: string;
  /** Each with a space before it. */
  readonly options: string;
}

/** How a person undoes a write of a fact at a place, or, without one, what is not a fact's. */
export type UndoIn = (place: PlaceKind | undefined, project: string | undefined) => UndoCommand;

const VALUE_LENGTH_MAX = 120;

/**
 * @param kept what the history has of the fact since it was written
 * @param undo undefined where there is no command: then a tool of the agent undoes it
 * @param shownTime an end as its reader wants it
 * @param place whose it is, where that is worth telling
 * @param isPlaced whether the tool that undoes it is to name the place
 */
export function writtenLine(
  written: WrittenAnswer,
  kept: Revisions,
  undo: UndoCommand | undefined,
  shownTime: (moment: string) => string = (moment) => moment,
  place?: string,
  isPlaced = false,
): string {
  const { label, value, expires_at: until, previous } = written;
  const at = placeOption(written.place);
  const named = place === undefined ? label : `${label} for ${place}`;
  const now = quotedValue(value) + (until === undefined ? "" : ` until ${shownTime(until)}`);
  if (previous !== null && previous.value === value) {
    // What was there before is kept only if something else has changed: its end, or the description of its label.
    const isChanged = kept?.some(({ revision }) => revision === previous.revision) === true;
    const how = isChanged ? `; ${restoreText(label, previous.revision, kept, undo, at)}` : "";
    return `${named}: still ${now}${how}`;
  }
  // A value that replaces another has an end only if the write names one.
  const had = kept?.find(({ revision }) => revision === previous?.revision)?.expires_at;
  const then = had === undefined ? "" : ` until ${shownTime(had)}`;
  const was = previous === null ? "" : `was ${quotedValue(previous.value)}${then}${authorText(previous)}, `;
  const how =
    previous === null
      ? forgetText(label, undo, undo === undefined && isPlaced ? scopeText(written.place) : at)
      : restoreText(label, previous.revision, kept, undo, at);
  return `${named}: ${was}now ${now}; ${how}`;
}

/** @param kept what the history has of the fact since it was forgotten */
export function forgottenLine(
  label: string,
  kept: Revisions,
  undo: UndoCommand | undefined,
  place?: PlaceKind | undefined,
): string {
  // Somebody may have written there since, or another place has the label, whose history is another one.
  const isOther = kept !== undefined && kept.length > 0 && kept[0].ended === undefined;
  const how = isOther
    ? historyText(label, undo)
    : restoreText(label, kept?.[0]?.revision, kept, undo, placeOption(place));
  return `${label}: forgotten; ${how}`;
}

/**
 * @param written what the other label has now
 * @param kept what the history has of each label since
 */
export function renamedLine(
  label: string,
  written: WrittenAnswer,
  kept: { readonly from: Revisions; readonly to: Revisions },
  undo: UndoCommand | undefined,
): string {
  const { label: to, value, previous } = written;
  if (previous === null) {
    const how =
      undo === undefined
        ? `history tool on ${to} with rename_to ${label}`
        : `${undo.program} rename ${to} ${label}${undo.options}`;
    return `${label}: now ${to}, ${quotedValue(value)}; undo: ${how}`;
  }
  const at = placeOption(written.place);
  const line = `${label}: joined to ${to}, now ${quotedValue(value)}`;
  const back = `${label}: ${restoreText(label, kept.from?.[0]?.revision, kept.from, undo, at)}`;
  if (previous.value === value) return `${line}; ${back}`;
  return `${line}; ${to}: ${restoreText(to, previous.revision, kept.to, undo, at)}; ${back}`;
}

function historyText(label: string, undo: UndoCommand | undefined): string {
  return undo === undefined ? "undo: history tool" : `undo: ${undo.program} history ${label}${undo.options}`;
}

/** A new fact is undone by forgetting it: its history, and that of its label before, stays. */
function forgetText(label: string, undo: UndoCommand | undefined, at: string): string {
  return undo === undefined
    ? `undo: forget tool${at}`
    : `undo: ${undo.program} forget ${label}${at}${undo.options}`;
}

function scopeText(place: PlaceKind): string {
  return isTeamPlace(place) ? "" : ` with scope ${place}`;
}

/** In a shared project a label may have a fact of all who share it, and one of the person's own. */
export function placeOption(place: PlaceKind | undefined): string {
  return place !== undefined && isTeamPlace(place) ? ` --${place}` : "";
}

/** Of a shared project's value: the person who wrote it. */
function authorText({ user_id: author }: Pick<NonNullable<WrittenAnswer["previous"]>, "user_id">): string {
  return author === undefined ? "" : ` by ${quotedValue(author).slice(1, -1)}`;
}

function restoreText(
  label: string,
  revision: number | undefined,
  kept: Revisions,
  undo: UndoCommand | undefined,
  at = "",
): string {
  if (kept === undefined) return historyText(label, undo);
  if (!kept.some((known) => known.revision === revision)) return "no undo: the earlier value is not kept";
  return undo === undefined
    ? `undo: history tool with restore ${revision}`
    : `undo: ${undo.program} restore ${label} ${revision}${at}${undo.options}`;
}

/** A value as a line shows it: in quotes, without anything hidden, and not too long. */
export function quotedValue(value: string, lengthMax = VALUE_LENGTH_MAX): string {
  const characters = [...value];
  const cut = characters.length <= lengthMax ? characters : [...characters.slice(0, lengthMax - 1), "…"];
  return escapeText(JSON.stringify(cut.join("")));
}

/** The values of a fact, the newest first; undefined where they could not be read. */
type Revisions = HistoryAnswer["revisions"] | undefined;

/** The code of an error, whether it comes from the service itself or from the client. */
export function errorCodeOf(error: unknown): unknown {
  return typeof error === "object" && error !== null && "code" in error ? error.code : undefined;
}

/** Asked only after the write: no read may keep it from being tried. */
export async function readRevisions(
  memory: Pick<AgentMemory, "history">,
  userId: string,
  label: string,
  options: AgentHistoryOptions,
): Promise<Revisions> {
  try {
    const { timeoutMs, signal, failFast, project, scope } = options;
    return (await memory.history(userId, label, { timeoutMs, signal, failFast, project, scope })).revisions;
  } catch (error) {
    return errorCodeOf(error) === "fact_not_found" ? [] : undefined;
  }
}

/** Of what was just written: at its place, which another one may hide. */
export function readRevisionsAfter(
  memory: Pick<AgentMemory, "history">,
  userId: string,
  { label, place }: Pick<WrittenAnswer, "label" | "place">,
  options: AgentCallOptions,
): Promise<Revisions> {
  const scope = isTeamPlace(place) ? place : undefined;
  return readRevisions(memory, userId, label, {
    ...options,
    project: projectAt(place, options.project),
    scope,
  });
}

/**
 * Where the fact is that a label means in a call; undefined where there is none. It begins a write, which is tried also while
 * memory is known to be away; where it is, nobody waits twice.
 */
export async function placeOfFact(
  memory: Pick<AgentMemory, "decode">,
  userId: string,
  label: string,
  options: AgentCallOptions,
): Promise<PlaceKind | undefined> {
  try {
    return (await memory.decode(userId, label, { ...options, failFast: false })).place;
  } catch (error) {
    if (errorCodeOf(error) === "fact_not_found" || errorCodeOf(error) === "unknown_label") return undefined;
    throw error;
  }
}

/** A place that only a shared project has. */
function isTeamPlace(place: PlaceKind): boolean {
  return place === "shared" || place === "own";
}

/** What a call names to mean a place, where a person works in a project or in a worktree of it. */
export function projectAt(place: PlaceKind, project: string | undefined): string | undefined {
  if (place === "person") return undefined;
  return place === "worktree" ? project : project?.split("/")[0];
}

/** Whether a key is bound to another user than the one that is set, or than the one who runs the program if none is. */
export function isForAnotherUser(error: unknown): boolean {
  return errorCodeOf(error) === "user_not_allowed" && (error as { param?: unknown }).param === "user_id";
}

/** For whoever starts `sideband`, whose settings and options say the user. */
export function otherUserText(userId: string): string {
  return `this key is for another user than ${JSON.stringify(userId)}: name its user with --user or SIDEBAND_USER_ID`;
}
