/** Whether a service has grown under load: what may be more at the end than at an early mark, and what is too much. */

import type { Gauges } from "./watched-server.ts";

/** Caches fill, and neither the heap nor the number of connections is ever the same. */
const GROWTH_MAX = { heapBytes: 16 * 2 ** 20, residentBytes: 96 * 2 ** 20, descriptors: 8 } as const;

export function growthFault(marks: readonly Gauges[]): string | undefined {
  const [first, last] = [marks[0], marks.at(-1)];
  if (first === undefined || last === undefined) return undefined;
  const grown = (["heapBytes", "residentBytes", "descriptors"] as const).find(
    (name) => last[name] - first[name] > GROWTH_MAX[name],
  );
  return grown === undefined ? undefined : `${grown} grew from ${first[grown]} to ${last[grown]}`;
}
