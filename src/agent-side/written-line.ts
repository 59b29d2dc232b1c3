/**
 * What a write has done, as one line that a person understands, in a host as at a terminal:
 * `PREF.tone: was "dry", now "warm"; undo: sideband restore PREF.tone 17`. Values are in quotes, so that none can pass for
 * the command behind it, and a long one is cut: the line is for reading, the fields beside it are exact.
 *
 * The Hermes provider has a copy in Python.
 */

import type { WrittenAnswer } from "../contract/answers.ts";
import { shownText } from "./shown-text.ts";

/** How a person starts `sideband` where the line is read, and the options that mean the same memory. */
export interface UndoCommand {
  readonly program: string;
  /** Each with a space before it. */
  readonly options: string;
}

const VALUE_LENGTH_MAX = 120;

/** @param undo undefined where there is no command: then a tool of the agent undoes it */
export function writtenLine(written: WrittenAnswer, undo: UndoCommand | undefined): string {
  const { label, value, expires_at: until, previous } = written;
  const now = quotedValue(value) + (until === undefined ? "" : ` until ${until}`);
  if (previous !== null && previous.value === value) return `${label}: still ${now}`;
  const was = previous === null ? "" : `was ${quotedValue(previous.value)}, `;
  return `${label}: ${was}now ${now}; undo: ${undoText(label, previous?.revision, undo)}`;
}

/** @param revision of the value that was forgotten; undefined where it is not known */
export function forgottenLine(
  label: string,
  revision: number | undefined,
  undo: UndoCommand | undefined,
): string {
  const lists = undo === undefined ? "history tool" : `${undo.program} history ${label}${undo.options}`;
  return `${label}: forgotten; undo: ${revision === undefined ? lists : undoText(label, revision, undo)}`;
}

function undoText(label: string, revision: number | undefined, undo: UndoCommand | undefined): string {
  if (undo === undefined)
    return revision === undefined ? "forget tool" : `history tool with restore ${revision}`;
  const words = revision === undefined ? `forget ${label}` : `restore ${label} ${revision}`;
  return `${undo.program} ${words}${undo.options}`;
}

/** A value as a line shows it: in quotes, without anything hidden, and not too long. */
export function quotedValue(value: string, lengthMax = VALUE_LENGTH_MAX): string {
  const characters = [...value];
  const cut = characters.length <= lengthMax ? characters : [...characters.slice(0, lengthMax - 1), "…"];
  return shownText(JSON.stringify(cut.join("")));
}
