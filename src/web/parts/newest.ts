/**
 * Questions of a page whose answers may overtake each other: only the answer to the newest one is taken. What asks again
 * and again (a list that is filtered, a state that is refreshed) goes through here.
 */

import { useEffect, useRef, useState } from "preact/hooks";

export class Newest {
  #begun = 0;

  /** Begins a question. What it returns says later whether no newer one has been begun. */
  begin(): () => boolean {
    this.#begun += 1;
    const own = this.#begun;
    return () => own === this.#begun;
  }

  /** Answers that are still on their way are not wanted any more. */
  drop(): void {
    this.#begun += 1;
  }
}

export interface PageReading {
  /** Whether the newest question has no answer yet. */
  readonly busy: boolean;
  /** Why the newest question has none. */
  readonly error: unknown;
  readonly read: <T>(ask: () => Promise<T>, take: (answer: T) => void) => Promise<void>;
  readonly drop: () => void;
}

/** Reads for a part of a page; after the part is gone nothing is taken. */
export function useReading(): PageReading {
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>();
  const { current: newest } = useRef(new Newest());
  useEffect(() => () => newest.drop(), [newest]);
  return {
    busy,
    error,
    read: async (ask, take) => {
      const isNewest = newest.begin();
      setBusy(true);
      setError(undefined);
      try {
        const answer = await ask();
        if (isNewest()) take(answer);
      } catch (failure) {
        if (isNewest()) setError(failure);
      } finally {
        if (isNewest()) setBusy(false);
      }
    },
    drop: () => {
      newest.drop();
      setBusy(false);
      setError(undefined);
    },
  };
}
