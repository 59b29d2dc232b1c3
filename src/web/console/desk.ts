/** How the console's sections change things: `act` does it and has everything looked at again. */

import { createContext } from "preact";
import { useContext, useState } from "preact/hooks";

export type Act = <T>(work: () => Promise<T>) => Promise<T>;

export const DeskContext = createContext<Act>((work) => work());

/** Runs one thing at a time and keeps what went wrong. */
export function useDesk(): {
  busy: boolean;
  error: unknown;
  run: <T>(work: () => Promise<T>) => Promise<T | undefined>;
} {
  const act = useContext(DeskContext);
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>();
  const run = async <T>(work: () => Promise<T>): Promise<T | undefined> => {
    setBusy(true);
    setError(undefined);
    try {
      return await act(work);
    } catch (failure) {
      setError(failure);
      return undefined;
    } finally {
      setBusy(false);
    }
  };
  return { busy, error, run };
}

/** "2026-11-15T03:20:00.000Z" → "2026-11-15 03:20" */
export function minuteOf(time: string | null): string {
  return time === null ? "never" : time.slice(0, 16).replace("T", " ");
}

/** The end of a day that a date field names, in UTC; null where it is empty. */
export function endOfDay(date: string): string | null {
  return date === "" ? null : `${date}T23:59:59.000Z`;
}
