/** How the console's sections change things: an action runs, and then everything is refreshed. */

import { createContext } from "preact";
import { useContext, useState } from "preact/hooks";

export type RunAction = <T>(work: () => Promise<T>) => Promise<T>;

export const ActionContext = createContext<RunAction>((work) => work());

/** Runs an action for one form: whether it is running, and the error of the last one. */
export function useAction(): {
  busy: boolean;
  error: unknown;
  run: <T>(work: () => Promise<T>) => Promise<T | undefined>;
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
  return { busy, error, run };
}

/** The end of a day that a date field names, in UTC; null if it is empty. */
export function endOfDay(date: string): string | null {
  return date === "" ? null : `${date}T23:59:59.000Z`;
}
