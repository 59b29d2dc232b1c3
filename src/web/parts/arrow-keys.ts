/**
 * One tab stop for a whole list (roving tabindex, as in the ARIA Authoring Practices): the arrow keys go from row to row
 * and from button to button, Home and End to the first and the last row. A row is an element with `data-row`; forms in a
 * row keep their own tab stops.
 */

import { useCallback, useRef } from "preact/hooks";

/** The `ref` of the element around the rows. */
export function useArrowKeys(): (list: HTMLElement | null) => void {
  const release = useRef<() => void>(undefined);
  return useCallback((list: HTMLElement | null) => {
    release.current?.();
    release.current = list === null ? undefined : makeOneTabStop(list);
  }, []);
}

function makeOneTabStop(list: HTMLElement): () => void {
  let stop: HTMLButtonElement | undefined;
  /** Where the stop's row is, for when it goes. */
  let rowIndex = 0;
  const buttonsByRow = () =>
    [...list.querySelectorAll<HTMLElement>("[data-row]")]
      .map((row) => [...row.querySelectorAll("button")].filter((button) => button.closest("form") === null))
      .filter((buttons) => buttons.length > 0);
  const setStop = (rows: HTMLButtonElement[][], button: HTMLButtonElement | undefined) => {
    stop = button;
    if (button !== undefined) rowIndex = rows.findIndex((row) => row.includes(button));
    for (const row of rows)
      for (const other of row) {
        const tabIndex = other === button ? 0 : -1;
        if (other.getAttribute("tabindex") !== String(tabIndex)) other.tabIndex = tabIndex;
      }
  };
  const onMutation = () => {
    const rows = buttonsByRow();
    const isThere = stop !== undefined && rows.some((row) => row.includes(stop!));
    setStop(rows, isThere ? stop : rows[Math.min(rowIndex, rows.length - 1)]?.[0]);
  };
  const onFocus = ({ target }: FocusEvent) => {
    const rows = buttonsByRow();
    const button = rows.flat().find((other) => other === target);
    if (button !== undefined) setStop(rows, button);
  };
  const onKey = (event: KeyboardEvent) => {
    const rows = buttonsByRow();
    const at = rows.findIndex((row) => row.includes(event.target as HTMLButtonElement));
    if (at < 0 || event.altKey || event.ctrlKey || event.metaKey) return;
    const next = nextButton(rows, at, event);
    if (next === undefined) return;
    event.preventDefault();
    next.focus();
  };
  const observer = new MutationObserver(onMutation);
  observer.observe(list, { childList: true, subtree: true });
  list.addEventListener("focusin", onFocus);
  list.addEventListener("keydown", onKey);
  onMutation();
  return () => {
    observer.disconnect();
    list.removeEventListener("focusin", onFocus);
    list.removeEventListener("keydown", onKey);
  };
}

function nextButton(
  rows: readonly HTMLButtonElement[][],
  at: number,
  { key, target }: KeyboardEvent,
): HTMLButtonElement | undefined {
  const column = rows[at].indexOf(target as HTMLButtonElement);
  const all = rows.flat();
  const index = all.indexOf(target as HTMLButtonElement);
  const inRow = (row: HTMLButtonElement[] | undefined) => row?.[Math.min(column, row.length - 1)];
  if (key === "ArrowDown") return inRow(rows[at + 1]);
  if (key === "ArrowUp") return inRow(rows[at - 1]);
  if (key === "ArrowRight") return all[index + 1];
  if (key === "ArrowLeft") return all[index - 1];
  if (key === "Home") return inRow(rows[0]);
  return key === "End" ? inRow(rows.at(-1)) : undefined;
}
