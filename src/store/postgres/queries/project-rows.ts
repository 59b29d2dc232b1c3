/** Rows of shared projects, as records. */

import type { KeyAccess, ProjectRecord } from "../../../memory/records.ts";

export interface ProjectRow {
  readonly project: string;
  readonly access: KeyAccess;
  /** As JSON. */
  readonly members: string | null;
  readonly createdAtMs: number;
}

export function projectOf({ project, access, members, createdAtMs }: ProjectRow): ProjectRecord {
  return { project, members: members === null ? null : JSON.parse(members), access, createdAtMs };
}
