/**
 * What is installed: a record in the user's home says which pieces were put where, by which version, and how they
 * changed a file. With it `remove` takes out exactly what `install` put in, and `status` knows where to look. Of the
 * user's own text nothing is in the record: settings of hosts hold the keys of other servers.
 */

import { mkdirSync, rmdirSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Piece } from "./agent-files.ts";
import { withoutPiece, withPiece } from "./install.ts";
import { hasEntry } from "./json-text.ts";
import { changeBetween, type TextChange, textBefore } from "./text-change.ts";
import { fileText, removeFile, requireWritable, UserFileError, writeUserFile } from "./user-file.ts";

/** One installation of an agent's files. */
interface Installed {
  readonly agent: string;
  readonly target: string;
  readonly version: string;
  readonly command: readonly string[];
  /** The groups of labels that its prompts get, where the installation named them. */
  readonly groups?: string | undefined;
  readonly placed: readonly Placed[];
  /** Folders that were made for it, the outermost first. */
  readonly folders: readonly string[];
}

interface Placed extends Piece {
  /** Whether there was no file before, or the file is ours. */
  readonly isNew: boolean;
  /** What was put into the file; null where somebody else has changed it, too. */
  readonly change: TextChange | null;
}

interface InstalledChange {
  readonly path: string;
  /** "kept": it has one of the user's own with our name. "left": it was changed since. */
  readonly done: "wrote" | "kept" | "removed" | "restored" | "left";
}

/** The record of all installations of a user. One process at a time changes it. */
export class InstallationRecord {
  readonly #path: string;

  /** @param home the user's home folder */
  constructor(home: string) {
    this.#path = join(home, ".sideband", "agents.json");
  }

  all(): readonly Installed[] {
    try {
      return JSON.parse(fileText(this.#path) ?? "[]") as Installed[];
    } catch {
      throw new UserFileError(`${this.#path} is damaged; delete it and install again`);
    }
  }

  find(agent: string, target: string): Installed | undefined {
    return this.all().find((entry) => entry.agent === agent && entry.target === target);
  }

  /** Puts the pieces in place and says what was written. A dry run only says it. */
  install(
    entry: Omit<Installed, "placed" | "folders">,
    pieces: readonly Piece[],
    dryRun: boolean,
  ): InstalledChange[] {
    if (dryRun) return this.#plan(entry, pieces).changes;
    const { old, ours, written, outdated, changes } = this.#plan(entry, pieces);
    const folders = [...(old?.folders ?? [])];
    const { agent, target } = entry;
    const before = this.all();
    const others = before.filter((other) => other.agent !== agent || other.target !== target);
    const record = () =>
      this.#write(ours.length === 0 ? others : [...others, { ...entry, placed: ours, folders }]);
    // First the record: whatever happens to this process now, what it puts in can be taken out.
    record();
    try {
      for (const { piece, text } of written) {
        const made = mkdirSync(dirname(piece.path), { recursive: true });
        if (made !== undefined) folders.push(...foldersBetween(made, dirname(piece.path)));
        writeUserFile(piece.path, text);
      }
    } catch (error) {
      for (const { piece, present } of written) undoWrite(piece.path, present);
      removeFolders(folders);
      this.#write(before);
      throw error;
    }
    changes.push(...outdated.map(takeOut));
    if (folders.length > 0) record();
    return changes;
  }

  /** What an installation comes to. It fails here if a file of the user cannot be read or must not be written. */
  #plan({ agent, target }: Omit<Installed, "placed" | "folders">, pieces: readonly Piece[]) {
    const old = this.find(agent, target);
    const planned = pieces.map((piece) => {
      const present = fileText(piece.path);
      // A process that was killed has the record, but not the piece.
      const known = old?.placed.find(
        (placed) =>
          placed.path === piece.path && present !== undefined && restOf(present, placed) !== undefined,
      );
      // A second installation begins with what was there before the first, unless somebody has changed that.
      const earlier = known === undefined ? undefined : textBefore(present ?? "", known.change);
      const isTouched = known !== undefined && earlier === undefined;
      const isNew = piece.kind === "file" || present === undefined || (known?.isNew ?? false);
      const before = isNew && !isTouched ? undefined : (earlier ?? present);
      const text = about(piece.path, () => withPiece(before, piece, isTouched ? known : undefined));
      const change = isTouched || piece.kind === "file" ? null : changeBetween(before ?? "", text);
      // An entry of the user's own with our name stays theirs: it is not recorded as ours.
      const isOurs = withoutPiece(text, piece) !== undefined;
      return { piece: { ...piece, isNew, change }, present, text, isOurs };
    });
    const outdated = (old?.placed ?? []).filter(({ path }) => !pieces.some((piece) => piece.path === path));
    const written = planned.filter(({ present, text }) => present !== text);
    for (const { piece } of written) requireWritable(piece.path);
    const changes: InstalledChange[] = [
      ...written.map(({ piece }) => ({ path: piece.path, done: "wrote" as const })),
      ...planned
        .filter(({ isOurs }) => !isOurs)
        .map(({ piece }) => ({ path: piece.path, done: "kept" as const })),
    ];
    const ours = planned.filter(({ isOurs }) => isOurs).map(({ piece }) => piece);
    return { old, ours, written, outdated, changes };
  }

  /** Takes an installation out. A file that was changed since is left, and said to be. */
  remove(entry: Installed): InstalledChange[] {
    for (const { path } of entry.placed) requireWritable(path);
    const changes = entry.placed.map(takeOut);
    removeFolders(entry.folders);
    this.#write(this.all().filter(({ agent, target }) => agent !== entry.agent || target !== entry.target));
    return changes;
  }

  #write(entries: readonly Installed[]): void {
    if (entries.length === 0) {
      rmSync(this.#path, { force: true });
      return;
    }
    mkdirSync(dirname(this.#path), { recursive: true, mode: 0o700 });
    writeUserFile(this.#path, `${JSON.stringify(entries, null, 2)}\n`, 0o600);
  }
}

/** Whether every piece is still in place. */
export function isIntact({ placed }: Installed): boolean {
  return placed.every((piece) => {
    const present = readable(piece.path);
    return present !== undefined && restOf(present, piece) !== undefined;
  });
}

function takeOut({ isNew, change, ...piece }: Placed): InstalledChange {
  const { path } = piece;
  const present = fileText(path);
  if (present === undefined) return { path, done: "removed" };
  const rest = restOf(present, piece);
  if (rest === undefined || rest === present)
    return { path, done: isTakenOut(present, piece) ? "removed" : "left" };
  // Where nobody has changed the file since, it becomes what it was, byte for byte.
  const before = textBefore(present, change);
  if (isNew && (before !== undefined || rest.trim() === "")) {
    removeFile(path);
    return { path, done: "removed" };
  }
  writeUserFile(path, before ?? rest);
  return { path, done: "restored" };
}

/** The text without a piece; undefined if it is not in it as we put it in, or nobody can read the text any more. */
function restOf(present: string, piece: Piece): string | undefined {
  try {
    return withoutPiece(present, piece);
  } catch {
    return undefined;
  }
}

/** Whether somebody has removed an entry of ours already. */
function isTakenOut(present: string, { kind, keys = [] }: Piece): boolean {
  try {
    return kind === "json" && !hasEntry(present, keys);
  } catch {
    return false;
  }
}

function readable(path: string): string | undefined {
  try {
    return fileText(path);
  } catch {
    return undefined;
  }
}

function undoWrite(path: string, present: string | undefined): void {
  if (present === undefined) removeFile(path);
  else if (readable(path) !== present) writeUserFile(path, present);
}

/** Does something with a file; what is wrong with it is said with its name. */
function about<T>(path: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (error instanceof SyntaxError)
      throw new UserFileError(`${path}: ${error.message}; it is left as it is`);
    throw error;
  }
}

function removeFolders(folders: readonly string[]): void {
  for (const folder of [...folders].sort((a, b) => b.length - a.length)) {
    try {
      rmdirSync(folder);
    } catch {
      // Something of the user's is in it, or it is gone.
    }
  }
}

function foldersBetween(outermost: string, innermost: string): string[] {
  const folders = [innermost];
  while (folders[0] !== outermost && folders[0] !== dirname(folders[0])) folders.unshift(dirname(folders[0]));
  return folders;
}
