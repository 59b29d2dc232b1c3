/**
 * The form for a key. The key is only in the page's memory: in no cookie, no storage and no address, and its field is
 * gone once it is taken.
 */

import { useEffect, useState } from "preact/hooks";
import { ErrorNotice } from "./notice.tsx";

interface KeyFormProps {
  readonly button: string;
  /** Takes the key, or throws what is to be shown. */
  readonly onKey: (key: string) => Promise<void>;
}

export function KeyForm({ button, onKey }: KeyFormProps) {
  const [key, setKey] = useState("");
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>();
  // A page restored from the browser's cache would still show what the key opened: reload it.
  useEffect(() => {
    const reload = (event: PageTransitionEvent) => event.persisted && location.reload();
    addEventListener("pageshow", reload);
    return () => removeEventListener("pageshow", reload);
  }, []);

  const take = async (event: SubmitEvent) => {
    event.preventDefault();
    setBusy(true);
    setError(undefined);
    try {
      await onKey(key.trim());
    } catch (failure) {
      setError(failure);
      setBusy(false);
    }
  };
  return (
    <form class="stack narrow" onSubmit={take}>
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
        {button}
      </button>
      <p class="hint">
        No key yet? <a href="/keys">Ask for one</a>.
      </p>
    </form>
  );
}
