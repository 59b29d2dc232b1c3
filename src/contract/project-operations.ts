/** The operations of shared projects: what a team knows together. */

import { type Operation, STORED, STORING } from "./operation.ts";
import * as project from "./project-schemas.ts";

const OF_ACCOUNT = { access: "key", about: "account", writes: true } as const;
/** A bound key sees those that its user shares. */
const OF_KEY = { access: "key", about: "key", writes: false } as const;

export const PROJECT_OPERATIONS = {
  shareProject: {
    method: "PUT",
    path: "/projects/:project",
    audited: true,
    ...OF_ACCOUNT,
    summary:
      "Shares a project, changes who shares it, or ends the sharing. Nothing that a person has becomes shared unless `take` says so.",
    params: project.ProjectParams,
    body: project.ShareBody,
    answer: project.SharedProjectAnswer,
    errors: [
      "invalid_request",
      "not_a_member",
      "not_found",
      "fact_not_found",
      "project_has_facts",
      "projects_full",
      "memory_full",
      ...STORING,
    ],
  },
  project: {
    method: "GET",
    path: "/projects/:project",
    ...OF_KEY,
    summary: "A shared project: who shares it, and how many facts.",
    params: project.ProjectParams,
    answer: project.ProjectAnswer,
    errors: ["invalid_request", "not_found"],
  },
  projects: {
    method: "GET",
    path: "/projects",
    ...OF_KEY,
    summary: "The projects of the account that are shared.",
    answer: project.ProjectsAnswer,
    errors: [],
  },
  eraseProject: {
    method: "DELETE",
    path: "/projects/:project",
    audited: true,
    ...OF_ACCOUNT,
    summary: "Ends the sharing of a project and erases what was shared, with its history, for all.",
    params: project.ProjectParams,
    answer: project.ErasedProjectAnswer,
    errors: ["invalid_request", "not_found", "overloaded", ...STORED],
  },
} as const satisfies Record<string, Operation>;
