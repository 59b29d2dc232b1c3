/** The facts by group, own groups after the standard ones, and what of them a search finds. */

import { useEffect, useState } from "preact/hooks";
import { groupOf } from "../../base/channel-labels.ts";
import type { StoredFact } from "../../contract/answers.ts";
import { countText, groupName, STANDARD_GROUPS } from "../parts/format.ts";
import { FactRow } from "./fact-row.tsx";
import { usePage } from "./page-context.ts";

interface FactListProps {
  readonly search: string;
  /** The label whose editor is to be opened. */
  readonly wanted: string | undefined;
  readonly onWanted: (label: undefined) => void;
}

export function FactList({ search, wanted, onWanted }: FactListProps) {
  const { state, labels } = usePage();
  /** The facts whose editors are open, as they were when those opened. */
  const [opened, setOpened] = useState<ReadonlyMap<string, StoredFact>>(new Map());
  const facts = state.facts ?? [];
  const byLabel = new Map(facts.map((fact) => [fact.label, fact]));
  const edit = (label: string, fact: StoredFact | undefined) => {
    const next = new Map(opened);
    if (fact === undefined) next.delete(label);
    else next.set(label, fact);
    setOpened(next);
  };
  useEffect(() => {
    const fact = wanted === undefined ? undefined : byLabel.get(wanted);
    if (fact === undefined) return;
    edit(fact.label, fact);
    onWanted(undefined);
  }, [wanted, state.facts]);

  const isFound = ({ label, value, written_by = "" }: StoredFact) =>
    opened.has(label) ||
    `${label} ${value} ${written_by} ${labels.get(label)?.description ?? ""}`
      .toLowerCase()
      .includes(search.trim().toLowerCase());
  const shown = [...byLabel.keys(), ...[...opened.keys()].filter((label) => !byLabel.has(label))].filter(
    (label) => isFound((byLabel.get(label) ?? opened.get(label))!),
  );
  const groups = [...new Set(shown.map(groupOf))].sort(standardFirst);
  return (
    <>
      <p class="hint" role="status">
        {foundText(facts.length, shown.length, search.trim() !== "")}
      </p>
      {groups.map((group) => (
        <section key={group} class="card fact-group" aria-labelledby={`group-${group}`}>
          <h2 id={`group-${group}`}>
            {groupName(group)} {groupName(group) !== group && <small class="mono">{group}</small>}
          </h2>
          <ul class="facts-of-group">
            {shown
              .filter((label) => groupOf(label) === group)
              .map((label) => (
                <FactRow
                  key={label}
                  label={label}
                  fact={byLabel.get(label)}
                  opened={opened.get(label)}
                  onEdit={(fact) => edit(label, fact)}
                />
              ))}
          </ul>
        </section>
      ))}
    </>
  );
}

function foundText(all: number, found: number, isSearch: boolean): string {
  if (all === 0) return "Nothing is remembered here yet.";
  return isSearch ? `${found} of ${countText(all, "fact")}` : countText(all, "fact");
}

function standardFirst(a: string, b: string): number {
  const rank = (group: string) => STANDARD_GROUPS.indexOf(group) + 1 || STANDARD_GROUPS.length + 1;
  return rank(a) - rank(b) || a.localeCompare(b);
}
