/**
 * Hooks for what takes time: an action of a person (useAction), a question whose newest answer counts (useQuery), one that
 * is asked anew whenever its inputs change (useAsync), and the clock.
 */

import { createContext } from "preact";
import { type Inputs, useContext, useEffect, useRef, useState } from "preact/hooks";

/** Runs each action of a part of a page: the console reads everything again after one. */
export const ActionContext = createContext(<T>(work: () => Promise<T>): Promise<T> => work());

/** Whether an action is running, and the error of the last one. */
export function useAction(): {
  busy: boolean;
  error: unknown;
  /** Resolves with what the work gave; undefined where it failed. */
  run: <T>(work: () => Promise<T>) => Promise<T | undefined>;
  clearError: () => void;
} {
  const runAction = useContext(ActionContext);
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>();
  const run = async <T>(work: () => Promise<T>): Promise<T | undefined> => {
    setBusy(true);
    setError(undefined);
    try {
      return await runAction(work);
    } catch (failure) {
      setError(failure);
      return undefined;
    } finally {
      setBusy(false);
    }
  };
  return { busy, error, run, clearError: () => setError(undefined) };
}

/** Requests whose answers may overtake each other: only that of the latest is taken. */
export class LatestRequest {
  #started = 0;

  /** Starts a request. What it returns says later whether no newer one has been started. */
  start(): () => boolean {
    this.#started += 1;
    const own = this.#started;
    return () => own === this.#started;
  }

  /** Answers that are still on their way are not wanted any more. */
  cancel(): void {
    this.#started += 1;
  }
}

/** Reads for a part of a page, which takes only the answer to the latest question, and none after it is gone. */
export function useQuery(): {
  /** Whether the latest question has no answer yet. */
  busy: boolean;
  error: unknown;
  query: <T>(ask: () => Promise<T>, take: (answer: T) => void) => Promise<void>;
  cancel: () => void;
} {
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>();
  const { current: latest } = useRef(new LatestRequest());
  useEffect(() => () => latest.cancel(), [latest]);
  return {
    busy,
    error,
    query: async (ask, take) => {
      const isLatest = latest.start();
      setBusy(true);
      setError(undefined);
      try {
        const answer = await ask();
        if (isLatest()) take(answer);
      } catch (failure) {
        if (isLatest()) setError(failure);
      } finally {
        if (isLatest()) setBusy(false);
      }
    },
    cancel: () => {
      latest.cancel();
      setBusy(false);
      setError(undefined);
    },
  };
}

/** A list that is read page by page: `show()` begins it anew, `show(next)` goes on where the last page ended. */
export function usePages<Item, Page extends { readonly next_cursor: string | null }>(
  ask: (cursor?: string) => Promise<Page>,
  itemsOf: (page: Page) => readonly Item[],
) {
  const [items, setItems] = useState<readonly Item[]>();
  const [next, setNext] = useState<string | null>(null);
  const { query, ...state } = useQuery();
  const show = (cursor?: string) =>
    query(
      () => ask(cursor),
      (page) => {
        setItems([...(cursor === undefined ? [] : (items ?? [])), ...itemsOf(page)]);
        setNext(page.next_cursor);
      },
    );
  return { ...state, items, next, show };
}

/**
 * The answer to the question of the present inputs. Only one question is open at a time. Of the questions that arrive
 * meanwhile only the newest is asked, so a slider asks as often as it gets answers. Undefined from `ask` means no question.
 */
export function useAsync<T>(
  ask: () => Promise<T> | undefined,
  inputs: Inputs,
): { value: T | undefined; error: unknown } {
  const [state, setState] = useState<{ value: T | undefined; error: unknown }>({
    value: undefined,
    error: undefined,
  });
  const busy = useRef(false);
  const next = useRef<(() => void) | undefined>(undefined);

  useEffect(() => {
    const start = () => {
      const answer = ask();
      if (answer === undefined) {
        setState({ value: undefined, error: undefined });
        return;
      }
      busy.current = true;
      answer
        .then(
          (value) => setState({ value, error: undefined }),
          (error) => setState({ value: undefined, error }),
        )
        .finally(() => {
          busy.current = false;
          const waiting = next.current;
          next.current = undefined;
          waiting?.();
        });
    };
    if (busy.current) next.current = start;
    else start();
  }, inputs);

  return state;
}

/** The time, updated every second while the page is visible, or as often as is said. */
export function useNow(everyMs = 1000): number {
  const [nowMs, setNowMs] = useState(Date.now());
  useInterval(() => setNowMs(Date.now()), everyMs);
  return nowMs;
}

/** Does something again and again while the page is visible. */
export function useInterval(work: () => void, everyMs: number): void {
  const newest = useRef(work);
  newest.current = work;
  useEffect(() => {
    const timer = setInterval(() => {
      if (!document.hidden) newest.current();
    }, everyMs);
    return () => clearInterval(timer);
  }, [everyMs]);
}
