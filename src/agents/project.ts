/**
 * The project that a folder belongs to: its git repository. A linked worktree is a place inside the project, named after
 * a slash as git names it; a submodule is a project of its own. Reads files and starts no git: a hook has little time.
 *
 * Anybody can write a `.git` file that names a foreign repository, for example into an archive. So a folder is a worktree
 * only if the repository itself lists it: a forged one would get the facts of the foreign project into its prompt.
 *
 * The name is made of the folder's name, for people, and of a hash of its path, so that two repositories with the same
 * name stay apart.
 */

import { createHash } from "node:crypto";
import { readFileSync, realpathSync, statSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const NAME_LENGTH_MAX = 40;
const HASH_DIGITS = 12;
/** The name of a worktree that needs no change. */
const PLAIN_NAME = /^[A-Za-z0-9_.-]{1,100}$/;
/** More than any system takes for a path. */
const LINK_BYTES_MAX = 1 << 16;

/** The setting that turns projects off. */
const OFF = "off";

/**
 * The project of the first folder that is in one.
 * @param folders paths, or file: addresses as MCP's roots are
 * @param setting SIDEBAND_PROJECT: a name to use instead, or "off"
 */
export function projectOf(folders: readonly string[], setting?: string | undefined): string | undefined {
  if (setting !== undefined) return setting === OFF ? undefined : setting;
  for (const folder of folders) {
    const found = repositoryOf(folder);
    if (found === undefined) continue;
    const { root, worktree } = found;
    return worktree === undefined ? projectName(root) : `${projectName(root)}/${worktreeName(worktree)}`;
  }
  return undefined;
}

/** The name of a repository's project: letters, digits, `_` and `-` only, as some stores take no dots. */
export function projectName(root: string): string {
  const name = basename(root)
    .replace(/\.git$/, "")
    .replace(/[^A-Za-z0-9_-]+/g, "-")
    .slice(0, NAME_LENGTH_MAX);
  return `${name}-${createHash("sha256").update(root).digest("hex").slice(0, HASH_DIGITS)}`;
}

function worktreeName(name: string): string {
  return PLAIN_NAME.test(name) ? name : projectName(name);
}

interface Repository {
  /** The folder of its main worktree. */
  readonly root: string;
  /** The name that git has for a linked worktree. */
  readonly worktree?: string;
}

/** The repository that a folder is in. */
function repositoryOf(folder: string): Repository | undefined {
  try {
    let at = realpathSync(folder.startsWith("file:") ? fileURLToPath(folder) : folder);
    for (; ; at = dirname(at)) {
      const found = repositoryAt(at);
      if (found !== undefined || at === dirname(at)) return found;
    }
  } catch {
    // A folder that is gone or closed to us is in no project.
    return undefined;
  }
}

function repositoryAt(folder: string): Repository | undefined {
  const git = join(folder, ".git");
  const entry = statSync(git, { throwIfNoEntry: false });
  if (entry === undefined) return undefined;
  if (entry.isDirectory()) return { root: folder };
  // A worktree or a submodule: the file names its git folder, and only a worktree's names a common one.
  const own = resolve(folder, linkText(git)?.replace(/^gitdir: /, "") ?? "");
  const shared = linkText(join(own, "commondir"));
  if (shared === undefined) return { root: folder };
  const common = realpathSync(resolve(realpathSync(own), shared));
  if (!listsWorktree(common, realpathSync(own), folder)) return { root: folder };
  return { root: basename(common) === ".git" ? dirname(common) : common, worktree: basename(own) };
}

/** Whether a repository has a worktree in the folder: its own entry for it names the folder's `.git`. */
function listsWorktree(repository: string, entry: string, folder: string): boolean {
  const git = resolve(entry, linkText(join(entry, "gitdir")) ?? "");
  return (
    isSame(dirname(entry), join(repository, "worktrees")) &&
    basename(git) === ".git" &&
    isSame(dirname(git), folder)
  );
}

/** Whether two paths are one folder. Their texts can differ by links, and by case where the disk ignores it. */
function isSame(a: string, b: string): boolean {
  const [one, other] = [a, b].map((path) => statSync(path, { bigint: true, throwIfNoEntry: false }));
  return one !== undefined && one.dev === other?.dev && one.ino === other.ino;
}

/** The path in a small file of git; undefined if there is no such file. Only files are read: a pipe might never end. */
function linkText(path: string): string | undefined {
  const entry = statSync(path, { throwIfNoEntry: false });
  if (entry === undefined || !entry.isFile() || entry.size > LINK_BYTES_MAX) return undefined;
  return readFileSync(path, "utf8").trim();
}
