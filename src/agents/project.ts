/**
 * The project that a folder belongs to: its git repository. A linked worktree is a place inside the project, named after
 * a slash as git names it; a submodule is a project of its own. Reads files and starts no git: a hook has little time.
 *
 * Repositories with the same remote are one project, wherever they lie. A repository without a remote is known by its
 * path. The name is made of the repository's name, for people, and of a hash of the remote or the path, so that two
 * repositories with the same name stay apart.
 *
 * Anybody can write a `.git` file that names a foreign repository, for example into an archive. So a folder is a worktree
 * only if the repository itself lists it, and a remote is read only from files that are the folder's own: a forged one
 * would get the facts of the foreign project into its prompt.
 *
 * A folder outside of all repositories is a place of its own, known by its path.
 */

import { createHash } from "node:crypto";
import { lstatSync, readFileSync, realpathSync, statSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { isOutage } from "../sdk/errors.ts";
import type { Sideband } from "../sdk/index.ts";
import { gitValue, remoteIdentity, remoteIn } from "./git-remote.ts";

const NAME_LENGTH_MAX = 40;
const HASH_DIGITS = 12;
/** The name of a worktree that needs no change. */
const PLAIN_NAME = /^[A-Za-z0-9_.][A-Za-z0-9_.-]{0,99}$/;
/** What a project's name does not have: all but letters and digits of any script, `_` and `-`. */
const NOT_IN_NAME = /[^\p{L}\p{M}\p{N}_-]+/gu;
/** The name of a repository whose own has no letter and no digit. */
const NAMELESS = "project";
/** More than any system takes for a path. */
const LINK_BYTES_MAX = 1 << 16;
const CONFIG_BYTES_MAX = 1 << 20;

/** The setting that turns projects off. */
const OFF = "off";

/** Settings about projects (src/config.ts has them). */
interface ProjectSettings {
  /** A name to use instead, or "off". */
  readonly project?: string | undefined;
  /** What a repository is known by; its path where it has no remote. */
  readonly projectFrom?: "remote" | "path" | undefined;
}

interface FoundProject {
  /** The project, or the project and the worktree with a slash between. */
  readonly place: string;
  readonly project: string;
  /** The project's name by its path, where it is known by its remote: what it was called before it had one. */
  readonly byPath?: string;
}

/** The same, or else the place of the first folder itself: PROJ and TASK facts that are told outside of a project stay there. */
export function placeOf(folders: readonly string[], settings: ProjectSettings = {}): string | undefined {
  return findPlace(folders, settings)?.place;
}

function findPlace(folders: readonly string[], settings: ProjectSettings): FoundProject | undefined {
  const found = findProject(folders, settings);
  if (found !== undefined || settings.project !== undefined) return found;
  const folder = folders.map(realFolder).find((path) => path !== undefined);
  // As it would be called if it were a repository: one that becomes one keeps its facts.
  const project = folder === undefined ? undefined : projectName(folder);
  return project === undefined ? undefined : { place: project, project };
}

/** The place of the first folder that is in a project. @param folders paths, or file: addresses as MCP's roots are */
export function projectOf(folders: readonly string[], settings: ProjectSettings = {}): string | undefined {
  return findProject(folders, settings)?.place;
}

/** All names of the first folder's repository, by its remote and by its path: one of them stays when the other changes. */
export function projectNames(folders: readonly string[]): string[] {
  const found = findProject(folders, {});
  return found === undefined ? [] : [...new Set([found.project, found.byPath ?? found.project])];
}

/** No agent waits at every turn for a memory that is away. */
const AGAIN_MS = 30_000;

interface ProjectMove {
  readonly done: Promise<void>;
  /** When it may be tried again, as memory was away. */
  againAtMs: number;
}

/** What was asked of each memory, by user and names. */
const moves = new WeakMap<object, Map<string, ProjectMove>>();

/**
 * placeOf for a memory that is in use. A project that is known by its remote takes over what was kept under its path, before
 * it had one. That costs one short call, once in a process; where memory was away, it is tried again. Never throws: what
 * comes next meets the same fault.
 */
export async function openProject(
  memory: Pick<Sideband<string>, "moveProject">,
  userId: string,
  folders: readonly string[],
  settings: ProjectSettings & { readonly timeoutMs?: number | undefined },
): Promise<string | undefined> {
  const found = findPlace(folders, settings);
  if (found?.byPath === undefined) return found?.place;
  const { byPath, project, place } = found;
  const known = moves.get(memory) ?? new Map<string, ProjectMove>();
  moves.set(memory, known);
  const name = JSON.stringify([userId, byPath, project]);
  let move = known.get(name);
  if (move === undefined || Date.now() >= move.againAtMs) {
    const asked = memory.moveProject(userId, byPath, project, { timeoutMs: settings.timeoutMs });
    const next: ProjectMove = {
      done: asked.then(
        () => {},
        (error) => {
          if (isOutage(error)) next.againAtMs = Date.now() + AGAIN_MS;
        },
      ),
      againAtMs: Number.POSITIVE_INFINITY,
    };
    known.set(name, next);
    move = next;
  }
  await move.done;
  return place;
}

export function findProject(
  folders: readonly string[],
  { project: setting, projectFrom = "remote" }: ProjectSettings,
): FoundProject | undefined {
  if (setting === OFF) return undefined;
  if (setting !== undefined) return { place: setting, project: setting.split("/")[0] };
  for (const folder of folders) {
    const found = repositoryOf(folder);
    if (found === undefined) continue;
    const { root, gitFolder, worktree } = found;
    const byPath = projectName(root);
    const remote = projectFrom === "remote" ? remoteOf(gitFolder, root) : undefined;
    const project = remote === undefined ? byPath : projectName(remote);
    const place = worktree === undefined ? project : `${project}/${worktreeName(worktree)}`;
    return { place, project, ...(project === byPath ? {} : { byPath }) };
  }
  return undefined;
}

/**
 * The name of a repository's project: letters and digits of any script, `_` and `-`, as some stores take no dots. It does
 * not begin with `-`, so that no command takes it for an option.
 */
export function projectName(identity: string): string {
  const plain = basename(identity)
    .normalize("NFC")
    // Some letters are never seen, such as the fillers of Hangul.
    .replace(/\p{Default_Ignorable_Code_Point}/gu, " ")
    .replace(/\.git(?:[;?#].*)?$/s, "")
    .replace(NOT_IN_NAME, "-")
    .replace(/^-+/, "");
  const name = [...plain].slice(0, NAME_LENGTH_MAX).join("") || NAMELESS;
  return `${name}-${createHash("sha256").update(identity).digest("hex").slice(0, HASH_DIGITS)}`;
}

function worktreeName(name: string): string {
  return PLAIN_NAME.test(name) ? name : projectName(name);
}

interface Repository {
  /** The folder of its main worktree. */
  readonly root: string;
  /** Where its configuration is; undefined where that may be a foreign one. */
  readonly gitFolder: string | undefined;
  /** The name that git has for a linked worktree. */
  readonly worktree?: string;
}

/** A native path has the letters' case that the disk has, where that ignores it. Undefined where there is no such folder. */
function realFolder(folder: string): string | undefined {
  try {
    return realpathSync.native(folder.startsWith("file:") ? fileURLToPath(folder) : folder);
  } catch {
    return undefined;
  }
}

/** The repository that a folder is in. */
function repositoryOf(folder: string): Repository | undefined {
  try {
    let at = realFolder(folder);
    for (; at !== undefined; at = at === dirname(at) ? undefined : dirname(at)) {
      const found = repositoryAt(at);
      if (found !== undefined) return found;
    }
  } catch {
    // A folder that is closed to us is in no project.
  }
  return undefined;
}

function repositoryAt(folder: string): Repository | undefined {
  const git = join(folder, ".git");
  const entry = statSync(git, { throwIfNoEntry: false });
  if (entry === undefined) return undefined;
  if (entry.isDirectory()) return { root: folder, gitFolder: lstatSync(git).isDirectory() ? git : undefined };
  // A worktree or a submodule: the file names its git folder, and only a worktree's names a common one.
  const own = resolve(folder, linkText(git)?.replace(/^gitdir: /, "") ?? "");
  const shared = linkText(join(own, "commondir"));
  if (shared === undefined) return { root: folder, gitFolder: isWorktreeOf(own, folder) ? own : undefined };
  const common = realpathSync.native(resolve(realpathSync.native(own), shared));
  if (!listsWorktree(common, realpathSync.native(own), folder)) return { root: folder, gitFolder: undefined };
  const root = basename(common) === ".git" ? dirname(common) : common;
  return { root, gitFolder: common, worktree: basename(own) };
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

/** Whether a git folder outside of its worktree, as a submodule's is, says that the folder is its worktree. */
function isWorktreeOf(gitFolder: string, folder: string): boolean {
  const worktree = gitValue(linkText(join(gitFolder, "config"), CONFIG_BYTES_MAX) ?? "", "core", "worktree");
  return worktree !== undefined && isSame(resolve(gitFolder, worktree), folder);
}

/** What the repository's remote is known by. */
function remoteOf(gitFolder: string | undefined, root: string): string | undefined {
  if (gitFolder === undefined) return undefined;
  try {
    const path = join(gitFolder, "config");
    const url = lstatSync(path).isFile() ? remoteIn(linkText(path, CONFIG_BYTES_MAX) ?? "") : undefined;
    return url === undefined ? undefined : remoteIdentity(url, root);
  } catch {
    return undefined;
  }
}

/** Whether two paths are one folder. Their texts can differ by links, and by case where the disk ignores it. */
function isSame(a: string, b: string): boolean {
  const [one, other] = [a, b].map((path) => statSync(path, { bigint: true, throwIfNoEntry: false }));
  return one !== undefined && one.dev === other?.dev && one.ino === other.ino;
}

/** A small file of git; undefined if there is no such file. Only files are read: a pipe might never end. */
function linkText(path: string, bytesMax = LINK_BYTES_MAX): string | undefined {
  const entry = statSync(path, { throwIfNoEntry: false });
  if (entry === undefined || !entry.isFile() || entry.size > bytesMax) return undefined;
  return readFileSync(path, "utf8").trim();
}
