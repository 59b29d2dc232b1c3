/**
 * What changed since a moment, the newest first; and everything can be put back to that moment, after a look at what that
 * would change. It is about the whole person, in whichever project one looks: an agent there writes to the person, too.
 */

import { useEffect, useState } from "preact/hooks";
import { useArrowKeys } from "../parts/arrow-keys.ts";
import { Button, SelectField, TextField } from "../parts/fields.tsx";
import { useQuery } from "../parts/hooks.ts";
import { Card, ErrorNotice, Loading } from "../parts/layout.tsx";
import { Diff } from "./diff.tsx";
import { type ListedChange, type NewestChanges, newestChanges } from "./newest-changes.ts";
import { mayChange, usePage } from "./page-context.ts";
import { Rollback } from "./rollback.tsx";
import { Author, PlaceTag } from "./sharing.tsx";
import { fromDateTimeLocal, RelativeTime, startOfYesterday, toDateTimeLocal } from "./times.tsx";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

const SPANS: Readonly<Record<string, { name: string; startMs: (nowMs: number) => number }>> = {
  hour: { name: "in the last hour", startMs: (nowMs) => nowMs - HOUR_MS },
  yesterday: { name: "since yesterday", startMs: startOfYesterday },
  week: { name: "in the last 7 days", startMs: (nowMs) => nowMs - 7 * DAY_MS },
  month: { name: "in the last 30 days", startMs: (nowMs) => nowMs - 30 * DAY_MS },
};
const MOMENT = "moment";
/** As many more each time: the list stands beside the facts. */
const PAGE = 12;

/** Whose facts go back: the person's alone, or what the team shares and nothing else. */
type Whose = "person" | "team";

export function Changes() {
  const page = usePage();
  const { api, memory, state, canWrite, sharing, me } = page;
  const team = sharing.here?.project;
  const mayUndoTeam = team !== undefined && mayChange(page, "shared");
  const [span, setSpan] = useState("yesterday");
  const [field, setField] = useState(() => toDateTimeLocal(startOfYesterday(Date.now())));
  const [{ since, count }, ask] = useState(() => ({ since: sinceOf("yesterday"), count: PAGE }));
  const setSince = (moment: string) => ask({ since: moment, count: PAGE });
  const [listed, setListed] = useState<NewestChanges>();
  /** The list makes room for what going back would change. */
  const [planned, plan] = useState<Whose>();
  const { error, query } = useQuery();
  const list = useArrowKeys();

  const choose = (chosen: string) => {
    setSpan(chosen);
    if (chosen !== MOMENT) setSince(sinceOf(chosen));
    else setField(toDateTimeLocal(Date.parse(since)));
  };
  const chooseMoment = (text: string) => {
    setField(text);
    const moment = fromDateTimeLocal(text);
    if (moment !== undefined) setSince(moment);
  };
  /** One millisecond before a change, so that it counts among those since then. */
  const undoFrom = ({ at, place }: ListedChange) => {
    const ms = Date.parse(at) - 1;
    setSpan(MOMENT);
    setField(toDateTimeLocal(ms));
    setSince(new Date(ms).toISOString());
    plan(place === "shared" ? "team" : "person");
  };
  // All that is shown is read again when something changes: it may have been forgotten.
  useEffect(() => {
    query(() => newestChanges(api, memory.userId, team, { since, count }), setListed);
  }, [memory, team, since, count, state.version]);

  const choice = (
    <SelectField class="inline" label="Since when" hidesLabel value={span} onValue={choose}>
      {Object.entries(SPANS).map(([key, { name }]) => (
        <option key={key} value={key}>
          {name}
        </option>
      ))}
      <option value={MOMENT}>since a moment</option>
    </SelectField>
  );
  return (
    <Card id="changes" title="What changed" head={choice}>
      {span === MOMENT && (
        <TextField
          class="field moment"
          label="Since, your zone"
          type="datetime-local"
          value={field}
          onValue={chooseMoment}
        />
      )}
      <ErrorNotice error={error} />
      {planned !== undefined && (
        <Rollback
          key={`${since} ${planned}`}
          to={since}
          team={planned === "team" ? team : undefined}
          onClose={() => plan(undefined)}
        />
      )}
      {planned === undefined && listed === undefined && error === undefined && <Loading />}
      {planned === undefined && listed?.changes.length === 0 && <p class="hint">Nothing has changed.</p>}
      {planned === undefined && listed !== undefined && listed.changes.length > 0 && (
        <>
          <ol ref={list} class="timeline changes" aria-label="Changes, the newest first">
            {listed.changes.map((change) => (
              <ChangeRow
                key={`${change.revision} ${change.kind} ${change.place}`}
                change={change}
                onUndo={mayChange(page, change.place) ? () => undoFrom(change) : undefined}
              />
            ))}
          </ol>
          <p class="buttons">
            {listed.isMore && (
              <Button onClick={() => ask({ since, count: count + PAGE })} text="Show earlier changes" />
            )}
            {canWrite && (
              <Button
                onClick={() => plan("person")}
                text={
                  team === undefined
                    ? "Undo everything since then …"
                    : `Undo ${me === "me" ? "mine" : `${me}'s`} since then …`
                }
              />
            )}
            {mayUndoTeam && <Button onClick={() => plan("team")} text="Undo the team's since then …" />}
          </p>
        </>
      )}
    </Card>
  );
}

interface ChangeRowProps {
  readonly change: ListedChange;
  /** Puts everything back to the moment before it; undefined where nothing can be. */
  readonly onUndo: (() => void) | undefined;
}

function ChangeRow({ change, onUndo }: ChangeRowProps) {
  const { label, project, place, kind, value, was, at, renamed_from: from } = change;
  const { memory } = usePage();
  const isThere = kind === "written" || kind === "renamed";
  return (
    <li data-row>
      <p class="timeline-value">
        <b class="mono">{label}</b>{" "}
        {!isThere ? (
          <Diff before={value} after={null} />
        ) : was === undefined ? (
          value
        ) : (
          <Diff before={was} after={value} />
        )}
      </p>
      <p class="fact-meta">
        <RelativeTime at={at} />
        {kind === "written" && <Author by={change.written_by} user={change.user_id} />}
        {!isThere && <span class="tag">{kind === "expired" ? "ended" : "forgotten"}</span>}
        {from !== undefined && <span class="tag">renamed from {from}</span>}
        {place === "shared" ? (
          <PlaceTag place={place} />
        ) : (
          project !== undefined && project !== memory.project && <span>in {project}</span>
        )}
        {onUndo !== undefined && (
          <Button
            class="small link"
            aria-label={`Undo from here: this change of ${label} and all later ones`}
            onClick={onUndo}
            text="Undo from here"
          />
        )}
      </p>
    </li>
  );
}

function sinceOf(span: string): string {
  return new Date(SPANS[span].startMs(Date.now())).toISOString();
}
