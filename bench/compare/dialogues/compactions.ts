/**
 * A dialogue that grows turn by turn and is compacted on the way, 1 to 10 times, each time to the same budget; a later compaction
 * sees what the earlier one left. The first takes place as soon as there is enough to cut, the last after the last turn.
 *
 * Three ways: without anything; with a block put in once, before the first compaction; and with a block that the application
 * seals with every answer, opening the one before it in the text, as examples/stateless-support-bot.mjs does.
 */

import type { Dialogue, GoldFact } from "./dialogue.ts";
import { type Fates, fatesInFacts, fatesInText } from "./fates.ts";
import type { Sealer, State } from "./sealed.ts";
import { type Compact, type CountTokens, type Message, textOf } from "./strategies.ts";

export const BUDGET = 1_024;
export const COMPACTIONS = [1, 2, 3, 5, 10];
export const WAYS = ["nothing", "block once", "block with every answer"] as const;
export type Way = (typeof WAYS)[number];

export interface Compacting {
  readonly compact: Compact;
  readonly compactions: number;
  readonly count: CountTokens;
  readonly budget?: number;
}

export interface Outcome extends Fates {
  /** Of the whole prompt, with the block. */
  readonly tokens: number;
  /** Facts that the last block never had: there was no room, they came later, or an earlier block that had them was lost. */
  readonly notSealed?: number;
  /** 100 where no block could be read at the end, otherwise 0. */
  readonly unreadable?: number;
}

/** After which turns the dialogue is compacted. */
export function compactionTurns(
  dialogue: Dialogue,
  { compactions, count, budget = BUDGET }: Omit<Compacting, "compact">,
): number[] {
  let tokens = 0;
  const first = dialogue.turns.findIndex((turn) => {
    tokens += count(textOf(messagesOf(turn)));
    return tokens > budget;
  });
  const last = dialogue.turns.length - 1;
  const start = first < 0 ? last : first;
  return Array.from(
    { length: compactions },
    (_, i) => start + Math.round(((i + 1) * (last - start)) / compactions),
  );
}

export function outcomeOf(dialogue: Dialogue, way: Way, compacting: Compacting, sealer: Sealer): Outcome {
  if (way === "nothing") {
    const text = textOf(grown(dialogue, compacting, () => {}));
    return { ...fatesInText(dialogue.facts, text), tokens: compacting.count(text) };
  }
  return way === "block once"
    ? sealedOnce(dialogue, compacting, sealer)
    : sealedAlways(dialogue, compacting, sealer);
}

function sealedOnce(dialogue: Dialogue, compacting: Compacting, sealer: Sealer): Outcome {
  let sealed: Sealed | undefined;
  const messages = grown(dialogue, compacting, (now, writes) => {
    if (sealed !== undefined) return;
    sealed = sealedOf(after(new Map(), writes), sealer);
    now.push({ role: "user", text: sealed.block });
  });
  return opened(dialogue.facts, { messages, sealed: sealed!, compacting, sealer });
}

function sealedAlways(dialogue: Dialogue, compacting: Compacting, sealer: Sealer): Outcome {
  let sealed: Sealed | undefined;
  const messages = grown(dialogue, compacting, (now, writes) => {
    // Between two compactions the text is whole, and each block says what the one before it said with what is new.
    const known = sealed === undefined ? undefined : found(textOf(now), sealed, sealer);
    sealed = sealedOf(after(known ?? new Map(), writes), sealer);
    for (const [i, { role, text }] of now.entries())
      now[i] = { role, text: text.replace(/\[MEM\][^[]*\[\/MEM\]/g, "(state)") };
    const { role, text } = now.pop()!;
    now.push({ role, text: `${text}\n${sealed.block}` });
  });
  return opened(dialogue.facts, { messages, sealed: sealed!, compacting, sealer });
}

interface Sealed {
  readonly block: string;
  /** What it holds. */
  readonly state: State;
}

function sealedOf(state: State, sealer: Sealer): Sealed {
  const block = sealer.seal(state);
  return { block, state: sealer.open(block, block)! };
}

/** What can be read of a block in a text; a whole one holds what it held. */
function found(text: string, { block, state }: Sealed, sealer: Sealer): State | undefined {
  return text.includes(block) ? state : sealer.open(text, block);
}

interface Carried {
  readonly messages: readonly Message[];
  readonly sealed: Sealed;
  readonly compacting: Compacting;
  readonly sealer: Sealer;
}

function opened(facts: readonly GoldFact[], { messages, sealed, compacting, sealer }: Carried): Outcome {
  const text = textOf(messages);
  const state = found(text, sealed, sealer);
  return {
    ...fatesInFacts(facts, state ?? new Map()),
    tokens: compacting.count(text),
    notSealed: 100 - fatesInFacts(facts, sealed.state).exact,
    unreadable: state === undefined ? 100 : 0,
  };
}

type Writes = Dialogue["turns"][number]["writes"];

/** @param before what happens before each compaction, with all that was written since the last one */
function grown(
  dialogue: Dialogue,
  compacting: Compacting,
  before: (now: Message[], writes: Writes) => void,
): Message[] {
  const { compact, count, budget = BUDGET } = compacting;
  const due = new Set(compactionTurns(dialogue, compacting));
  let messages: Message[] = [];
  let writes: Writes = [];
  for (const [i, turn] of dialogue.turns.entries()) {
    messages.push(...messagesOf(turn));
    writes = [...writes, ...turn.writes];
    if (!due.has(i)) continue;
    before(messages, writes);
    writes = [];
    messages = compact(messages, budget, count);
  }
  return messages;
}

const messagesOf = ({ user, assistant }: { user: string; assistant: string }): Message[] => [
  { role: "user", text: user },
  { role: "assistant", text: assistant },
];

/** A value that is written again is the latest. */
export function after(state: State, writes: Writes): State {
  const next = new Map(state);
  for (const { label, value } of writes) {
    next.delete(label);
    if (value !== undefined) next.set(label, value);
  }
  return next;
}
