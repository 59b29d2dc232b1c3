/** Which projects of an account are shared, and by whom. What is shared in them is written as any fact is (fact-writes.ts). */

import { changedProject } from "../../memory/project-records.ts";
import type { ProjectChange, ProjectRecord, RemoveProjectOutcome } from "../../memory/records.ts";
import { projectUser } from "../../memory/shared-places.ts";
import { projectKey, rangeBelow, userKey } from "./entry-keys.ts";
import type { Environment } from "./environment.ts";
import { packJson, unpackJson } from "./records.ts";
import { noteForgetting, type Write } from "./writer.ts";

/** In the order of their names. */
export function readProjects(environment: Environment, account: string): ProjectRecord[] {
  return environment
    .entries("projects", rangeBelow(Buffer.from(account)))
    .map(({ value }) => unpackJson<ProjectRecord>(value));
}

export function changeProject(account: string, change: ProjectChange): Write<ProjectRecord | undefined> {
  return (writer) => {
    const key = projectKey(account, change.project);
    const bytes = writer.get("projects", key);
    const count = writer.keys("projects", rangeBelow(Buffer.from(account))).length;
    const known = bytes && unpackJson<ProjectRecord>(bytes);
    const record = changedProject(known, change, count);
    if (record === undefined || record === known) return record;
    writer.put("projects", key, packJson(record));
    if (change.leaver !== undefined) noteForgetting(writer, change.createdAtMs);
    return record;
  };
}

/** Its hidden user has a record as long as there is a fact or a history. */
export function removeProject(account: string, project: string): Write<RemoveProjectOutcome> {
  return (writer) => {
    const key = projectKey(account, project);
    if (!writer.has("projects", key)) return "missing";
    if (writer.has("facts", userKey(account, projectUser(project)))) return "in_use";
    writer.remove("projects", key);
    return "removed";
  };
}
