/** Puts all facts back to a moment: first what that would change, then the change, then a way to undo it. */

import { useState } from "preact/hooks";
import type { RollbackAnswer } from "../api/memory.ts";
import { ErrorNotice, Notice } from "../parts/notice.tsx";
import { useAttempt, useDesk } from "./desk.ts";
import { Difference } from "./difference.tsx";
import { exactTime } from "./times.ts";

export function Rollback({ to }: { readonly to: string }) {
  const { api, memory, live, say } = useDesk();
  const [plan, setPlan] = useState<RollbackAnswer>();
  const { busy, error, attempt } = useAttempt();

  const look = () => attempt(async () => setPlan(await api.rollback(memory, to, { dryRun: true })));
  const goBack = () =>
    attempt(async () => {
      const partial = plan !== undefined && plan.unreached.length > 0;
      const { changes } = await live.write("all", () => api.rollback(memory, to, { partial }));
      setPlan(undefined);
      // The time of the service, not of this machine: the newest change is the one that was just made.
      const made = (await api.changes(memory, to, undefined, 1)).changes[0];
      const undo = async () => {
        const before = new Date(Date.parse(made.at) - 1).toISOString();
        await live.write("all", () => api.rollback(memory, before, { partial: true }));
        say({ text: "Going back is undone.", actions: [] });
      };
      say({
        text: `${countText(changes.length)} put back to ${exactTime(to)}.`,
        actions: made === undefined ? [] : [{ name: "Undo", run: undo }],
      });
    });

  const { changes = [], unreached = [] } = plan ?? {};
  return (
    <div class="rollback">
      <ErrorNotice error={error} />
      {plan === undefined && (
        <button type="button" disabled={busy} onClick={look}>
          Put everything back to {exactTime(to)} …
        </button>
      )}
      {plan !== undefined && (
        <>
          <h3>Back to {exactTime(to)}</h3>
          {changes.length === 0 && <Notice kind="plain">Everything is as it was then.</Notice>}
          <ul class="timeline">
            {changes.map(({ label, project, from, to: value }) => (
              <li key={`${label} ${project}`}>
                <p class="timeline-value">
                  <b class="mono">{label}</b> <Difference before={from} after={value} />
                </p>
                <p class="fact-meta">
                  {from === null && <span class="tag">comes back</span>}
                  {value === null && <span class="tag">is forgotten</span>}
                  {project !== undefined && project !== memory.project && <span>in {project}</span>}
                </p>
              </li>
            ))}
          </ul>
          {unreached.length > 0 && (
            <Notice kind="plain">
              The history of {unreached.map(({ label }) => label).join(", ")} does not reach back that far.{" "}
              {unreached.length === 1 ? "It stays" : "They stay"} as{" "}
              {unreached.length === 1 ? "it is" : "they are"}.
            </Notice>
          )}
          <p class="buttons">
            {changes.length > 0 && (
              <button type="button" class="primary" disabled={busy} onClick={goBack}>
                Put back {countText(changes.length)}
              </button>
            )}
            <button type="button" onClick={() => setPlan(undefined)}>
              Cancel
            </button>
          </p>
        </>
      )}
    </div>
  );
}

function countText(count: number): string {
  return `${count} ${count === 1 ? "fact" : "facts"}`;
}
