/** The values that a fact had, the newest first, each with what it changed; and any of them can be written again. */

import { useEffect, useState } from "preact/hooks";
import type { HistoryAnswer } from "../../contract/answers.ts";
import { Button } from "../parts/fields.tsx";
import { useAction, useQuery } from "../parts/hooks.ts";
import { ErrorNotice, Loading } from "../parts/layout.tsx";
import { Diff } from "./diff.tsx";
import { mayChange, usePage } from "./page-context.ts";
import { Author } from "./sharing.tsx";
import { RelativeTime } from "./times.tsx";
import { undoAction, undoWrite } from "./writes.ts";

export function FactHistory({ label }: { readonly label: string }) {
  const page = usePage();
  const { api, memory, live, state, showToast } = page;
  const { userId, project } = memory;
  const [history, setHistory] = useState<HistoryAnswer>();
  const { error: readError, query } = useQuery();
  const { busy, error = readError, run } = useAction();
  useEffect(() => {
    query(() => api.history(userId, label, { project }), setHistory);
  }, [label, memory, state.version]);

  const restore = (revision: number) =>
    run(async () => {
      const before = state.facts?.find((fact) => fact.label === label);
      const written = await live.write([label], () => api.restore(userId, label, revision, { project }));
      const undo = undoAction(page, () => undoWrite(page, written, before), `${label} is as it was.`);
      showToast({ text: `${label} has its earlier value again.`, actions: [undo] });
    });
  const revisions = history?.revisions ?? [];
  const canWrite = mayChange(page, history?.place);
  return (
    <div class="fact-history">
      <ErrorNotice error={error} />
      {history === undefined && error === undefined && <Loading />}
      {revisions.length === 1 && <p class="hint">It has had no other value.</p>}
      <ol class="timeline" aria-label={`Values of ${label}, the newest first`}>
        {revisions.map(
          ({ revision, value, updated_at, written_by, user_id, ended, renamed_from: from }, i) => (
            <li key={revision}>
              <p class="timeline-value">
                {revisions[i + 1] === undefined ? (
                  value
                ) : (
                  <Diff before={revisions[i + 1].value} after={value} />
                )}
              </p>
              <p class="fact-meta">
                <RelativeTime at={updated_at} />
                <Author by={written_by} user={user_id} />
                {ended === undefined && <span class="tag good">now</span>}
                {(ended === "forgotten" || ended === "expired") && <span class="tag">{ended}</span>}
                {from !== undefined && <span class="tag">as {from}</span>}
                {ended !== undefined && canWrite && (
                  <Button
                    class="small"
                    disabled={busy}
                    aria-label={`Write it again, this value of ${label}: ${value.slice(0, 40)}`}
                    onClick={() => restore(revision)}
                    text="Write it again"
                  />
                )}
              </p>
            </li>
          ),
        )}
      </ol>
    </div>
  );
}
