/**
 * The project that --project names: by its whole name, by a beginning that no other project of the user has, or by the name that
 * the repository of the folder had before it got a remote, which a command printed earlier still has. A name that fits none may be a new one, or one whose facts are forgotten, so it is used as it is, with a line that says which there are.
 */

import { homedir } from "node:os";
import { sep } from "node:path";
import { findProject, projectOf } from "../agents/project.ts";
import type { AgentConfig } from "../config.ts";
import type { PlaceKind } from "../contract/answers.ts";
import type { Sideband } from "../sdk/index.ts";
import { CommandError } from "./command.ts";

/** More would hide the line. */
const LISTED_MAX = 20;

/** What a project's name ends with: a hash of its remote, or of its path where it has none. */
const HASH = /-[0-9a-f]{12}$/;

/** @param name PROJECT or PROJECT/WORKTREE, as it was typed */
export async function namedProject(
  memory: KnowsProjects,
  userId: string,
  name: string,
  { projectFrom }: Pick<AgentConfig, "projectFrom">,
): Promise<{ readonly project: string; readonly note?: string }> {
  const known = await projectsOf(memory, userId);
  const [wanted, ...worktree] = name.split("/");
  if (known.length === 0 || known.includes(wanted)) return { project: name };
  const here = findProject([process.cwd()], { projectFrom });
  if (here?.byPath === wanted && known.includes(here.project)) {
    const note = `${wanted} has a remote since, and is ${here.project} now`;
    return { project: [here.project, ...worktree].join("/"), note };
  }
  const found = known.filter((project) => project.startsWith(wanted));
  if (found.length > 1)
    throw new CommandError(
      `several projects of ${userId} begin with ${JSON.stringify(wanted)}: ${listed(found)}`,
    );
  if (found.length === 1) return { project: [found[0], ...worktree].join("/"), note: `in ${found[0]}` };
  const plain = wanted.replace(HASH, "");
  const alike = plain === wanted ? [] : known.filter((project) => project.replace(HASH, "") === plain);
  const now = alike.length === 0 ? "" : `; if it has got a remote since, it may be ${listed(alike)} now`;
  const note = `${userId} has no facts in a project ${JSON.stringify(wanted)}${now}; there are: ${listed(known)}`;
  return { project: name, note };
}

/**
 * Whose a fact is, where it is not the person's own: "the project loom", "the folder ~/trip".
 * @param project where the person works
 */
export function placeText(
  place: PlaceKind | undefined,
  project: string | undefined,
  config: AgentConfig,
): string | undefined {
  if (place === undefined || place === "person" || project === undefined) return undefined;
  const folder = process.cwd();
  if (config.project === undefined && projectOf([folder], config) === undefined) {
    const isAtHome = `${folder}${sep}`.startsWith(`${homedir()}${sep}`);
    return `the folder ${isAtHome ? `~${folder.slice(homedir().length)}` : folder}`;
  }
  const [name] = project.split("/");
  if (place === "shared") return `all who share ${name}`;
  if (place === "own") return `you alone in ${name}`;
  return place === "project" ? `the project ${name}` : `the worktree ${project}`;
}

type KnowsProjects = Pick<Sideband<string>, "users" | "projects">;

/** Those with facts, without their worktrees, and those that are shared. None where the key may not list them. */
async function projectsOf(memory: KnowsProjects, userId: string): Promise<string[]> {
  try {
    const [{ users }, shared] = await Promise.all([memory.users({ prefix: userId }), memory.projects()]);
    const places = users.find(({ user_id }) => user_id === userId)?.projects ?? [];
    const own = places.map((place) => place.split("/")[0]);
    return [...new Set([...own, ...shared.projects.map(({ project }) => project)])].sort();
  } catch {
    // What comes next meets the same fault, or does not need them.
    return [];
  }
}

function listed(projects: readonly string[]): string {
  const more = projects.length - LISTED_MAX;
  return projects.slice(0, LISTED_MAX).join(", ") + (more > 0 ? ` and ${more} more` : "");
}
