/**
 * What changed since a moment, the newest first; and everything can be put back to that moment, after a look at what that
 * would change. It is about the whole person, in whichever project one looks: an agent there writes to the person, too.
 */

import { useEffect, useState } from "preact/hooks";
import type { ListedFactChange, Memory, MemoryApi } from "../api/memory.ts";
import { useReading } from "../parts/newest.ts";
import { ErrorNotice } from "../parts/notice.tsx";
import { Waiting } from "../parts/waiting.tsx";
import { useDesk } from "./desk.ts";
import { Difference } from "./difference.tsx";
import { Rollback } from "./rollback.tsx";
import { TimeText } from "./time-text.tsx";
import { fieldTime, momentOfField, startOfYesterday } from "./times.ts";

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
const LIMIT_MAX = 200;

interface Listed {
  readonly changes: readonly ListedFactChange[];
  readonly next: string | null;
}

export function Changes() {
  const { api, memory, state, canWrite } = useDesk();
  const [span, setSpan] = useState("yesterday");
  const [field, setField] = useState(() => fieldTime(startOfYesterday(Date.now())));
  const [{ since, count }, ask] = useState(() => ({ since: sinceOf("yesterday"), count: PAGE }));
  const setSince = (moment: string) => ask({ since: moment, count: PAGE });
  const [listed, setListed] = useState<Listed>();
  /** Whether the list makes room for what going back would change. */
  const [isPlanning, setIsPlanning] = useState(false);
  const { error, read } = useReading();

  const choose = (chosen: string) => {
    setSpan(chosen);
    if (chosen !== MOMENT) setSince(sinceOf(chosen));
    else setField(fieldTime(Date.parse(since)));
  };
  const chooseMoment = (text: string) => {
    setField(text);
    const moment = momentOfField(text);
    if (moment !== undefined) setSince(moment);
  };
  /** One millisecond before a change, so that it counts among those since then. */
  const undoFrom = ({ at }: ListedFactChange) => {
    const ms = Date.parse(at) - 1;
    setSpan(MOMENT);
    setField(fieldTime(ms));
    setSince(new Date(ms).toISOString());
    setIsPlanning(true);
  };
  // All that is shown is read again when something changes: it may have been forgotten.
  useEffect(() => {
    read(() => newestOf(api, memory, since, count), setListed);
  }, [memory, since, count, state.version]);

  return (
    <section class="card" aria-labelledby="changes-title">
      <div class="card-head">
        <h2 id="changes-title">What changed</h2>
        <label class="inline">
          <span class="visually-hidden">Since when</span>
          <select value={span} onChange={({ currentTarget }) => choose(currentTarget.value)}>
            {Object.entries(SPANS).map(([key, { name }]) => (
              <option key={key} value={key}>
                {name}
              </option>
            ))}
            <option value={MOMENT}>since a moment</option>
          </select>
        </label>
      </div>
      {span === MOMENT && (
        <label class="field moment">
          <span>Since, your zone</span>
          <input
            type="datetime-local"
            value={field}
            onInput={({ currentTarget }) => chooseMoment(currentTarget.value)}
          />
        </label>
      )}
      <ErrorNotice error={error} />
      {isPlanning && <Rollback key={since} to={since} onClose={() => setIsPlanning(false)} />}
      {!isPlanning && listed === undefined && error === undefined && <Waiting what="Loading" />}
      {!isPlanning && listed?.changes.length === 0 && <p class="hint">Nothing has changed.</p>}
      {!isPlanning && listed !== undefined && listed.changes.length > 0 && (
        <>
          <ol class="timeline changes" aria-label="Changes, the newest first">
            {listed.changes.map((change) => (
              <ChangeRow
                key={`${change.revision} ${change.kind}`}
                change={change}
                onUndo={canWrite ? () => undoFrom(change) : undefined}
              />
            ))}
          </ol>
          <p class="buttons">
            {listed.next !== null && (
              <button type="button" onClick={() => ask({ since, count: count + PAGE })}>
                Show earlier changes
              </button>
            )}
            {canWrite && (
              <button type="button" onClick={() => setIsPlanning(true)}>
                Undo everything since then …
              </button>
            )}
          </p>
        </>
      )}
    </section>
  );
}

async function newestOf(api: MemoryApi, memory: Memory, since: string, count: number): Promise<Listed> {
  const changes: ListedFactChange[] = [];
  let next: string | null = null;
  do {
    const limit = Math.min(LIMIT_MAX, count - changes.length);
    const page = await api.changes(memory, { since, limit, ...(next === null ? {} : { cursor: next }) });
    changes.push(...page.changes);
    next = page.next_cursor;
  } while (next !== null && changes.length < count);
  return { changes, next };
}

interface ChangeRowProps {
  readonly change: ListedFactChange;
  /** Puts everything back to the moment before it; undefined where nothing can be. */
  readonly onUndo: (() => void) | undefined;
}

function ChangeRow({ change, onUndo }: ChangeRowProps) {
  const { label, project, kind, value, was, at, written_by: by } = change;
  const { memory } = useDesk();
  return (
    <li>
      <p class="timeline-value">
        <b class="mono">{label}</b>{" "}
        {kind !== "written" ? (
          <Difference before={value} after={null} />
        ) : was === undefined ? (
          value
        ) : (
          <Difference before={was} after={value} />
        )}
      </p>
      <p class="fact-meta">
        <TimeText at={at} />
        {kind === "written" && by !== undefined && <span>by {by}</span>}
        {kind !== "written" && <span class="tag">{kind === "expired" ? "ended" : "forgotten"}</span>}
        {project !== undefined && project !== memory.project && <span>in {project}</span>}
        {onUndo !== undefined && (
          <button
            type="button"
            class="small link"
            aria-label={`Undo from here: this change of ${label} and all later ones`}
            onClick={onUndo}
          >
            Undo from here
          </button>
        )}
      </p>
    </li>
  );
}

function sinceOf(span: string): string {
  return new Date(SPANS[span].startMs(Date.now())).toISOString();
}
