/** The labels of the holder's account: its own, and the standard ones, each of which can be hidden where the key may. */

import { useEffect, useState } from "preact/hooks";
import type { KnownLabel, MemoryApi } from "../api/memory.ts";
import { useAttempt } from "../parts/attempt.ts";
import { LabelsTable } from "../parts/labels-table.tsx";
import { useReading } from "../parts/newest.ts";
import { ErrorNotice } from "../parts/notice.tsx";
import { Waiting } from "../parts/waiting.tsx";

interface LabelsCardProps {
  readonly api: MemoryApi;
  readonly canHide: boolean;
}

export function LabelsCard({ api, canHide }: LabelsCardProps) {
  const [labels, setLabels] = useState<readonly KnownLabel[]>();
  const [free, setFree] = useState(0);
  const { error, read } = useReading();
  const { error: refusal, attempt } = useAttempt();
  useEffect(() => {
    read(
      () => api.labels(),
      (answer) => {
        setLabels(answer.labels);
        setFree(answer.free);
      },
    );
  }, []);
  const hide = (label: string, hidden: boolean) =>
    attempt(async () => {
      const changed = await api.hideLabel(label, hidden);
      setLabels((known) => known?.map((old) => (old.label === label ? changed : old)));
    });
  const onHidden = canHide ? hide : undefined;
  const own = labels?.filter((label) => label.own) ?? [];
  const standard = labels?.filter((label) => !label.own) ?? [];
  const hiddenCount = standard.filter(({ hidden }) => hidden).length;
  return (
    <section class="card" aria-labelledby="labels-title">
      <h2 id="labels-title">Labels</h2>
      <ErrorNotice error={error} />
      {labels === undefined && error === undefined && <Waiting what="Loading" />}
      {labels !== undefined && (
        <>
          <p class="hint">A hidden label is not offered to agents. Its facts stay, and can be read.</p>
          <ErrorNotice error={refusal} />
          {own.length === 0 && <p>The account has no labels of its own, and may add {free}.</p>}
          {own.length > 0 && (
            <LabelsTable
              labels={own}
              caption={`Own labels: ${own.length}; ${free} more may be added`}
              onHidden={onHidden}
            />
          )}
          <details class="apart">
            <summary>
              The {standard.length} standard labels{hiddenCount > 0 && `, ${hiddenCount} hidden`}
            </summary>
            <LabelsTable labels={standard} caption="The labels that every account has" onHidden={onHidden} />
          </details>
        </>
      )}
    </section>
  );
}
