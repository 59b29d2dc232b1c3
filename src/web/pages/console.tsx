/**
 * The operator's console: sign-in, then everything on one page. The session is a cookie that this script cannot read,
 * so the page asks the server whether it is valid. When it ends, the page says so and shows the sign-in again.
 */

import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { fetchOverview, isSignedIn, type Overview, signIn, signOut } from "../api/admin.ts";
import { AccountSection } from "../console/account-section.tsx";
import { AuditSection } from "../console/audit-section.tsx";
import { KeysSection } from "../console/keys-section.tsx";
import { OperatorsSection } from "../console/operators-section.tsx";
import { RequestsSection } from "../console/requests-section.tsx";
import { RecentSection, StatusSection } from "../console/status-section.tsx";
import { UsageSection } from "../console/usage-section.tsx";
import { Button, TextField } from "../parts/fields.tsx";
import { ActionContext, LatestRequest, useAction, useInterval } from "../parts/hooks.ts";
import { ErrorNotice, Loading, mountPage, Notice } from "../parts/layout.tsx";

const REFRESH_MS = 30_000;

type Stage = "asking" | "signed-out" | "ended" | "signed-in";

function Console() {
  const [stage, setStage] = useState<Stage>("asking");
  const [overview, setOverview] = useState<Overview>();
  const [error, setError] = useState<unknown>();

  const { current: latest } = useRef(new LatestRequest());
  const refresh = useCallback(async () => {
    const isLatest = latest.start();
    try {
      const signedIn = await isSignedIn();
      const answer = signedIn ? await fetchOverview() : undefined;
      if (!isLatest()) return;
      setOverview(answer);
      setError(undefined);
      setStage((before) => (signedIn ? "signed-in" : before === "signed-in" ? "ended" : "signed-out"));
    } catch (failure) {
      if (isLatest()) setError(failure);
    }
  }, [latest]);
  /** Runs an action and refreshes: an ended session is noticed here first. */
  const runAction = useCallback(
    async <T,>(work: () => Promise<T>): Promise<T> => {
      try {
        return await work();
      } finally {
        await refresh();
      }
    },
    [refresh],
  );
  useEffect(() => {
    refresh();
  }, [refresh]);
  useInterval(() => {
    if (stage === "signed-in") refresh();
  }, REFRESH_MS);

  if (overview === undefined) {
    if (stage === "asking" && error === undefined) return <Loading tall />;
    if (stage === "asking") {
      return (
        <>
          <ErrorNotice error={error} />
          <Button onClick={refresh} text="Try again" />
        </>
      );
    }
    return (
      <>
        {stage === "ended" && <Notice kind="plain">Your session has ended. Please sign in again.</Notice>}
        <SignIn onSignedIn={refresh} />
      </>
    );
  }
  const leave = async () => {
    await signOut();
    // A refresh on its way must not bring the overview back.
    latest.cancel();
    setOverview(undefined);
    setStage("signed-out");
  };
  return (
    <ActionContext.Provider value={runAction}>
      <nav class="sections" aria-label="Sections">
        <a href="#requests">Requests</a>
        <a href="#keys">Keys</a>
        <a href="#accounts">Users and labels</a>
        <a href="#usage">Usage</a>
        <a href="#audit">Audit</a>
        <a href="#recent">Recent requests</a>
        <a href="#operators">Operators</a>
        <a href="#status">Service</a>
        <Button class="small" onClick={leave} text="Sign out" />
      </nav>
      <ErrorNotice error={error} />
      <RequestsSection requests={overview.requests} />
      <KeysSection keys={overview.keys} accounts={overview.accounts} usage={overview.usage} />
      <AccountSection accounts={overview.accounts} />
      <UsageSection usage={overview.usage} keys={overview.keys} />
      <AuditSection accounts={overview.accounts} />
      <RecentSection status={overview.status} keys={overview.keys} />
      <OperatorsSection operators={overview.operators} />
      <StatusSection status={overview.status} />
    </ActionContext.Provider>
  );
}

function SignIn({ onSignedIn }: { readonly onSignedIn: () => Promise<void> }) {
  const [token, setToken] = useState("");
  const { busy, error, run } = useAction();
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    run(async () => {
      await signIn(token.trim());
      await onSignedIn();
    });
  };
  return (
    <form class="stack narrow" onSubmit={submit}>
      <TextField
        label="Admin token, or your own as an operator"
        type="password"
        required
        autocomplete="current-password"
        value={token}
        onValue={setToken}
      />
      <ErrorNotice error={error} />
      <Button type="submit" class="primary" disabled={busy} text="Sign in" />
      <p class="hint">
        The value of SIDEBAND_ADMIN_TOKEN, the content of admin.token in the data folder, or what{" "}
        <code>sideband operators add</code> has shown.
      </p>
    </form>
  );
}

mountPage(<Console />);
