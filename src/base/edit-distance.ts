/**
 * The distance between two words, and whether one is probably the other with a typing error. The distance is
 * Levenshtein's, with a swap of two neighbours as one edit (optimal string alignment). `slipEdits` has the distances to
 * many words that share their beginnings, without a table for each of them.
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
      const replaced = row[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1);
      const isSwap = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      const swapped = isSwap ? above[j - 2]! + 1 : replaced;
      next[j] = Math.min(row[j]! + 1, next[j - 1]! + 1, replaced, swapped);
    }
    above = row;
    row = next;
  }
  return row[b.length]!;
}

/**
 * Whether a known word was probably meant.
 * @param lettersThatCount how many letters of the known word count. Fewer than half of them may be wrong, because a
 *   short word is near to many others
 */
export function isSlip(typed: string, known: string, lettersThatCount = known.length): boolean {
  const editsMax = slipEditsMax(lettersThatCount);
  // A far longer text is not even compared: the table has a cell for each pair of letters.
  return Math.abs(typed.length - known.length) <= editsMax && editDistance(typed, known) <= editsMax;
}

/** How many edits of a word with so many letters are a slip; of a very short one fewer than none. */
export function slipEditsMax(letters: number): number {
  return Math.min(SLIP_EDITS_MAX, Math.ceil(letters / 2) - 1);
}

/** Of a shorter word an s is not taken for that of a plural. */
const SINGULAR_LENGTH_MIN = 3;

/** A word of a label and what it is with the other ending: "allergies" and "allergy", "box" and "boxes", "kid" and "kids". */
export function otherNumbers(word: string): readonly string[] {
  const singulars = [
    ...(word.endsWith("ies") ? [`${word.slice(0, -3)}y`] : []),
    ...(word.endsWith("es") ? [word.slice(0, -2)] : []),
    ...(word.endsWith("s") ? [word.slice(0, -1)] : []),
  ].filter(({ length }) => length >= SINGULAR_LENGTH_MIN);
  const isSingular = word.length >= SINGULAR_LENGTH_MIN;
  const plurals = [`${word}s`, `${word}es`, ...(word.endsWith("y") ? [`${word.slice(0, -1)}ies`] : [])];
  return [word, ...singulars, ...(isSingular ? plurals : [])];
}

/** Whether two labels differ only by singular and plural, in the group, in the name, or in both. */
export function isOtherNumber(label: string, known: string): boolean {
  const [group = "", name = ""] = label.toLowerCase().split(".");
  const [otherGroup = "", otherName = ""] = known.toLowerCase().split(".");
  return otherNumbers(group).includes(otherGroup) && otherNumbers(name).includes(otherName);
}

/** Any number of edits that is too many. */
const FAR = SLIP_EDITS_MAX + 1;
/** `slipEdits` looks at no more letters of words than this. */
const LETTERS_MAX = 5_000;

/**
 * For each ending the edits between `typed` and the nearest word of any beginning and that ending; 3 where there are
 * more than two. Undefined where that would cost too much. No pair of a beginning and an ending is looked at: a row of the table is made of minima and sums, so
 * the smallest cells of the last rows of all beginnings are one row, from which every ending goes on. Of each row only
 * the cells that two edits can reach are filled in (Ukkonen's band): a letter costs five cells.
 */
export function slipEdits(
  typed: string,
  beginnings: readonly string[],
  endings: readonly string[],
): readonly number[] | undefined {
  const table = new BandedTable(typed);
  const { letters, length } = table;
  const joint = table.newRow();
  // A swap over the joint needs the last letter of the beginning, which then is the next but one that was typed.
  const aboveJoint = table.newRow();
  const first = table.newRow().map((_, j) => Math.min(j, FAR));
  for (const beginning of beginnings) {
    const [last, above] = table.lastRows(beginning, first, table.farRow, 0);
    const end = beginning.length;
    const lastLetter = beginning.charCodeAt(end - 1);
    for (let j = Math.max(0, end - FAR); j <= Math.min(length, end + SLIP_EDITS_MAX); j++) {
      joint[j] = Math.min(joint[j]!, last[j]!);
      if (letters[j + 1] === lastLetter) aboveJoint[j] = Math.min(aboveJoint[j]!, above[j]!);
    }
  }
  const edits = endings.map(
    (ending) => table.lastRows(ending, joint, aboveJoint, length - ending.length)[0][length]!,
  );
  return table.lettersLeft < 0 ? undefined : edits;
}

/** Rows of the tables of words against one text. Cell j of a row: the edits between its word's letters and the first j of the text. */
class BandedTable {
  readonly letters: Uint16Array;
  readonly length: number;
  lettersLeft = LETTERS_MAX;
  readonly farRow: Uint8Array;
  readonly #rows: readonly Uint8Array[];

  constructor(text: string) {
    this.length = text.length;
    this.letters = Uint16Array.from({ length: text.length }, (_, j) => text.charCodeAt(j));
    this.farRow = this.newRow();
    this.#rows = [this.newRow(), this.newRow(), this.newRow()];
  }

  /** With room for the cell behind the last. */
  newRow(): Uint8Array {
    return new Uint8Array(this.length + 2).fill(FAR);
  }

  /**
   * The rows of a word's last letter, and of the letter before. Only the cells of their bands count, and those beside
   * them; they are overwritten by the next call.
   * @param first the row before the word's first letter, and `above` the one before that
   * @param offset where the band is in the first row
   */
  lastRows(word: string, first: Uint8Array, above: Uint8Array, offset: number): [Uint8Array, Uint8Array] {
    const { letters, length } = this;
    let [row, rowAbove] = [first, above];
    let wasFar = false;
    for (let i = 1; i <= word.length; i++) {
      const next = this.#rows[i % 3]!;
      const letter = word.charCodeAt(i - 1);
      const letterBefore = word.charCodeAt(i - 2);
      const from = Math.max(0, offset + i - SLIP_EDITS_MAX);
      const to = Math.min(length, offset + i + SLIP_EDITS_MAX);
      let isFar = true;
      next[from - 1] = FAR;
      next[to + 1] = FAR;
      for (let j = from; j <= to; j++) {
        let edits = row[j]! + 1;
        if (j > 0) {
          const replaced = row[j - 1]! + (letters[j - 1] === letter ? 0 : 1);
          if (replaced < edits) edits = replaced;
          if (next[j - 1]! < edits - 1) edits = next[j - 1]! + 1;
          const isSwap = j > 1 && letters[j - 2] === letter && (i === 1 || letters[j - 1] === letterBefore);
          if (isSwap && rowAbove[j - 2]! < edits - 1) edits = rowAbove[j - 2]! + 1;
        }
        next[j] = edits < FAR ? edits : FAR;
        if (edits < FAR) isFar = false;
      }
      this.lettersLeft -= 1;
      if ((isFar && wasFar) || this.lettersLeft < 0) return [this.farRow, this.farRow];
      wasFar = isFar;
      rowAbove = row;
      row = next;
    }
    return [row, rowAbove];
  }
}
