/**
 * The account page for the holder of a key: tier, limit, usage by day, and, of what the key may see, the account's
 * users and labels. The key is in this page's memory alone: in no cookie, no storage, no address and no field.
 */

import { useState } from "preact/hooks";
import type { UsageAnswer } from "../../contract/answers.ts";
import { LabelsCard } from "../account/labels-card.tsx";
import { fetchUsage, fetchUsageByDay, type UsageByDay } from "../api/account.ts";
import { MemoryApi } from "../api/memory.ts";
import { KeyForm } from "../parts/key-form.tsx";
import { mountPage } from "../parts/mount.ts";
import { QuotaMeter } from "../parts/quota-meter.tsx";
import { UsageChart } from "../parts/usage-chart.tsx";
import { UsersTable } from "../parts/users-table.tsx";

interface Holder {
  readonly api: MemoryApi;
  readonly usage: UsageAnswer;
  readonly byDay: UsageByDay;
}

function Account() {
  const [holder, setHolder] = useState<Holder>();
  const open = async (key: string) => {
    const [usage, byDay] = await Promise.all([fetchUsage(key), fetchUsageByDay(key)]);
    setHolder({ api: new MemoryApi({ key }), usage, byDay });
  };
  if (holder === undefined) return <KeyForm button="Show usage" onKey={open} />;
  const { api, usage, byDay } = holder;
  const isWhole = usage.user === undefined;
  return (
    <>
      <section class="card" aria-labelledby="use-title">
        <div class="card-head">
          <h2 id="use-title">
            {usage.account} <span class="tag">{usage.tier}</span>
            {usage.access === "read" && <span class="tag">reads only</span>}
          </h2>
          <button type="button" onClick={() => setHolder(undefined)}>
            Forget the key
          </button>
        </div>
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
        <UsageChart from={byDay.from} to={byDay.to} days={byDay.days} label="Facts written by day" />
        <p>
          What is remembered with this key: <a href="/memory">Memory</a>.
        </p>
      </section>
      {isWhole && (
        <section class="card" aria-labelledby="users-title">
          <h2 id="users-title">Users</h2>
          <UsersTable account={usage.account} ask={(prefix, cursor) => api.users(prefix, cursor)} linked />
        </section>
      )}
      <LabelsCard api={api} canHide={isWhole && usage.access !== "read"} />
    </>
  );
}

mountPage(<Account />);
