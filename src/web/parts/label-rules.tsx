/** What labels an account may have: whether its persons make their own, and the sets that can be added. */

import { useEffect, useState } from "preact/hooks";
import type { LabelSet, LabelSetsAnswer } from "../../contract/answers.ts";
import { send } from "../api/request.ts";
import { Button, SelectField } from "./fields.tsx";
import { countText } from "./format.ts";
import { useAction, useQuery } from "./hooks.ts";
import { ErrorNotice } from "./layout.tsx";

/** One of them is changed at a time. */
export type RulesChange = { readonly strict: boolean } | { readonly set: LabelSet["set"] };

interface LabelRulesProps {
  /** That the account has, beside the standard ones. */
  readonly own: readonly { readonly label: string }[];
  readonly strict: boolean;
  readonly onChange: (change: RulesChange) => Promise<void>;
}

export function LabelRules({ own, strict, onChange }: LabelRulesProps) {
  const [sets, setSets] = useState<readonly LabelSet[]>([]);
  const [chosen, setChosen] = useState<string>();
  const { error, query } = useQuery();
  const { busy, error: refusal, run } = useAction();
  useEffect(() => {
    query(
      () => send<LabelSetsAnswer>({ method: "GET", path: "/channels/sets" }),
      ({ data }) => setSets(data.sets),
    );
  }, []);
  const set = sets.find(({ set: name }) => name === chosen) ?? sets[0];
  const known = new Set(own.map(({ label }) => label));
  const missing = set?.labels.filter(({ label }) => !known.has(label)) ?? [];
  const change = (wanted: RulesChange) => run(() => onChange(wanted));
  return (
    <>
      <p>
        {strict
          ? "Strict: only the labels of the account can be written. "
          : "Persons may make labels of their own by writing them. "}
        <Button
          class="small"
          disabled={busy}
          onClick={() => change({ strict: !strict })}
          text={strict ? "Allow any label" : "Make strict"}
        />
      </p>
      <ErrorNotice error={error} />
      <ErrorNotice error={refusal} />
      {set !== undefined && (
        <>
          <div class="composer">
            <SelectField
              label="Set of labels"
              value={set.set}
              onValue={setChosen}
              options={sets.map(({ set: name }) => name)}
            />
            <Button
              disabled={busy || missing.length === 0}
              onClick={() => change({ set: set.set })}
              text="Add the set"
            />
          </div>
          <p class="hint">
            {missing.length === 0
              ? "The account has all labels of this set."
              : `Adds ${countText(missing.length, "label")}: ${missing.map(({ label }) => label).join(", ")}.`}
          </p>
        </>
      )}
    </>
  );
}
