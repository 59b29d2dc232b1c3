/** Hooks for values that change while a page is open: the answer to the newest question, and the time. */

import { type Inputs, useEffect, useRef, useState } from "preact/hooks";

/**
 * The answer to the newest question. Only one question is open at a time. Of the questions that arrive meanwhile only
 * the newest is asked, so a slider asks as often as it gets answers. Undefined from `ask` means no question.
 */
export function useLatest<T>(
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
  useEffect(() => {
    const timer = setInterval(() => {
      if (!document.hidden) setNowMs(Date.now());
    }, everyMs);
    return () => clearInterval(timer);
  }, [everyMs]);
  return nowMs;
}
