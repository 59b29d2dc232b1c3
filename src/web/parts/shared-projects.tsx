/** What teams share, on the account page: the list, and a form that shares a project, or changes one that is shared. */

import { useEffect, useState } from "preact/hooks";
import type { ProjectAnswer } from "../../contract/answers.ts";
import type { PageClient } from "../api/memory.ts";
import { Button } from "./fields.tsx";
import { useQuery } from "./hooks.ts";
import { Card, ErrorNotice, Loading } from "./layout.tsx";
import { ProjectsTable } from "./projects-table.tsx";
import { ShareForm } from "./share-form.tsx";

interface SharedProjectsProps {
  readonly api: PageClient;
  readonly account: string;
  /** With a key that is bound to no user, and writes. */
  readonly mayChange: boolean;
}

/** Each is asked for by itself. */
const SHOWN_MAX = 50;

export function SharedProjects({ api, account, mayChange }: SharedProjectsProps) {
  const [names, setNames] = useState<readonly string[]>();
  const [projects, setProjects] = useState<readonly ProjectAnswer[]>([]);
  const [count, setCount] = useState(SHOWN_MAX);
  /** The one whose form is open; null: that of a new one. */
  const [open, setOpen] = useState<ProjectAnswer | null>();
  const [done, setDone] = useState("");
  const { busy, error, query } = useQuery();
  const read = () =>
    query(
      () => readProjects(api, count),
      (known) => {
        setNames(known.names);
        setProjects(known.projects);
      },
    );
  useEffect(() => {
    read();
  }, [api, count]);
  const onDone = (text: string) => {
    setDone(text);
    setOpen(undefined);
    read();
  };
  return (
    <Card id="projects" title="Shared projects">
      <p class="hint">
        What a team knows together: facts of a shared project belong to the project, not to a person. Nothing
        becomes shared by itself. <a href="/docs/team">A team</a> has the whole story.
      </p>
      <ErrorNotice error={error} />
      {names === undefined && error === undefined && <Loading />}
      {names?.length === 0 && <p>No project is shared.</p>}
      {projects.length > 0 && (
        <ProjectsTable account={account} projects={projects} onChange={mayChange ? setOpen : undefined} />
      )}
      {names !== undefined && names.length > projects.length && (
        <p class="buttons">
          <Button
            class="small"
            disabled={busy}
            onClick={() => setCount(count + SHOWN_MAX)}
            text={`Show more of ${names.length}`}
          />
        </p>
      )}
      <p role="status">{done}</p>
      {open !== undefined ? (
        <ShareForm
          key={open?.project}
          api={api}
          known={open ?? undefined}
          onDone={onDone}
          onCancel={() => setOpen(undefined)}
        />
      ) : (
        mayChange && <Button onClick={() => setOpen(null)} text="Share a project …" />
      )}
    </Card>
  );
}

async function readProjects(
  api: PageClient,
  count: number,
): Promise<{ names: string[]; projects: ProjectAnswer[] }> {
  const names = (await api.projects()).projects.map(({ project }) => project);
  const read = names.slice(0, count).map((name) =>
    // It may have been erased meanwhile.
    api.project(name).catch(() => undefined),
  );
  const projects = (await Promise.all(read)).filter((project) => project !== undefined);
  return { names, projects };
}
