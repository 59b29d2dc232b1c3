/**
 * What is left of the facts of dialogues after compactions: the table of what a memory gives back, the table of what the text
 * alone and a block in it keep, and the picture of both. Means over the dialogues, in per cent of the facts they end with.
 */

import type { Results } from "../../bench/compare/results.ts";
import { escapeHtml } from "../../src/web/shell.ts";
import { type Column, count, least, median, range, resultsOf } from "./columns.ts";
import type { Picture } from "./svg.ts";

interface Spread {
  readonly mean: number;
  readonly p5: number;
  readonly p95: number;
}

interface Fates {
  readonly exact: Spread;
  readonly stale: Spread;
  readonly lost: Spread;
  readonly returned: Spread;
  readonly tokens: Spread;
}

type ByCount = Readonly<Record<string, Fates>>;

export interface Dialogues {
  readonly index: Fates;
  /** How often, by label and reason. */
  readonly refused: Readonly<Record<string, number>>;
  /** What needs no memory is measured once. */
  readonly servedBlock?: Omit<Fates, "tokens">;
  readonly talk?: {
    readonly count: number;
    readonly turns: Spread;
    readonly slots: Spread;
    readonly tokens: Spread;
    readonly budget: number;
  };
  readonly compacted?: Readonly<Record<string, Readonly<Record<string, ByCount>>>>;
}

export const LEFT = "What is left after compactions";

const percent = (name: string, of: (fates: Fates) => Spread) =>
  least<Dialogues>(name, ({ index }) => of(index).mean, " %");

export const EXACT: Column<Dialogues> = {
  name: "exact, newest value",
  text: (all) => `${means(all.map(({ index }) => index.exact))} %`,
  score: ({ index }) => -index.exact.mean,
};

export const DIALOGUE_COLUMNS: readonly Column<Dialogues>[] = [
  EXACT,
  percent("an older value", ({ stale }) => stale),
  percent("lost", ({ lost }) => lost),
  percent("taken back, and there", ({ returned }) => returned),
  least("writes refused", ({ refused }) => Object.values(refused).reduce((sum, times) => sum + times, 0)),
  // Some hold labels and some do not: fewer is not better.
  { name: "tokens", text: (all) => means(all.map(({ index }) => index.tokens)) },
];

const means = (spreads: readonly Spread[]) => range(spreads.map(({ mean }) => mean));

/** The runs that have what needs no memory. */
function runsOf(results: Results) {
  return resultsOf<Dialogues>(results, "dialogues", ...Object.keys(results.peers)).flatMap(
    ({ talk, compacted, servedBlock }) =>
      talk === undefined || compacted === undefined ? [] : [{ talk, compacted, servedBlock }],
  );
}

export function aboutDialogues(results: Results): string {
  const [run] = runsOf(results);
  const talk =
    run === undefined
      ? "Dialogues"
      : `${count(run.talk.count)} dialogues in each run, of ${count(run.talk.turns.mean)} turns, ${count(run.talk.tokens.mean)} tokens and ${count(run.talk.slots.mean)} facts on average,`;
  return `${talk} are made by a script from a seed, no person wrote them (MultiWOZ was found neither on npm nor in Debian). Facts are stated, a quarter of
them are changed, some are said again or taken back, and beside them stand values of the same kinds that are no facts. A script that knows the facts writes them to each
memory, the same for all, so this says nothing of how well a model picks them out or answers. Counted is which facts stand word for word in the text that a memory gives for
a prompt. A compaction does not touch that text: a notes file survives it as well as any of the others. Sideband's tool refuses codes of an alarm, as it refuses every
secret, and some vouchers that look like one; where a changed one is refused, the old one stays. mem0's text has
the values without labels, so that its tokens are fewer.`;
}

/** Where the strategies come from, and what their numbers do not say. */
const STRATEGIES_FROM = `*last turns*: whole turns, as in the OpenAI cookbook on session memory. *trim*: LangChain's \`trim_messages\`, the oldest message cut. *head and tail*: half from
each end, as Codex cuts long outputs. *TextRank* (Mihalcea and Tarau): the sentences that are most like the others. *Selective Context* (Li and others): the
words that say the most, here by their counts in the conversation. No model writes a summary. *block once*: sealed before the first compaction; it does not know what comes
later, and goes with the old messages. *block with every answer*: the application opens the newest one in the text and seals the next, as
\`examples/stateless-support-bot.mjs\` does. The block's own tokens count in the budget. It is lost where sentences are chosen, because it is like no other, and kept where
words are, because they are rare. A fact in the text alone counts whatever stands around it. Made talk is more alike than people's, and TextRank prefers that, so it would
keep more facts of real talk.`;

/** Without a memory: the compacted text, and blocks in it. A row for each strategy. */
export function compactedTable(results: Results): string {
  const runs = runsOf(results);
  if (runs.length === 0) return "";
  const [{ compacted, talk }] = runs;
  const served = runs.flatMap(({ servedBlock }) => servedBlock?.exact ?? []);
  const counts = Object.keys(Object.values(Object.values(compacted)[0])[0]);
  const rows = Object.entries(compacted).flatMap(([way, strategies]) =>
    Object.keys(strategies).map((strategy) => [
      way,
      strategy,
      ...counts.map((each) => withSpread(runs.map((run) => run.compacted[way][strategy][each].exact))),
    ]),
  );
  const line = (cells: readonly string[]) => `| ${cells.join(" | ")} |`;
  const head = ["beside the text", "strategy", ...counts.map((each) => `after ${each}`)];
  return [
    `Without a memory, exact facts after so many compactions to ${count(talk.budget)} tokens each: with nothing beside the text, with a sealed block that is put in once, before
the first compaction, and with one that the application seals with every answer. Of a block that a strategy leaves out or takes apart nothing comes back. The block that
Sideband's service gives, which a hook puts in again after each compaction, has ${means(served)} % of the facts. All in per cent; in brackets between what nine tenths of the dialogues are.`,
    [line(head), `|${"---|".repeat(head.length)}`, ...rows.map(line)].join("\n"),
    STRATEGIES_FROM,
    besides(results),
  ].join("\n\n");
}

/** What the table has no column for. */
function besides(results: Results): string {
  const runs = runsOf(results);
  const stalest = (way: number) => {
    const all = runs.flatMap(({ compacted }) => Object.values(Object.values(compacted)[way] ?? {}));
    return count(Math.max(...all.flatMap(Object.values<Fates>).map(({ stale }) => stale.mean)));
  };
  return `With one compaction the block that is put in once is the last message before it. An older value without the newer one is left of up to ${stalest(0)} % of the facts in the text
alone, of up to ${stalest(1)} % in a block put in once, and of up to ${stalest(2)} % in one with every answer.`;
}

/** The means of the runs, and the widest of their spreads, where there is one. */
function withSpread(spreads: readonly Spread[]): string {
  const [low, high] = [Math.min(...spreads.map(({ p5 }) => p5)), Math.max(...spreads.map(({ p95 }) => p95))];
  return low === high ? means(spreads) : `${means(spreads)} (${count(low)} to ${count(high)})`;
}

const PANEL = { width: 340, height: 150, left: 34, top: 24 };
const GAP = 24;
const LEGEND_LINE = 18;

/** A panel for each strategy: the text alone, a block in it, and the index of a memory, which no compaction touches. */
export function dialoguesPicture(results: Results, columns: number): Picture | undefined {
  const runs = runsOf(results);
  if (runs.length === 0) return undefined;
  const [{ compacted }] = runs;
  const ways = Object.keys(compacted);
  const strategies = Object.keys(Object.values(compacted)[0]);
  const exact = (way: string, strategy: string) => (each: string) =>
    median(runs.map((run) => run.compacted[way][strategy][each].exact.mean));
  const indexOf = (peer: string) =>
    median(resultsOf<Dialogues>(results, "dialogues", peer).map((result) => result.index.exact.mean));
  const index = indexOf("sideband-service");
  const kinds = [...ways.map((_, i) => `line-${i}`), "line-own"];
  const names = [
    ...ways.map((way) => (way === "nothing" ? "the text alone" : way)),
    `Sideband's index (MEMORY.md: ${count(indexOf("notes-file"))})`,
  ];
  const legend = names.map((name, i) => {
    const y = i * LEGEND_LINE;
    return `<path class="line ${kinds[i]}" d="M0 ${y + 6}h26"/><text class="soft" x="34" y="${y + 10}">${escapeHtml(name)}</text>`;
  });
  const top = names.length * LEGEND_LINE + 12;
  const counts = Object.keys(compacted[ways[0]][strategies[0]]);
  const panels = strategies.map((strategy, i) => {
    const x = (i % columns) * (PANEL.width + GAP);
    const y = top + Math.floor(i / columns) * (PANEL.height + GAP);
    const lines = [...ways.map((way) => counts.map(exact(way, strategy))), counts.map(() => index)];
    return `<g transform="translate(${x} ${y})">${panel(strategy, counts, lines, kinds)}</g>`;
  });
  const last = counts[counts.length - 1];
  const said = strategies.map(
    (strategy) =>
      `${strategy}: ${ways.map((way) => `${way} ${count(exact(way, strategy)(last))}`).join(", ")}`,
  );
  return {
    id: "left-after-compactions",
    title: "Facts that are exact after compactions, in per cent",
    table: LEFT,
    alt: `Exact facts after ${last} compactions, in per cent: ${names[names.length - 1]} ${count(index)}; ${said.join("; ")}.`,
    width: columns * (PANEL.width + GAP),
    height: top + Math.ceil(strategies.length / columns) * (PANEL.height + GAP),
    body: [...legend, ...panels].join("\n"),
  };
}

function panel(
  title: string,
  counts: readonly string[],
  lines: readonly (readonly number[])[],
  kinds: readonly string[],
): string {
  const { width, height, left, top } = PANEL;
  const bottom = height - 20;
  const x = (i: number) => Math.round(left + 6 + (i * (width - left - 20)) / (counts.length - 1));
  const y = (share: number) => Math.round(bottom - ((bottom - top) * share) / 100);
  const grid = [0, 50, 100].map(
    (share) =>
      `<path class="grid" d="M${left} ${y(share)}H${width}"/><text class="soft" x="${left - 6}" y="${y(share) + 4}" text-anchor="end">${share}</text>`,
  );
  const marks = counts.map(
    (each, i) =>
      `<text class="soft" x="${x(i)}" y="${height - 4}" text-anchor="middle">${escapeHtml(each)}</text>`,
  );
  const drawn = lines.map(
    (numbers, i) =>
      `<path class="line ${kinds[i]}" d="M${numbers.map((share, j) => `${x(j)} ${y(share || 0)}`).join("L")}"/>`,
  );
  return [
    `<text class="strong" y="12">${escapeHtml(title)}</text>`,
    ...grid,
    ...marks,
    ...drawn.reverse(),
  ].join("\n");
}
