/** The values that a fact had, the newest first, each with what it changed; and any of them can be written again. */

import { useEffect, useState } from "preact/hooks";
import type { HistoryAnswer } from "../api/memory.ts";
import { useAttempt } from "../parts/attempt.ts";
import { useReading } from "../parts/newest.ts";
import { ErrorNotice } from "../parts/notice.tsx";
import { Waiting } from "../parts/waiting.tsx";
import { putBack, useDesk } from "./desk.ts";
import { Difference } from "./difference.tsx";
import { TimeText } from "./time-text.tsx";

export function FactHistory({ label }: { readonly label: string }) {
  const desk = useDesk();
  const { api, memory, live, state, canWrite, say } = desk;
  const [history, setHistory] = useState<HistoryAnswer>();
  const reading = useReading();
  const { busy, error = reading.error, attempt } = useAttempt();
  useEffect(() => {
    reading.read(() => api.history(memory, label), setHistory);
  }, [label, memory, state.version]);

  const restore = (revision: number) =>
    attempt(async () => {
      const before = state.facts?.find((fact) => fact.label === label);
      const written = await live.write([label], () => api.restore(memory, label, revision));
      const undo = async () => {
        if (before !== undefined) await putBack(desk, before, written.revision);
        say(undefined);
      };
      say({
        text: `${label} has its earlier value again.`,
        actions: before === undefined ? [] : [{ name: "Undo", run: undo }],
      });
    });
  const revisions = history?.revisions ?? [];
  return (
    <div class="fact-history">
      <ErrorNotice error={error} />
      {history === undefined && error === undefined && <Waiting what="Loading" />}
      {revisions.length === 1 && <p class="hint">It has had no other value.</p>}
      <ol class="timeline" aria-label={`Values of ${label}, the newest first`}>
        {revisions.map(({ revision, value, updated_at, written_by, ended }, i) => (
          <li key={revision}>
            <p class="timeline-value">
              {revisions[i + 1] === undefined ? (
                value
              ) : (
                <Difference before={revisions[i + 1].value} after={value} />
              )}
            </p>
            <p class="fact-meta">
              <TimeText at={updated_at} />
              {written_by !== undefined && <span>by {written_by}</span>}
              {ended === undefined && <span class="tag good">now</span>}
              {(ended === "forgotten" || ended === "expired") && <span class="tag">{ended}</span>}
              {ended !== undefined && canWrite && (
                <button
                  type="button"
                  class="small"
                  disabled={busy}
                  aria-label={`Write it again, this value of ${label}: ${value.slice(0, 40)}`}
                  onClick={() => restore(revision)}
                >
                  Write it again
                </button>
              )}
            </p>
          </li>
        ))}
      </ol>
    </div>
  );
}
