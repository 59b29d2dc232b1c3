/**
 * The distance between two words, and whether one is probably the other with a typing error. The distance is
 * Levenshtein's, with a swap of two neighbours as one edit (optimal string alignment).
 */

/** With more edits than this it is another word. */
const SLIP_EDITS_MAX = 2;

/** How many letters must be added, removed, replaced or swapped; one row of the table at a time. */
export function editDistance(a: string, b: string): number {
  let above: number[] = [];
  let row = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const replaced = row[j - 1] + (a[i - 1] === b[j - 1] ? 0 : 1);
      const isSwap = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      const swapped = isSwap ? above[j - 2] + 1 : replaced;
      next[j] = Math.min(row[j] + 1, next[j - 1] + 1, replaced, swapped);
    }
    above = row;
    row = next;
  }
  return row[b.length];
}

/**
 * Whether a known word was probably meant.
 * @param lettersThatCount how many letters of the known word count. Fewer than half of them may be wrong, because a
 *   short word is near to many others
 */
export function isSlip(typed: string, known: string, lettersThatCount = known.length): boolean {
  const editsMax = Math.min(SLIP_EDITS_MAX, Math.ceil(lettersThatCount / 2) - 1);
  // A far longer text is not even compared: the table has a cell for each pair of letters.
  return Math.abs(typed.length - known.length) <= editsMax && editDistance(typed, known) <= editsMax;
}
