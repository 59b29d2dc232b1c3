/**
 * The account page for the holder of a key: tier, limit, usage by day, and, of what the key may see, the account's
 * users, shared projects and labels. The key is in this page's memory alone: in no cookie, no storage, no address and no field.
 */

import { useEffect, useState } from "preact/hooks";
import type { UsageAnswer, UsageDaysAnswer } from "../../contract/answers.ts";
import { type AccountLabels, accountLabels, type PageClient, pageClient } from "../api/memory.ts";
import { LabelsTable } from "../parts/data-table.tsx";
import { Button } from "../parts/fields.tsx";
import { useAction, useQuery } from "../parts/hooks.ts";
import { KeyForm } from "../parts/key-form.tsx";
import { LabelRules, type RulesChange } from "../parts/label-rules.tsx";
import { Card, ErrorNotice, Loading, mountPage } from "../parts/layout.tsx";
import { SharedProjects } from "../parts/shared-projects.tsx";
import { QuotaMeter, UsageChart } from "../parts/usage-chart.tsx";
import { UsersTable } from "../parts/users-table.tsx";

interface Holder {
  readonly api: PageClient;
  readonly usage: UsageAnswer;
  readonly byDay: UsageDaysAnswer;
}

function Account() {
  const [holder, setHolder] = useState<Holder>();
  const open = async (key: string) => {
    const api = pageClient({ key });
    const [usage, byDay] = await Promise.all([api.usage(), api.usageByDay()]);
    setHolder({ api, usage, byDay });
  };
  if (holder === undefined) return <KeyForm button="Show usage" onKey={open} />;
  const { api, usage, byDay } = holder;
  const isWhole = usage.user === undefined;
  const mayChange = isWhole && usage.access !== "read";
  const title = (
    <>
      {usage.account} <span class="tag">{usage.tier}</span>
      {usage.access === "read" && <span class="tag">reads only</span>}
    </>
  );
  const forget = <Button onClick={() => setHolder(undefined)} text="Forget the key" />;
  return (
    <>
      <Card id="use" title={title} head={forget}>
        {usage.user !== undefined && (
          <p>
            This key is for the user <b>{usage.user}</b> alone.
          </p>
        )}
        <p>
          Facts written this month:{" "}
          <QuotaMeter used={usage.used} limit={usage.limit} label="Used of this month's limit" />.{" "}
          <small>The count starts again on {usage.resets_at.slice(0, 10)}, UTC.</small>
        </p>
        <UsageChart {...byDay} label="Facts written by day" />
        <p>
          What is remembered with this key: <a href="/memory">Memory</a>.
        </p>
      </Card>
      {isWhole && (
        <Card id="users" title="Users">
          <UsersTable
            account={usage.account}
            ask={(prefix, cursor) => api.users({ prefix: prefix || undefined, cursor })}
            linked
            erase={mayChange ? (userId) => api.forgetUser(userId) : undefined}
          />
        </Card>
      )}
      <SharedProjects api={api} account={usage.account} mayChange={mayChange} />
      <LabelsCard api={api} mayChange={mayChange} />
    </>
  );
}

interface LabelsCardProps {
  readonly api: PageClient;
  readonly mayChange: boolean;
}

/** The labels of the account: its own, and the standard ones, each of which can be hidden where the key may. */
function LabelsCard({ api, mayChange }: LabelsCardProps) {
  const [known, setKnown] = useState<AccountLabels>();
  const { error, query } = useQuery();
  const { error: refusal, run } = useAction();
  useEffect(() => {
    query(() => accountLabels(api), setKnown);
  }, []);
  const hide = (label: string, hidden: boolean) =>
    run(async () => {
      const changed = await api.changeLabel(label, { hidden });
      setKnown(
        (before) =>
          before && { ...before, labels: before.labels.map((old) => (old.label === label ? changed : old)) },
      );
    });
  const change = async (wanted: RulesChange) => {
    await ("set" in wanted ? api.addLabelSet(wanted.set) : api.strictLabels(wanted.strict));
    setKnown(await accountLabels(api));
  };
  const onHidden = mayChange ? hide : undefined;
  const { labels = [], free = 0 } = known ?? {};
  const own = labels.filter((label) => label.own);
  const standard = labels.filter((label) => !label.own);
  const hiddenCount = standard.filter(({ hidden }) => hidden).length;
  return (
    <Card id="labels" title="Labels">
      <ErrorNotice error={error} />
      {known === undefined && error === undefined && <Loading />}
      {known !== undefined && (
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
          {mayChange && <LabelRules own={own} strict={known.strict} onChange={change} />}
          <details class="apart">
            <summary>
              The {standard.length} standard labels{hiddenCount > 0 && `, ${hiddenCount} hidden`}
            </summary>
            <LabelsTable labels={standard} caption="The labels that every account has" onHidden={onHidden} />
          </details>
        </>
      )}
    </Card>
  );
}

mountPage(<Account />);
