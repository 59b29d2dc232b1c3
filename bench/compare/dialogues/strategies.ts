/**
 * Five published ways to make a conversation shorter without a model. Each is given the messages and a budget of tokens.
 *
 * - last turns: the last whole turns that fit; the sliding window of the OpenAI cookbook, "Short-term memory management with sessions".
 * - trim: LangChain's trim_messages with strategy "last" and allow_partial: the last messages, the oldest of them cut.
 * - head and tail: half of the budget from the start, half from the end, and a mark between them, as Codex does it (truncate.rs); the
 *   first and the last tokens are also what StreamingLLM keeps (Xiao et al. 2023).
 * - TextRank: the sentences of the highest rank, in their order (Mihalcea and Tarau 2004).
 * - Selective Context: the words that say the most, in their order (Li et al. 2023); here by counts in the conversation, where the
 *   paper asks a model.
 */

export interface Message {
  readonly role: "user" | "assistant";
  readonly text: string;
}

export type CountTokens = (text: string) => number;
export type Compact = (messages: readonly Message[], budget: number, count: CountTokens) => Message[];

export const textOf = (messages: readonly Message[]) => messages.map(lineOf).join("");
const lineOf = ({ role, text }: Message) => `${role}: ${text}\n`;

/** As long as what comes next fits, the last items; then what is left of the budget. */
function lastThatFit<T>(items: readonly T[], budget: number, cost: (item: T) => number) {
  let start = items.length;
  let left = budget;
  while (start > 0 && cost(items[start - 1]!) <= left) {
    start -= 1;
    left -= cost(items[start]!);
  }
  return { start, left };
}

const lastTurns: Compact = (messages, budget, count) => {
  const turns: Message[][] = [];
  for (const message of messages) {
    if (message.role === "user" || turns.length === 0) turns.push([message]);
    else turns.at(-1)!.push(message);
  }
  const { start } = lastThatFit(turns, budget, (turn) => count(textOf(turn)));
  // One turn is always kept.
  return turns.slice(Math.min(start, turns.length - 1)).flat();
};

const trim: Compact = (messages, budget, count) => {
  const { start, left } = lastThatFit(messages, budget, (message) => count(lineOf(message)));
  const kept = messages.slice(start);
  if (start === 0) return kept;
  const cut = messages[start - 1]!;
  const rest = wordsOf(cut.text);
  const words = lastThatFit(rest, left - count(lineOf({ ...cut, text: "" })), count);
  const text = rest.slice(words.start).join("").trim();
  return text === "" ? kept : [{ ...cut, text }, ...kept];
};

const headAndTail: Compact = (messages, budget, count) => {
  const words = wordsOf(textOf(messages));
  const total = words.reduce((sum, word) => sum + count(word), 0);
  if (total <= budget) return [...messages];
  const mark = ` …${total - budget} tokens truncated… `;
  const half = Math.floor((budget - count(mark)) / 2);
  const head = words.length - lastThatFit(words.toReversed(), half, count).start;
  const { start } = lastThatFit(words, half, count);
  // The first word is the role, which is written again with the message.
  const text = `${words.slice(1, head).join("")}${mark}${words.slice(start).join("")}`.trim();
  return [{ role: "user", text }];
};

const DAMPING = 0.85;
const ROUNDS = 30;
/** Shorter words say little: the, and, for. */
const LETTERS_MIN = 4;

const textRank: Compact = (messages, budget, count) => {
  const sentences = messages.flatMap(({ role, text }, from) =>
    text.split(/(?<=[.!?])\s+/).map((sentence) => ({ role, text: sentence, from })),
  );
  const ranks = rank(sentences.map(({ text }) => text));
  return kept(sentences, (i) => ranks[i]!, budget, count, " ");
};

/** PageRank over the graph of sentences, whose edges are the words they share by the logarithms of their lengths. */
function rank(sentences: readonly string[]): Float64Array {
  const bags = sentences.map((sentence) => [
    ...new Set(plainWords(sentence).filter((word) => word.length >= LETTERS_MIN)),
  ]);
  const weights = overlaps(bags);
  const sums = weights.map((row) => row.reduce((sum, weight) => sum + weight, 0));
  let ranks = new Float64Array(sentences.length).fill(1);
  for (let round = 0; round < ROUNDS; round++) {
    const votes = ranks.map((value, j) => (sums[j] === 0 ? 0 : value / sums[j]!));
    ranks = ranks.map((_, i) => {
      const row = weights[i]!;
      let sum = 0;
      for (let j = 0; j < row.length; j++) sum += row[j]! * votes[j]!;
      return 1 - DAMPING + DAMPING * sum;
    });
  }
  return ranks;
}

function overlaps(bags: readonly (readonly string[])[]): Float64Array[] {
  const having = new Map<string, number[]>();
  for (const [i, bag] of bags.entries())
    for (const word of bag) {
      const others = having.get(word);
      if (others === undefined) having.set(word, [i]);
      else others.push(i);
    }
  // A sentence of one word has the logarithm 0, and no edges.
  const logs = bags.map((bag) => Math.log(bag.length));
  return bags.map((bag, i) => {
    const row = new Float64Array(bags.length);
    for (const word of bag) for (const j of having.get(word)!) row[j]! += 1;
    for (let j = 0; j < row.length; j++)
      row[j] = i === j || bag.length < 2 || bags[j]!.length < 2 ? 0 : row[j]! / (logs[i]! + logs[j]!);
    return row;
  });
}

const selectiveContext: Compact = (messages, budget, count) => {
  const words = messages.flatMap(({ role, text }, from) =>
    wordsOf(text).map((word) => ({ role, text: word, from })),
  );
  const names = words.map(({ text }) => text.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, ""));
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  // The rarer a word, the more it says: −log2 of its share.
  return kept(words, (i) => -counts.get(names[i]!)!, budget, count, "");
};

interface Part extends Message {
  /** The message that it is of. */
  readonly from: number;
}

/** The parts of the highest score that fit, the later one where two are equal; in their order, in their messages. */
function kept(
  parts: readonly Part[],
  score: (i: number) => number,
  budget: number,
  count: CountTokens,
  between: string,
) {
  const order = parts.map((_, i) => i).sort((a, b) => score(b) - score(a) || b - a);
  const taken = new Set<number>();
  const roles = new Set<number>();
  let left = budget;
  for (const i of order) {
    const { from, text } = parts[i]!;
    const cost = count(` ${text.trim()}`) + (roles.has(from) ? 0 : count("assistant:\n"));
    if (cost > left) continue;
    left -= cost;
    roles.add(from);
    taken.add(i);
  }
  const messages = new Map<number, Message>();
  for (const [i, { role, from, text }] of parts.entries()) {
    if (!taken.has(i)) continue;
    const before = messages.get(from);
    messages.set(from, {
      role,
      text: before === undefined ? text.trimStart() : `${before.text}${between}${text}`,
    });
  }
  return [...messages.values()];
}

/** Words with the white space before them. */
const wordsOf = (text: string) => text.match(/\s*\S+/g) ?? [];
const plainWords = (text: string) => text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];

export const STRATEGIES: Readonly<Record<string, Compact>> = {
  "last turns": lastTurns,
  trim,
  "head and tail": headAndTail,
  TextRank: textRank,
  "Selective Context": selectiveContext,
};
