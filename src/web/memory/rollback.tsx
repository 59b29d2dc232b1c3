/** Puts all facts back to a moment: first what that would change, then the change, then a way to undo it. */

import { useEffect, useRef, useState } from "preact/hooks";
import type { RollbackAnswer } from "../../contract/answers.ts";
import { Button } from "../parts/fields.tsx";
import { countText } from "../parts/format.ts";
import { useAction, useQuery } from "../parts/hooks.ts";
import { ErrorNotice, Loading, Notice } from "../parts/layout.tsx";
import { Diff } from "./diff.tsx";
import { usePage } from "./page-context.ts";
import { exactTime } from "./times.tsx";
import { undoAction } from "./writes.ts";

interface RollbackProps {
  readonly to: string;
  /** The shared project whose facts alone go back; undefined: all of the person, and nothing of a team. */
  readonly team: string | undefined;
  readonly onClose: () => void;
}

export function Rollback({ to, team, onClose }: RollbackProps) {
  const page = usePage();
  const { api, memory, live, state, showToast } = page;
  const { userId } = memory;
  const where = team === undefined ? {} : ({ project: team, scope: "project" } as const);
  const [plan, setPlan] = useState<RollbackAnswer>();
  const { error: readError, query } = useQuery();
  const { busy, error = readError, run } = useAction();

  const heading = useRef<HTMLHeadingElement>(null);
  // Also when something changes while the person looks. The button stays: a press in that moment would be lost.
  useEffect(() => {
    query(() => api.rollback(userId, to, { ...where, dryRun: true }), setPlan);
  }, [memory, to, state.version]);
  useEffect(() => heading.current?.focus(), []);
  const goBack = () =>
    run(async () => {
      const partial = plan !== undefined && plan.unreached.length > 0;
      const { changes, at } = await live.write("all", () => api.rollback(userId, to, { ...where, partial }));
      const undo = async () => {
        const before = new Date(Date.parse(at!) - 1).toISOString();
        const options = { ...where, partial: true, unchangedSince: at };
        await live.write("all", () => api.rollback(userId, before, options));
      };
      showToast({
        text: `Back to ${exactTime(to)}: ${countText(changes.length, "fact")} changed.`,
        actions: at === undefined ? [] : [undoAction(page, undo, "Going back is undone.")],
      });
      onClose();
    });

  const { changes = [], unreached = [] } = plan ?? {};
  return (
    <div class="rollback">
      <h3 ref={heading} tabIndex={-1}>
        Back to {exactTime(to)}
      </h3>
      <ErrorNotice error={error} />
      {plan === undefined && error === undefined && <Loading />}
      {plan !== undefined && (
        <p class="hint">
          {changes.length === 0
            ? "Everything is as it was then."
            : `This is what changes${team === undefined ? "" : " for the whole team"}, in ${countText(changes.length, "fact")}. Nothing is lost: it can be undone.`}
        </p>
      )}
      <ul class="timeline changes">
        {changes.map(({ label, project, from, to: value }) => (
          <li key={`${label} ${project}`}>
            <p class="timeline-value">
              <b class="mono">{label}</b> <Diff before={from} after={value} />
            </p>
            <p class="fact-meta">
              {from === null && <span class="tag">comes back</span>}
              {value === null && <span class="tag">was not there</span>}
              {project !== undefined && project !== memory.project && <span>in {project}</span>}
            </p>
          </li>
        ))}
      </ul>
      {unreached.length > 0 && (
        <Notice kind="plain">
          The history of {unreached.map(({ label }) => label).join(", ")} does not reach back that far.{" "}
          {unreached.length === 1 ? "It stays as it is." : "They stay as they are."}
        </Notice>
      )}
      <p class="buttons">
        {changes.length > 0 && (
          <Button
            class="primary"
            disabled={busy}
            onClick={goBack}
            text={`Undo what changed in ${countText(changes.length, "fact")}`}
          />
        )}
        <Button onClick={onClose} text="Cancel" />
      </p>
    </div>
  );
}
