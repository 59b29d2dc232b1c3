/** The usage of each key this month against its limit, and a chart by day for one key or all. */

import { useMemo, useState } from "preact/hooks";
import type { UsageDaysAnswer } from "../../contract/answers.ts";
import type { KeyView, UsageReport } from "../api/admin.ts";
import { DataTable } from "../parts/data-table.tsx";
import { SelectField } from "../parts/fields.tsx";
import { Card } from "../parts/layout.tsx";
import { QuotaMeter, UsageChart } from "../parts/usage-chart.tsx";

interface UsageSectionProps {
  readonly usage: UsageReport;
  readonly keys: readonly KeyView[];
}

const ALL = "all";
const ROWS_MAX = 25;

export function UsageSection({ usage, keys }: UsageSectionProps) {
  const [chosen, setChosen] = useState(ALL);
  const nameOf = useMemo(() => {
    const names = new Map(keys.map(({ id, account, prefix }) => [id, `${account} ${prefix}…`]));
    return (id: string) => names.get(id) ?? id;
  }, [keys]);
  const days = useMemo(() => daysOf(usage, chosen), [usage, chosen]);
  const byUse = usage.keys.toSorted((a, b) => b.used_this_month - a.used_this_month);
  const label = chosen === ALL ? "Facts written with all keys" : `Facts written with ${nameOf(chosen)}`;
  const choice = (
    <SelectField class="inline" label="Key" value={chosen} onValue={setChosen}>
      <option value={ALL}>All keys</option>
      {byUse.map(({ key_id }) => (
        <option key={key_id} value={key_id}>
          {nameOf(key_id)}
        </option>
      ))}
    </SelectField>
  );
  return (
    <Card id="usage" title="Usage" head={choice}>
      <UsageChart from={usage.from} to={usage.to} days={days} label={label} />
      <DataTable
        caption="This month, the most used keys first"
        label="Usage of each key"
        rows={byUse.slice(0, ROWS_MAX)}
        keyOf={({ key_id }) => key_id}
        columns={[
          { name: "Key", class: "text", cell: ({ key_id }) => nameOf(key_id) },
          { name: "Tier", class: "whole", cell: ({ tier }) => tier },
          {
            name: "Facts written, of the limit",
            cell: ({ key_id, limit, used_this_month }) => (
              <QuotaMeter used={used_this_month} limit={limit} label={`Usage of ${nameOf(key_id)}`} />
            ),
          },
        ]}
      />
    </Card>
  );
}

/** The days of one key, or of all keys added up. */
export function daysOf(usage: UsageReport, chosen: string): UsageDaysAnswer["days"] {
  const sums = new Map<string, number>();
  for (const { key_id, days } of usage.keys) {
    if (chosen !== ALL && key_id !== chosen) continue;
    for (const { day, count } of days) sums.set(day, (sums.get(day) ?? 0) + count);
  }
  return [...sums].map(([day, count]) => ({ day, count })).sort((a, b) => a.day.localeCompare(b.day));
}
