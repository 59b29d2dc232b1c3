/**
 * What a team knows together, as the page tells it: whether the project in which one looks is shared, who wrote a fact of
 * it, and whose a fact is.
 */

import { useEffect, useState } from "preact/hooks";
import type { PlaceKind, PreviousFact } from "../../contract/answers.ts";
import { type Memory, outerProject, type PageClient } from "../api/memory.ts";
import { authorName, countText } from "../parts/format.ts";
import { useQuery } from "../parts/hooks.ts";
import { type Sharing, usePage } from "./page-context.ts";
import { RelativeTime } from "./times.tsx";

const NOTHING: Sharing = { names: [], here: undefined };

/** @param version read again whenever it changes: somebody may have been added, or removed */
export function useSharing(api: PageClient, memory: Memory, version: number): Sharing {
  const [sharing, setSharing] = useState(NOTHING);
  const { query } = useQuery();
  useEffect(() => {
    // What cannot be read now is read with the next change.
    query(() => readSharing(api, memory), setSharing);
  }, [api, memory, version]);
  return sharing;
}

async function readSharing(
  api: Pick<PageClient, "projects" | "project">,
  { userId, project }: Memory,
): Promise<Sharing> {
  const names = (await api.projects()).projects.map(({ project: name }) => name);
  const outer = project === undefined ? undefined : outerProject(project);
  if (outer === undefined || !names.includes(outer)) return { names, here: undefined };
  const here = await api.project(outer);
  // A key of the whole account sees the projects that this person does not share, too.
  return { names, here: here.members?.includes(userId) === false ? undefined : here };
}

/** Below the bar: with whom the project is shared, and what the person may do with it. */
export function SharingNote() {
  const { sharing, me } = usePage();
  if (sharing.here === undefined) return null;
  const { project, members, access, facts } = sharing.here;
  const team =
    members === undefined
      ? "your team"
      : members === null
        ? "all of the account"
        : countText(members.length, "member");
  return (
    <p class="hint sharing" role="note">
      <b>{project}</b> is shared with {team}: {countText(facts, "fact")}.{" "}
      {access === "write"
        ? "What is kept for the team, all of them read and write."
        : "Its members only read what is shared."}{" "}
      What is kept only for {me} no other member sees.
    </p>
  );
}

/** "by codex"; of what a team shares "by grace (codex)". */
export function Author({ by, user }: { readonly by: string | undefined; readonly user: string | undefined }) {
  const name = authorName(by, user);
  return name === undefined ? null : <span>by {name}</span>;
}

/** Whose a fact is; nothing outside of projects. */
export function PlaceTag({ place }: { readonly place: PlaceKind | undefined }) {
  const { me } = usePage();
  if (place === undefined) return null;
  if (place === "shared") return <span class="tag team">team</span>;
  return <span class="tag">{place === "own" ? `only ${me}` : place}</span>;
}

/** The team's fact that one's own stands before. */
export function HiddenFact({ fact }: { readonly fact: PreviousFact }) {
  const { value, written_by: by, user_id: user, updated_at: at } = fact;
  return (
    <p class="hidden-fact">
      <span class="tag team">team</span> <span class="value">{value}</span>{" "}
      <small>
        <Author by={by} user={user} /> <RelativeTime at={at} />, hidden by this
      </small>
    </p>
  );
}
