/** The part of the memory page's address that says whose memory it shows. */

import type { Memory } from "../api/memory.ts";

export function hashOf({ userId, project }: Memory): string {
  return `#${new URLSearchParams({ user: userId, ...(project === undefined ? {} : { project }) })}`;
}
