/** Shared projects: GET /projects and /projects/:project, PUT and DELETE. */

import { invalidRequest } from "../../base/errors.ts";
import type { ListedProject, ProjectAnswer } from "../../contract/answers.ts";
import type { Caller } from "../../memory/authentication.ts";
import { isMember } from "../../memory/law/sharing.ts";
import {
  describeShared,
  eraseProject,
  knownProject,
  type SharedFacts,
  shareProject,
  unknownProject,
  unshareProject,
} from "../../memory/project-sharing.ts";
import type { ProjectRecord } from "../../memory/records.ts";
import type { MemoryServices } from "../../memory/services.ts";
import type { Handlers } from "../request/route.ts";
import { timeText } from "./answer-mapping.ts";

export function projectRoutes() {
  return {
    async projects(call) {
      const { caller, memory } = call;
      const all = [...(await memory.projects.of(caller.account, true)).values()];
      return {
        projects: all.filter((record) => isSeen(caller, record)).map((one) => listedProject(caller, one)),
      };
    },

    async project(call) {
      const { caller, memory, params } = call;
      const record = await knownProject(memory, caller.account, params.project);
      // A bound key learns nothing of the others.
      if (!isSeen(caller, record)) throw unknownProject(params.project);
      return projectAnswer(caller, record, await describeShared(memory, caller.account, params.project));
    },

    async shareProject(call) {
      const { caller, memory, params, body } = call;
      const { shared, members, access, take, give_to: giveTo, dry_run: dryRun } = body;
      const { project } = params;
      if (!shared) {
        const unfit = Object.entries({ members, access, take, dry_run: dryRun }).find(
          ([, value]) => value !== undefined,
        );
        if (unfit !== undefined) throw invalidRequest(unfit[0], `${unfit[0]} is not for shared: false.`);
        const record = await knownProject(memory, caller.account, project);
        const given = await unshareProject(memory, caller.account, { project, giveTo });
        const answer = { ...projectAnswer(caller, record, NOTHING_SHARED), shared: false, taken: [] };
        return giveTo === undefined ? answer : { ...answer, given };
      }
      if (giveTo !== undefined) throw invalidRequest("give_to", "give_to is for shared: false alone.");
      const result = await shareProject(memory, caller.account, {
        ...{ project, members, access, dryRun },
        take: take && { userId: take.user_id, labels: take.labels },
      });
      return {
        ...projectAnswer(caller, result.record, result.shared),
        taken: result.taken.map(({ label, value }) => ({ label, value })),
      };
    },

    async eraseProject(call) {
      const erased = await eraseProject(call.memory, call.caller.account, call.params.project);
      return { status: "ok", erased } as const;
    },
  } satisfies Partial<Handlers>;
}

/** All that an account shares, as the operator sees it. */
export async function sharedProjects(memory: MemoryServices, account: string): Promise<ProjectAnswer[]> {
  const all = [...(await memory.projects.of(account, true)).values()];
  const described = all.map(async (record) =>
    projectAnswer({ user: null }, record, await describeShared(memory, account, record.project)),
  );
  return Promise.all(described);
}

function isSeen({ user }: Pick<Caller, "user">, record: ProjectRecord): boolean {
  return user === null || isMember(record, user);
}

function commonFields({ project, access, createdAtMs }: ProjectRecord) {
  return { project, shared: true, access, created_at: timeText(createdAtMs) };
}

function listedProject({ user }: Pick<Caller, "user">, record: ProjectRecord): ListedProject {
  const { members } = record;
  return { ...commonFields(record), ...(user === null ? { member_count: members?.length ?? null } : {}) };
}

const NOTHING_SHARED: SharedFacts = { count: 0, updatedAtMs: null };

function projectAnswer(
  { user }: Pick<Caller, "user">,
  record: ProjectRecord,
  { count, updatedAtMs }: SharedFacts,
): ProjectAnswer {
  const { members } = record;
  return {
    ...commonFields(record),
    ...(user === null ? { members: members && [...members] } : {}),
    facts: count,
    updated_at: updatedAtMs === null ? null : timeText(updatedAtMs),
  };
}
