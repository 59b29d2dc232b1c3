/**
 * The end of a session's transcript: a file of JSON lines that the hosts name to their hooks. It may have hundreds of
 * megabytes, and a hook runs after every turn, so no more than its end is read.
 */

import { closeSync, fstatSync, openSync, readSync } from "node:fs";
import { holdsSection } from "../agent-side/memory-section.ts";

/** Hundreds of turns of a usual session. */
const END_BYTES_MAX = 4 << 20;
/** A line after which the model sees nothing of what was before: of Claude Code, of Codex. */
const COMPACTED = /"subtype":"compact_boundary"|"type":"compacted"/;

/** The last lines of a transcript. Where it is longer, the first of them may be a part of a line. */
export function transcriptEnd(path: string): { readonly text: string; readonly isWhole: boolean } {
  const file = openSync(path, "r");
  try {
    const { size } = fstatSync(file);
    const length = Math.min(size, END_BYTES_MAX);
    const bytes = Buffer.alloc(length);
    const text = bytes.toString("utf8", 0, readSync(file, bytes, 0, length, size - length));
    return { text, isWhole: length === size };
  } finally {
    closeSync(file);
  }
}

/** The last line with a section that the model still sees; empty if there is none, undefined if that is not known. */
export function lastSectionLine(path: string | undefined): string | undefined {
  try {
    const { text, isWhole } = transcriptEnd(path ?? "");
    for (const line of text.split("\n").reverse()) {
      if (COMPACTED.test(line)) return "";
      if (holdsSection(line)) return line;
    }
    return isWhole ? "" : undefined;
  } catch {
    return undefined;
  }
}

/** Whether a line holds a text, however its host spells characters in JSON. */
export function lineHolds(line: string, text: string): boolean {
  let spelled = line;
  try {
    spelled = JSON.stringify(JSON.parse(line));
  } catch {
    // A part of a line is compared as it is.
  }
  return spelled.includes(JSON.stringify(text).slice(1, -1));
}
