/** The shared projects of an account: who shares each, what its members may do, how much is in it, and since when. */

import type { ProjectAnswer } from "../../contract/answers.ts";
import { DataTable } from "./data-table.tsx";
import { Button } from "./fields.tsx";
import { countText, minuteText } from "./format.ts";

interface ProjectsTableProps {
  readonly account: string;
  readonly projects: readonly ProjectAnswer[];
  /** Opens what can be changed of a project; undefined where nothing can be. */
  readonly onChange?: ((project: ProjectAnswer) => void) | undefined;
}

/** Of a project: a list of hundreds of members would hide all other projects. */
const MEMBERS_MAX = 12;

export function ProjectsTable({ account, projects, onChange }: ProjectsTableProps) {
  return (
    <DataTable
      caption={`${countText(projects.length, "shared project")} of ${account}, times in UTC`}
      label={`Shared projects of ${account}`}
      rows={projects}
      keyOf={({ project }) => project}
      columns={[
        { name: "Project", class: "text", cell: ({ project }) => project },
        { name: "Shared with", class: "text", cell: ({ members }) => membersText(members) },
        { name: "Members", cell: ({ access }) => (access === "read" ? "only read" : "read and write") },
        { name: "Facts", class: "number", cell: ({ facts }) => facts },
        { name: "Changed", class: "whole", cell: ({ updated_at }) => minuteText(updated_at) },
        ...(onChange === undefined
          ? []
          : [
              {
                name: "Change",
                cell: (project: ProjectAnswer) => (
                  <Button
                    class="small"
                    aria-label={`Change ${project.project}`}
                    onClick={() => onChange(project)}
                    text="Change …"
                  />
                ),
              },
            ]),
      ]}
    />
  );
}

/** @param members undefined: the key may not know them */
function membersText(members: readonly string[] | null | undefined): string {
  if (members === undefined) return "its members";
  if (members === null) return "all of the account";
  const more = members.length - MEMBERS_MAX;
  if (members.length === 0) return "nobody";
  return members.slice(0, MEMBERS_MAX).join(", ") + (more > 0 ? `, and ${more} more` : "");
}
