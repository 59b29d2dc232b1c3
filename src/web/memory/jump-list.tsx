/** The parts of the page and the groups of facts, each one press away; the whole list is one tab stop. */

import { useArrowKeys } from "../parts/arrow-keys.ts";
import { groupName } from "../parts/format.ts";

interface JumpListProps {
  /** How many facts each group has, in order. */
  readonly counts: ReadonlyMap<string, number>;
  /** How many facts wait for the person. */
  readonly waitingCount: number;
  /** Has the list show a group. */
  readonly onGroup: (group: string) => void;
}

export function JumpList({ counts, waitingCount, onGroup }: JumpListProps) {
  const list = useArrowKeys();
  const part = (id: string, name: string, count?: number) => (
    <li key={id} data-row>
      <button type="button" class="part" onClick={() => focusHeading(`${id}-title`)}>
        {name}
        {count !== undefined && <small> {count}</small>}
      </button>
    </li>
  );
  return (
    <nav aria-label="On this page">
      <ul ref={list} class="jump">
        {waitingCount > 0 && part("review", "Waiting for you", waitingCount)}
        {part("changes", "What changed")}
        {part("prompts", "What agents get")}
        {part("whole", "All of it")}
        {counts.size > 1 &&
          [...counts].map(([group, count]) => (
            <li key={`group ${group}`} data-row>
              <button type="button" onClick={() => onGroup(group)}>
                {groupName(group)} <small>{count}</small>
              </button>
            </li>
          ))}
      </ul>
    </nav>
  );
}

/** Leads eyes, keyboard and screen readers to a part of the page: its heading, or the button in it. */
export function focusHeading(id: string): void {
  const heading = document.getElementById(id);
  const target = heading?.querySelector("button") ?? heading;
  if (heading === null || target === null) return;
  if (target === heading) heading.tabIndex = -1;
  target.focus({ preventScroll: true });
  (heading.closest("section") ?? heading).scrollIntoView();
}
