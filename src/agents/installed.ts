/**
 * What is installed: a record in the user's home says which pieces were put where, by which version, and what the
 * files were before. With it `remove` takes out exactly what `install` put in, and `status` knows where to look.
 */

import { mkdirSync, rmdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileText, type Piece, withoutPiece, withPiece } from "./install.ts";

/** One installation of an agent's files. */
export interface Installed {
  readonly agent: string;
  readonly target: string;
  readonly version: string;
  readonly command: readonly string[];
  readonly placed: readonly Placed[];
  /** Folders that were made for it, the outermost first. */
  readonly folders: readonly string[];
}

interface Placed extends Piece {
  /** The user's file before; null if there was none, or if the file is ours. */
  readonly before: string | null;
}

export interface InstalledChange {
  readonly path: string;
  readonly done: "wrote" | "removed" | "restored" | "left";
}

/** The record of all installations of a user. */
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
      throw new SyntaxError(`${this.#path} is damaged; delete it and install again`);
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
    const { agent, target } = entry;
    const old = this.find(agent, target);
    const placed = pieces.map((piece) => {
      const present = fileText(piece.path);
      const known = old?.placed.find(({ path }) => path === piece.path);
      // A second installation keeps what was there before the first.
      const now = piece.kind === "file" ? null : (present ?? null);
      const before = known !== undefined && present !== undefined ? known.before : now;
      return { piece: { ...piece, before }, present, text: withPiece(present, piece) };
    });
    const outdated = (old?.placed ?? []).filter(({ path }) => !pieces.some((piece) => piece.path === path));
    const written = placed.filter(({ present, text }) => present !== text);
    const changes: InstalledChange[] = written.map(({ piece }) => ({ path: piece.path, done: "wrote" }));
    if (dryRun) return changes;
    const folders = [...(old?.folders ?? [])];
    for (const { piece, text } of written) {
      const made = mkdirSync(dirname(piece.path), { recursive: true });
      if (made !== undefined) folders.push(...foldersBetween(made, dirname(piece.path)));
      writeFileSync(piece.path, text);
    }
    changes.push(...outdated.map(takeOut));
    // A table of the user's own with our name stays theirs: it is not recorded as ours.
    const ours = placed.filter(({ piece, text }) => withoutPiece(text, piece) !== undefined);
    this.#write([
      ...this.all().filter((other) => other.agent !== agent || other.target !== target),
      { ...entry, placed: ours.map(({ piece }) => piece), folders },
    ]);
    return changes;
  }

  /** Takes an installation out. A file that was changed since is left, and said to be. */
  remove(entry: Installed): InstalledChange[] {
    const changes = entry.placed.map(takeOut);
    for (const folder of [...entry.folders].sort((a, b) => b.length - a.length)) {
      try {
        rmdirSync(folder);
      } catch {
        // Something of the user's is in it, or it is gone.
      }
    }
    this.#write(this.all().filter(({ agent, target }) => agent !== entry.agent || target !== entry.target));
    return changes;
  }

  #write(entries: readonly Installed[]): void {
    if (entries.length === 0) {
      rmSync(this.#path, { force: true });
      return;
    }
    mkdirSync(dirname(this.#path), { recursive: true });
    writeFileSync(this.#path, `${JSON.stringify(entries, null, 2)}\n`, { mode: 0o600 });
  }
}

/** Whether every piece is still in place. */
export function isIntact({ placed }: Installed): boolean {
  return placed.every((piece) => {
    const present = fileText(piece.path);
    return present !== undefined && withoutPiece(present, piece) !== undefined;
  });
}

function takeOut({ before, ...piece }: Placed): InstalledChange {
  const { path } = piece;
  const present = fileText(path);
  if (present === undefined) return { path, done: "removed" };
  const rest = withoutPiece(present, piece);
  if (rest === undefined) return { path, done: "left" };
  // Nobody has changed the file since: it becomes what it was, byte for byte.
  const untouched = present === withPiece(before ?? undefined, piece);
  if (before === null && (untouched || rest.trim() === "")) {
    rmSync(path);
    return { path, done: "removed" };
  }
  writeFileSync(path, untouched && before !== null ? before : rest);
  return { path, done: "restored" };
}

function foldersBetween(outermost: string, innermost: string): string[] {
  const folders = [innermost];
  while (folders[0] !== outermost && folders[0] !== dirname(folders[0])) folders.unshift(dirname(folders[0]));
  return folders;
}
