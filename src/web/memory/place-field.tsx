/** Where the person works: no project, one of the projects with facts, or a worktree of one. */

import { useEffect, useState } from "preact/hooks";
import { useReading } from "../parts/newest.ts";
import { useDesk } from "./desk.ts";

interface PlaceFieldProps {
  readonly onProject: (project: string | undefined) => void;
}

export function PlaceField({ onProject }: PlaceFieldProps) {
  const { api, memory, state } = useDesk();
  const { userId, project } = memory;
  const { read } = useReading();
  const [projects, setProjects] = useState<readonly string[]>([]);
  useEffect(() => {
    // What cannot be read now is read with the next change.
    read(
      () => api.users(userId),
      ({ users }) => setProjects(users.find(({ user_id }) => user_id === userId)?.projects ?? []),
    );
  }, [api, userId, state.version]);
  // A worktree's project is a place, too, whether it has facts or not.
  const outer = (name: string) => name.split("/")[0];
  const all = [...projects, ...(project === undefined ? [] : [project])];
  const offered = [...new Set(all.flatMap((name) => [outer(name), name]))].sort();
  if (offered.length === 0) return null;
  return (
    <label class="inline">
      <span>Where</span>
      <select
        value={project ?? ""}
        onChange={({ currentTarget }) =>
          onProject(currentTarget.value === "" ? undefined : currentTarget.value)
        }
      >
        <option value="">No project</option>
        {offered.map((name) => (
          <option key={name}>{name}</option>
        ))}
      </select>
    </label>
  );
}
