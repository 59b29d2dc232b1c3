/** Which projects of an account are shared, and by whom. They are few, and nodes cache them. */

import { changedProject } from "../../../memory/project-records.ts";
import type {
  AuditNote,
  ProjectChange,
  ProjectRecord,
  RemoveProjectOutcome,
} from "../../../memory/records.ts";
import { projectUser } from "../../../memory/shared-places.ts";
import { DIRECTORY_SLOT, userSlot } from "../cluster/placement.ts";
import type { Query, Sql } from "../connection/database.ts";
import { answerOf, type Ticketed } from "../connection/tickets.ts";
import { changeDirectory, type Versioned } from "./label-queries.ts";
import { type ProjectRow, projectOf } from "./project-rows.ts";

/** The columns of what was not found are null. */
type FoundProject = Ticketed & (ProjectRow | { readonly project: null });

export function readProjects(account: string): Query<ProjectRecord[]> {
  return async (sql) => {
    const rows = await answerOf(
      (ticket) => sql<FoundProject[]>`
        SELECT ticket, project, access, members, created_at_ms AS "createdAtMs"
        FROM (SELECT ${ticket}::bigint AS ticket) AS t
        LEFT JOIN sideband.projects ON slot = ${DIRECTORY_SLOT} AND account = ${account} ORDER BY project`,
    );
    return rows.flatMap((row) => (row.project === null ? [] : [projectOf(row)]));
  };
}

/** One after the other on all nodes (changeDirectory). Writes of its members that were before are waited for. */
export function changeProject(
  account: string,
  change: ProjectChange,
  audit?: AuditNote,
): (sql: Sql) => Versioned<ProjectRecord | undefined> {
  return changeDirectory(async (tx) => {
    await lockProject(tx, account, change.project);
    const all = await readProjects(account)(tx);
    const known = all.find(({ project }) => project === change.project);
    const record = changedProject(known, change, all.length);
    if (record === undefined || record === known) return record;
    const members = record.members === null ? null : JSON.stringify(record.members);
    await tx`
      INSERT INTO sideband.projects (slot, created_at_ms, account, project, access, members)
      VALUES (${DIRECTORY_SLOT}, ${record.createdAtMs}, ${account}, ${record.project}, ${record.access}, ${members})
      ON CONFLICT (slot, account, project) DO UPDATE SET access = excluded.access, members = excluded.members`;
    return record;
  }, audit);
}

/** A write that was before has made its user; one that comes after is refused. */
export function removeProject(
  account: string,
  project: string,
  audit?: AuditNote,
): (sql: Sql) => Versioned<RemoveProjectOutcome> {
  return changeDirectory(async (tx) => {
    await lockProject(tx, account, project);
    const all = await readProjects(account)(tx);
    if (!all.some((known) => known.project === project)) return "missing";
    const userId = projectUser(project);
    const used = await tx`
      SELECT slot FROM sideband.users
      WHERE slot = ${userSlot(account, userId)} AND account = ${account} AND user_id = ${userId}`;
    if (used.length > 0) return "in_use";
    await tx`
      DELETE FROM sideband.projects
      WHERE slot = ${DIRECTORY_SLOT} AND account = ${account} AND project = ${project}`;
    return "removed";
  }, audit);
}

/** A write holds the row until its commit (group-locks.ts). */
async function lockProject(tx: Sql, account: string, project: string): Promise<void> {
  await tx`
    SELECT project FROM sideband.projects
    WHERE slot = ${DIRECTORY_SLOT} AND account = ${account} AND project = ${project} FOR UPDATE`;
}
