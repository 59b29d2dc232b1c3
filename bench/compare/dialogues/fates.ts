/**
 * What became of the facts of a dialogue: exact in their newest value, stale (an older value is there and the newer is not), or
 * lost; and what was taken back and is there all the same. All are shares of the facts that a dialogue ends with, in per cent.
 */

import type { GoldFact } from "./dialogue.ts";

export interface Fates {
  readonly exact: number;
  readonly stale: number;
  readonly lost: number;
  /** Of what was taken back. Undefined where a dialogue took nothing back. */
  readonly returned: number | undefined;
}

/** A value counts where it stands word for word, whatever stands around it. What is taken back is gone if the text says so. */
export function fatesInText(facts: readonly GoldFact[], text: string): Fates {
  return count(facts, (value, { takenBack }) =>
    takenBack !== undefined && text.includes(takenBack) ? false : text.includes(value),
  );
}

/** A value counts where it stands under its label. */
export function fatesInFacts(facts: readonly GoldFact[], found: ReadonlyMap<string, string>): Fates {
  return count(facts, (value, { label }) => found.get(label) === value);
}

function count(facts: readonly GoldFact[], has: (value: string, fact: GoldFact) => boolean): Fates {
  const here = facts.filter(({ takenBack }) => takenBack === undefined);
  const gone = facts.filter(({ takenBack }) => takenBack !== undefined);
  const isExact = (fact: GoldFact) => has(fact.values.at(-1)!, fact);
  const isAnywhere = (fact: GoldFact) => fact.values.some((value) => has(value, fact));
  const exact = here.filter(isExact).length;
  const stale = here.filter((fact) => !isExact(fact) && isAnywhere(fact)).length;
  const share = (part: number, of: number) => (100 * part) / of;
  return {
    exact: share(exact, here.length),
    stale: share(stale, here.length),
    lost: share(here.length - exact - stale, here.length),
    returned: gone.length === 0 ? undefined : share(gone.filter(isAnywhere).length, gone.length),
  };
}

/** Over the dialogues. */
export interface Spread {
  readonly mean: number;
  readonly p5: number;
  readonly p95: number;
}

export function spreadOf(numbers: readonly number[]): Spread {
  const sorted = [...numbers].sort((a, b) => a - b);
  const at = (share: number) => round(sorted[Math.round(share * (sorted.length - 1))]!);
  return {
    mean: round(sorted.reduce((sum, each) => sum + each, 0) / sorted.length),
    p5: at(0.05),
    p95: at(0.95),
  };
}

const round = (value: number) => Math.round(10 * value) / 10;

/** The spread of each number of several rows that have the same. */
export function spreads<Row extends { readonly [name in keyof Row]: number | undefined }>(
  rows: readonly Row[],
): Record<string, Spread> {
  const names = Object.keys(rows[0]!) as (keyof Row & string)[];
  return Object.fromEntries(names.map((name) => [name, spreadOf(rows.flatMap((row) => row[name] ?? []))]));
}
