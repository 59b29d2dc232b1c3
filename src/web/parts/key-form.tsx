/**
 * The form for a key. The key is only in the page's memory: in no cookie, no storage and no address, and its field is
 * gone once it is taken.
 */

import { useEffect, useState } from "preact/hooks";
import { Button, TextField } from "./fields.tsx";
import { useAction } from "./hooks.ts";
import { ErrorNotice } from "./layout.tsx";

interface KeyFormProps {
  readonly button: string;
  /** Takes the key, or throws what is to be shown. */
  readonly onKey: (key: string) => Promise<void>;
}

export function KeyForm({ button, onKey }: KeyFormProps) {
  const [key, setKey] = useState("");
  const { busy, error, run } = useAction();
  // A page restored from the browser's cache would still show what the key opened: reload it.
  useEffect(() => {
    const reload = (event: PageTransitionEvent) => event.persisted && location.reload();
    addEventListener("pageshow", reload);
    return () => removeEventListener("pageshow", reload);
  }, []);

  const take = (event: SubmitEvent) => {
    event.preventDefault();
    run(() => onKey(key.trim()));
  };
  return (
    <form class="stack narrow" onSubmit={take}>
      <TextField
        label="Your key"
        type="password"
        required
        autocomplete="off"
        spellcheck={false}
        placeholder="sb_live_…"
        value={key}
        onValue={setKey}
      />
      <ErrorNotice error={error} />
      <Button type="submit" class="primary" disabled={busy} text={button} />
      <p class="hint">
        No key yet? <a href="/keys">Ask for one</a>.
      </p>
    </form>
  );
}
