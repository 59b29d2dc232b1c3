/**
 * The operator's console: sign-in, then everything on one page. The session is a cookie that this script cannot
 * read; whether it holds is known by asking. When it ends, the page goes back to the sign-in and says so.
 */

import { render } from "preact";
import { useCallback, useEffect, useState } from "preact/hooks";
import { fetchOverview, isSignedIn, type Overview, signIn, signOut } from "../api/admin.ts";
import { DeskContext } from "../console/desk.ts";
import { KeysSection } from "../console/keys-section.tsx";
import { RequestsSection } from "../console/requests-section.tsx";
import { StatusSection } from "../console/status-section.tsx";
import { UsageSection } from "../console/usage-section.tsx";
import { ErrorNotice, Notice } from "../parts/notice.tsx";

const LOOK_AGAIN_MS = 30_000;

type Stage = "asking" | "signed-out" | "ended" | "signed-in";

function Console() {
  const [stage, setStage] = useState<Stage>("asking");
  const [overview, setOverview] = useState<Overview>();
  const [error, setError] = useState<unknown>();

  const look = useCallback(async () => {
    try {
      const signedIn = await isSignedIn();
      setOverview(signedIn ? await fetchOverview() : undefined);
      setError(undefined);
      setStage((before) => (signedIn ? "signed-in" : before === "signed-in" ? "ended" : "signed-out"));
    } catch (failure) {
      setError(failure);
    }
  }, []);
  /** Does something and looks again; an ended session shows here first. */
  const act = useCallback(
    async <T,>(work: () => Promise<T>): Promise<T> => {
      try {
        return await work();
      } finally {
        await look();
      }
    },
    [look],
  );
  useEffect(() => {
    look();
  }, [look]);
  const signedIn = stage === "signed-in";
  useEffect(() => {
    if (!signedIn) return undefined;
    const timer = setInterval(() => {
      if (!document.hidden) look();
    }, LOOK_AGAIN_MS);
    return () => clearInterval(timer);
  }, [signedIn, look]);

  if (overview === undefined) {
    if (stage === "asking")
      return error === undefined ? <p class="hint">One moment …</p> : <Unreachable {...{ error, look }} />;
    return (
      <>
        {stage === "ended" && <Notice kind="plain">Your session has ended. Sign in again to go on.</Notice>}
        <SignIn onSignedIn={look} />
      </>
    );
  }
  const leave = async () => {
    await signOut();
    setOverview(undefined);
    setStage("signed-out");
  };
  return (
    <DeskContext.Provider value={act}>
      <nav class="sections" aria-label="Sections">
        <a href="#requests">Requests</a>
        <a href="#keys">Keys</a>
        <a href="#usage">Usage</a>
        <a href="#status">Service</a>
        <button type="button" class="small" onClick={leave}>
          Sign out
        </button>
      </nav>
      <ErrorNotice error={error} />
      <RequestsSection requests={overview.requests} />
      <KeysSection keys={overview.keys} accounts={overview.accounts} />
      <UsageSection usage={overview.usage} keys={overview.keys} />
      <StatusSection status={overview.status} />
    </DeskContext.Provider>
  );
}

function Unreachable({ error, look }: { readonly error: unknown; readonly look: () => Promise<void> }) {
  return (
    <>
      <ErrorNotice error={error} />
      <button type="button" onClick={look}>
        Try again
      </button>
    </>
  );
}

function SignIn({ onSignedIn }: { readonly onSignedIn: () => Promise<void> }) {
  const [token, setToken] = useState("");
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>();
  const submit = async (event: SubmitEvent) => {
    event.preventDefault();
    setBusy(true);
    setError(undefined);
    try {
      await signIn(token.trim());
      await onSignedIn();
    } catch (failure) {
      setError(failure);
      setBusy(false);
    }
  };
  return (
    <form class="stack narrow" onSubmit={submit}>
      <label class="field">
        <span>Admin token</span>
        <input
          type="password"
          required
          autocomplete="current-password"
          value={token}
          onInput={({ currentTarget }) => setToken(currentTarget.value)}
        />
      </label>
      <ErrorNotice error={error} />
      <button type="submit" class="primary" disabled={busy}>
        Sign in
      </button>
      <p class="hint">
        It is what SIDEBAND_ADMIN_TOKEN says, or the file that the first start wrote into the data folder.
      </p>
    </form>
  );
}

render(<Console />, document.getElementById("app")!);
