/**
 * The account page for the holder of a key: tier, limit, usage by day, the facts of a chosen user. The key is only in
 * this page's memory: in no cookie, no storage and no address, and its input field is removed.
 */

import { render } from "preact";
import { useEffect, useState } from "preact/hooks";
import { fetchUsage, fetchUsageByDay, type UsageByDay, type UsageView } from "../api/account.ts";
import { ErrorNotice } from "../parts/notice.tsx";
import { QuotaMeter } from "../parts/quota-meter.tsx";
import { UsageChart } from "../parts/usage-chart.tsx";
import { UserFacts } from "../parts/user-facts.tsx";

interface Holder {
  readonly key: string;
  readonly usage: UsageView;
  readonly byDay: UsageByDay;
}

function Account() {
  const [holder, setHolder] = useState<Holder>();
  if (holder === undefined) return <KeyForm onHolder={setHolder} />;
  const { key, usage, byDay } = holder;
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
      </section>
      <UserFacts apiKey={key} boundUser={usage.user} canForget={usage.access !== "read"} />
    </>
  );
}

function KeyForm({ onHolder }: { readonly onHolder: (holder: Holder) => void }) {
  const [key, setKey] = useState("");
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>();
  // A page restored from the browser's cache would still show the facts: reload it.
  useEffect(() => {
    const reload = (event: PageTransitionEvent) => event.persisted && location.reload();
    addEventListener("pageshow", reload);
    return () => removeEventListener("pageshow", reload);
  }, []);

  const open = async (event: SubmitEvent) => {
    event.preventDefault();
    setBusy(true);
    setError(undefined);
    try {
      const trimmed = key.trim();
      const [usage, byDay] = await Promise.all([fetchUsage(trimmed), fetchUsageByDay(trimmed)]);
      onHolder({ key: trimmed, usage, byDay });
    } catch (failure) {
      setError(failure);
      setBusy(false);
    }
  };
  return (
    <form class="stack narrow" onSubmit={open}>
      <label class="field">
        <span>Your key</span>
        <input
          type="password"
          required
          autocomplete="off"
          spellcheck={false}
          placeholder="sb_live_…"
          value={key}
          onInput={({ currentTarget }) => setKey(currentTarget.value)}
        />
      </label>
      <ErrorNotice error={error} />
      <button type="submit" class="primary" disabled={busy}>
        Show usage
      </button>
      <p class="hint">
        No key yet? <a href="/keys">Ask for one</a>.
      </p>
    </form>
  );
}

render(<Account />, document.getElementById("app")!);
