/** What a part of a page tries to do, with what became of it. */

import { useState } from "preact/hooks";

/** Runs one attempt at a time: whether one is running, and the error of the last one. */
export function useAttempt(): {
  busy: boolean;
  error: unknown;
  attempt: (work: () => Promise<void>) => Promise<void>;
} {
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>();
  const attempt = async (work: () => Promise<void>) => {
    setBusy(true);
    setError(undefined);
    try {
      await work();
    } catch (failure) {
      setError(failure);
    } finally {
      setBusy(false);
    }
  };
  return { busy, error, attempt };
}
