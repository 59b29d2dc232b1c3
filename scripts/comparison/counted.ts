/** What each measure counts, as it is in the file of results, and how that becomes the columns of the tables. */

import type { Results } from "../../bench/compare/results.ts";
import { type Column, count, distinct, median, most, range, share, words } from "./columns.ts";

export interface Values {
  readonly values: number;
  readonly equal: number;
  readonly changed: number;
  readonly refused: number;
  readonly lost: number;
  /** Of what is in the memory, what a prompt has. */
  readonly inPrompt?: number;
}

interface Kept {
  readonly sent: number;
  readonly acknowledged: number;
  readonly kept: number;
}

export interface Writers {
  readonly inOne: Kept;
  readonly inMany: Kept;
  readonly addedInOne: Kept;
  readonly addedInMany: Kept;
}

export interface Lost {
  /** Of the two one is there. */
  readonly kills?: number;
  readonly losses?: number;
  readonly acknowledged: number;
  readonly lost: number;
  readonly opens?: boolean;
  readonly closed?: number;
  readonly mended?: number;
}

export interface Undo {
  readonly undone: boolean;
  readonly calls: number;
  /** Where it says who wrote: "history", "memory" or "nowhere". */
  readonly author: string;
}

export interface Erase {
  readonly answered: boolean;
  readonly history: boolean;
  readonly files: boolean;
  readonly filesAfter: boolean;
  readonly backup: boolean;
}

export interface Tokens {
  readonly tools?: number;
  /** With the smallest set that the documents name. */
  readonly fewTools?: number;
  readonly prompt: Readonly<Record<string, number>>;
  /** Of so many facts, those that the text has. */
  readonly facts: Readonly<Record<string, number>>;
  readonly labels?: false;
}

export interface Install {
  readonly seconds: number;
  readonly packages: number;
  readonly mb: number;
  readonly debian?: { readonly packages: number; readonly mb: number };
  /** Sideband's as its README says it. */
  readonly clone?: { readonly seconds: number; readonly packages: number; readonly mb: number };
}

interface Round {
  /** In an empty folder, and on what is there then. */
  readonly startMs: number;
  readonly againMs?: number;
  readonly write: Percentiles;
  readonly read: Percentiles;
  readonly restMb: number;
}

interface Percentiles {
  readonly p50: number;
  readonly p99: number;
}

export interface Speed {
  /** Of the process that opens a store, without the store. */
  readonly hostMb?: number;
  readonly rounds?: readonly Round[];
}

export const found = (is: boolean) => (is ? "there" : "gone");
/** Whether an answer waits for the disk, as the file of results says. */
export function isSynced({ peers }: Results, id: string): boolean {
  return !String(peers[id].durability).includes("not synced");
}

export const yesOrNo = (is: boolean) => (is ? "yes" : "no");
export const keptOf = (name: string, of: (result: Writers) => Kept) =>
  share<Writers>(name, (result) => [of(result).kept, of(result).acknowledged])("more");

/** Nothing is rounded to all or to none. */
function percentOf(share: number): string {
  if (share > 0 && share < 1) return "under 1 %";
  if (share > 99 && share < 100) return "over 99 %";
  return `${Math.round(share)} %`;
}

/** In per cent of all runs together. */
function shareOfAll<R>(better: "more" | "less", part: (result: R) => number, whole: (result: R) => number) {
  const of = (all: readonly R[]) => {
    const [parts, wholes] = [part, whole].map((number) => all.reduce((sum, one) => sum + number(one), 0));
    return (100 * parts) / wholes;
  };
  return {
    name: "of all",
    text: (all: readonly R[]) => percentOf(of(all)),
    score: (one: R) => (better === "less" ? of([one]) : -of([one])),
  };
}

/** The columns that README.md has too. */
export const KEPT_IN_ONE = keptOf("one process: kept", ({ inOne }) => inOne);
export const KEPT_IN_MANY = keptOf("many processes: kept", ({ inMany }) => inMany);
export const LOST = share<Lost>("", ({ lost, acknowledged }) => [lost, acknowledged])("less");
/** Of all runs together. */
export const LOST_IN_ALL = shareOfAll<Lost>(
  "less",
  ({ lost }) => lost,
  ({ acknowledged }) => acknowledged,
);
export const KEPT_OF_MANY = shareOfAll<Writers>(
  "more",
  ({ inMany }) => inMany.kept,
  ({ inMany }) => inMany.acknowledged,
);
export const UNDONE = words<Undo>(
  "wrong value undone",
  ({ undone, calls }) => (undone ? `yes, ${count(calls)} calls` : "no"),
  ({ undone, calls }) => (undone ? calls : Number.POSITIVE_INFINITY),
);
const AUTHORS: Readonly<Record<string, string>> = {
  history: "yes, of each value",
  memory: "yes, of the last value",
  nowhere: "no",
};
export const AUTHOR = words<Undo>(
  "its writer known",
  ({ author }) => AUTHORS[author] ?? author,
  ({ author }) => Number(author === "nowhere"),
);
export const ALL_TOOLS: Column<Tokens> = {
  name: "tools and instructions",
  text: (all) => {
    const known = all.flatMap(({ tools }) => tools ?? []);
    return known.length === 0 ? "none" : range(known);
  },
  score: ({ tools }) => tools ?? Number.NaN,
};
export const TOOLS: Column<Tokens> = {
  ...ALL_TOOLS,
  text: (all, own) => {
    const few = all.flatMap(({ fewTools }) => fewTools ?? []);
    return ALL_TOOLS.text(all, own) + (few.length === 0 ? "" : `; ${range(few)} with the fewest`);
  },
};
/** A text that has fewer facts, or no labels, is shorter for that: it is not better. */
export const promptOf = (wanted: string): Column<Tokens> => ({
  name: `${wanted} facts`,
  text: (all) => {
    const held = all.map(({ facts }) => facts[wanted]);
    const said = [
      range(all.map(({ prompt }) => prompt[wanted])),
      ...(Math.min(...held) < Number(wanted) ? [`${range(held)} of them`] : []),
      ...(all.some(({ labels }) => labels === false) ? ["no labels"] : []),
    ];
    return said.join(", ");
  },
  score: ({ prompt, facts, labels }) =>
    facts[wanted] < Number(wanted) || labels === false ? Number.NaN : prompt[wanted],
});
/** In words that cannot be taken for corruption. */
export const STORED: Column<Values> = {
  name: "stored and equal",
  text: (all) => {
    const sum = (of: (result: Values) => number) => all.reduce((total, one) => total + of(one), 0);
    if (sum(({ values, equal }) => values - equal) === 0) return "all";
    const rest = [
      ...(sum(({ refused }) => refused) > 0 ? ["the rest refused"] : []),
      sum(({ changed }) => changed) > 0
        ? `${range(all.map(({ changed }) => changed))} changed`
        : "none changed",
      ...(sum(({ lost }) => lost) > 0 ? [`${range(all.map(({ lost }) => lost))} lost`] : []),
    ];
    return `${range(all.map(({ equal }) => equal))}; ${rest.join(", ")}`;
  },
  score: ({ equal }) => -equal,
};
export const EQUAL = most<Values>("equal", ({ equal }) => equal);

export const gone = (name: string, of: (result: Erase) => boolean) =>
  words<Erase>(
    name,
    (result) => found(of(result)),
    (result) => Number(of(result)),
  );
export const GONE_AFTER = gone("files, cleaned up", ({ filesAfter }) => filesAfter);
/** @param cleans whether the memory has a call that cleans its files up */
export const goneAfter = (cleans: boolean) =>
  words<Erase>("once cleaned up", ({ files, filesAfter, answered, history }) => {
    if (answered || history) return "still there, also in its history";
    if (!filesAfter) return files ? "gone" : "gone at once";
    return cleans ? "still there" : "still there: no call for it";
  });

/** The median of all rounds, its ratio to Sideband's, and the spread of that. */
export function timed(name: string, unit: string, of: (round: Round) => number | undefined): Column<Speed> {
  const all = (speeds: readonly Speed[]) =>
    speeds.flatMap(({ rounds = [] }) => rounds.flatMap((round) => of(round) ?? []));
  return {
    name,
    text: (speeds, own) => {
      const numbers = all(speeds);
      if (numbers.length === 0) return "not timed";
      const base = median(all(own));
      if (all(own).length === 0) return `${count(median(numbers))} ${unit}`;
      const ratio = (number: number) => (number / base).toLocaleString("en", { maximumSignificantDigits: 2 });
      const ends = [Math.min(...numbers), Math.max(...numbers)].map(ratio);
      return `${count(median(numbers))} ${unit}: ${ratio(median(numbers))} (${distinct(ends).join(" to ")})`;
    },
    score: (speed) => median(all([speed])),
  };
}

/** With the durability beside it: a write that is not synced is no better for being faster. */
export const writeTime = (isSynced: boolean): Column<Speed> => ({
  name: "write, median",
  text: (speeds) => {
    const times = writesOf(speeds);
    if (times.length === 0) return "not timed";
    return `${count(Number(median(times).toPrecision(1)))} ms${isSynced ? "" : ", not synced"}`;
  },
  score: (speed) => (isSynced ? median(writesOf([speed])) : Number.NaN),
});

function writesOf(speeds: readonly Speed[]): number[] {
  return speeds.flatMap(({ rounds = [] }) => rounds.map(({ write }) => write.p50));
}
