/**
 * Work in slices: a generator does it, and yields wherever it may be interrupted. Whoever runs it decides whether it goes
 * through at once, or whether others have the event loop in between.
 */

export type Sliced<T> = Generator<void, T, void>;

/** For how long a slice holds the event loop: a request that comes meanwhile waits half of it, and has its own work after that. */
const SLICE_MS = 0.5;

/** A list mapped, item by item. */
export function* mapped<A, B>(items: readonly A[], map: (item: A) => B): Sliced<B[]> {
  const made: B[] = [];
  for (const item of items) {
    yield;
    made.push(map(item));
  }
  return made;
}

/** Of more items, each step of the work on all of them has a turn of its own. */
export const ITEMS_AT_ONCE_MAX = 500;

export function atOnce<T>(work: Sliced<T>): T {
  let step = work.next();
  while (!step.done) step = work.next();
  return step.value;
}

/** @param turn resolves when it is this work's turn again; where it rejects, the work ends with that */
export async function inSlices<T>(work: Sliced<T>, turn: () => Promise<unknown>): Promise<T> {
  for (;;) {
    const endMs = performance.now() + SLICE_MS;
    do {
      const step = work.next();
      if (step.done) return step.value;
    } while (performance.now() < endMs);
    await turn();
  }
}
