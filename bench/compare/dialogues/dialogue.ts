/**
 * Made dialogues with gold slots. A user states facts over 30 to 80 turns, in varied sentences; a quarter of them are changed later,
 * some are mentioned again, some are taken back. Between these stand turns with values of the same kinds that are no facts (other
 * people's, rejected ones) and ordinary talk. The same seed gives the same dialogue on every machine.
 *
 * The gold is what a script writes to each memory: it stands for an extraction without faults ("oracle extraction").
 */

import { type Random, seededRandom } from "../../../src/base/random.ts";
import { freshValue } from "./slot-values.ts";
import { type Slot, TOPICS } from "./topics.ts";

/** What a turn says of a slot: its value now, or that it has none any more. */
export interface GoldWrite {
  readonly label: string;
  readonly value: string | undefined;
}

export interface Turn {
  readonly user: string;
  readonly assistant: string;
  readonly writes: readonly GoldWrite[];
}

export interface GoldFact {
  readonly label: string;
  /** All that it has been, the newest last. */
  readonly values: readonly string[];
  /** The sentence that took it back, if one did. */
  readonly takenBack?: string;
}

export interface Dialogue {
  readonly topic: string;
  readonly turns: readonly Turn[];
  readonly facts: readonly GoldFact[];
}

const TURNS = { min: 30, max: 80 };
const SLOTS = { min: 8, max: 40 };
const CHANGED = 0.25;
const TAKEN_BACK = 0.08;
const MENTIONED = 0.3;
const ECHOED = 0.4;
const DISTRACTING = 0.4;

const lines = (text: string) => text.trim().split("\n");

const STATED = lines(`
{Called} is {value}.
Please note {called}: {value}.
For {called} we agreed on {value}.
I have {called} now: {value}.
By the way, {called} will be {value}.
{value}, that is {called}.
You asked about {called}. It is {value}.
Write down {value} as {called}, please.
It took a while, but {called} is settled: {value}.`);
const REPLACED = lines(`
Correction: {called} is {value}, not {before}.
{Called} has changed, it is {value} now.
Scrap that, {called} is {value} after all.
They moved it again: {called} is now {value} instead of {before}.
I was wrong about {called}. The right one is {value}.`);
const MENTIONED_AGAIN = lines(`
As I said, {called} is {value}.
Does {value} still fit as {called}?
I told my sister that {called} is {value}.
Good that {called} stays {value}.`);
const DROPPED = lines(`
Forget what I said about {called}, it no longer applies.
Please drop {called} altogether, I do not need it any more.
Take {called} off the list again, that is over.`);
const NO_FACTS = lines(`
My neighbour has {value} for {called}, but that is not mine.
We looked at {value} for {called} and decided against it.
A friend suggested {value}, which is not for us.
The old form still said {value} for {called}, ignore that.
Somebody else in the thread gave {value}, which has nothing to do with {called}.
There was an offer of {value} instead, and I said no.`);
const TALK = lines(`
How long does something like {thing} usually take?
I was thinking about {thing} again last night.
What would you look at first with {thing}?
My cousin says that {thing} is always more work than people think.
Is there anything about {thing} that I have overlooked?
Let us leave {thing} for later.
Could you explain once more why {thing} matters here?
That sounds right, and {thing} can wait.`);
/** Advice is put together of three parts, so that it is hardly ever the same. */
const ADVICE = [
  lines(`
With {thing} it helps to start early
I would not decide about {thing} in a hurry
Most people underestimate {thing}
You could ask somebody who has dealt with {thing}
There is no single right answer for {thing}
A colleague of mine had trouble with {thing}
If {thing} turns out to be difficult, we try another way
The usual mistake with {thing} is to wait too long
Whatever happens with {thing} can be repaired
It pays to look at {thing} twice`),
  lines(`
, and a day in reserve does no harm
, because prices and rules change every season
, so a short list is worth its ten minutes
, even where everything seems to be arranged
, as long as one person feels responsible
, especially with children or older people around
, which many guides leave out
, and written agreements spare you arguments
, though the weather has the last word
, provided that nobody else depends on it`),
  lines(`
.
; tell me when anything is different.
; the rest is patience.
; two evenings should be enough.
; I can explain the reasons if you like.
; after that the order of the steps hardly matters.
; otherwise we come back to it next week.
; a photograph of the present state often helps.`),
];
const HEARD = lines(`
Thank you, I have that.
Good, that is clear now.
All right.
Understood, we go on with that.`);
const PASSED_OVER = lines(`
Understood, I leave that out.
Then that is not for you.
All right, that does not count.`);

interface Event {
  readonly at: number;
  readonly say: (random: Random) => Said;
}

interface Said {
  readonly user: string;
  readonly assistant: string;
  readonly write?: GoldWrite;
}

/** The dialogues of a run, in turn about each topic. */
export function makeDialogues(run: number, count: number): Dialogue[] {
  return Array.from({ length: count }, (_, i) => makeDialogue(run * 100_000 + i, i));
}

export function makeDialogue(seed: number, number: number): Dialogue {
  const random = seededRandom(seed);
  const topic = TOPICS[number % TOPICS.length]!;
  const slots = random.shuffle([...topic.slots]).slice(0, between(random, SLOTS.min, SLOTS.max));
  const turnCount = between(random, Math.max(TURNS.min, Math.ceil(1.5 * slots.length)), TURNS.max);
  const used = new Set<string>();
  const changed = Math.round(CHANGED * slots.length);
  const dropped = Math.ceil(TAKEN_BACK * slots.length);
  const lives = slots.map((slot, i) =>
    // The order is random already.
    makeLife(random, slot, { changes: i < changed, ends: i >= slots.length - dropped, used }),
  );
  const byTurn = Array.from({ length: turnCount }, () => [] as Event[]);
  for (const event of lives.flatMap((life) => life.events).sort((a, b) => a.at - b.at))
    byTurn[Math.floor(event.at * turnCount)]!.push(event);
  const turns = byTurn.map((events) => {
    const thing = () => (random.below(2) === 0 ? random.pick(topic.things) : random.pick(slots).called);
    const said = events.map(({ say }) => say(random));
    if (said.length === 0) said.push(aside(random, random.pick(slots), used, thing()));
    const advice = Array.from({ length: 1 + random.below(3) }, () =>
      fill(ADVICE.map((part) => random.pick(part)).join(""), { thing: yours(thing()) }),
    );
    return {
      user: said.map(({ user }) => user).join(" "),
      assistant: [...said.map(({ assistant }) => assistant), ...new Set(advice)].join(" "),
      writes: said.flatMap(({ write }) => write ?? []),
    };
  });
  return { topic: topic.name, turns, facts: lives.map(({ fact }) => fact) };
}

interface Fate {
  readonly changes: boolean;
  readonly ends: boolean;
  readonly used: Set<string>;
}

/** When a slot is stated, changed, mentioned again and taken back, and in which words. */
function makeLife(random: Random, slot: Slot, { changes, ends, used }: Fate) {
  const { label, called, kind } = slot;
  const count = changes ? 2 + Number(random.below(4) === 0) : 1;
  const values = Array.from({ length: count }, () => freshValue(random, kind, used));
  const again = random.unit() < MENTIONED;
  const times = Array.from({ length: count + Number(again) + Number(ends) }, () => random.unit()).sort();
  const events = values.map((value, i): Event => {
    const before = values[i - 1];
    const at = times[i]!;
    return { at, say: (say) => stated(say, { label, called, value, before }) };
  });
  const newest = values.at(-1)!;
  if (again)
    events.push({
      at: times[count]!,
      say: (say) => ({
        user: fill(say.pick(MENTIONED_AGAIN), { called, value: newest }),
        assistant: say.pick(HEARD),
      }),
    });
  const takenBack = ends ? fill(random.pick(DROPPED), { called }) : undefined;
  if (takenBack !== undefined)
    events.push({
      at: times.at(-1)!,
      say: (say) => ({ user: takenBack, assistant: say.pick(HEARD), write: { label, value: undefined } }),
    });
  const fact: GoldFact = takenBack === undefined ? { label, values } : { label, values, takenBack };
  return { events, fact };
}

function stated(
  random: Random,
  {
    label,
    called,
    value,
    before,
  }: { label: string; called: string; value: string; before: string | undefined },
): Said {
  const user = fill(random.pick(before === undefined ? STATED : REPLACED), { called, value, before });
  const echo = fill("Noted: {called} is {value}.", { called: yours(called), value });
  return { user, assistant: random.unit() < ECHOED ? echo : random.pick(HEARD), write: { label, value } };
}

/** As the assistant calls it. */
const yours = (called: string) =>
  called
    .replace(/\bmy\b/g, "your")
    .replace(/\bI am\b/g, "you are")
    .replace(/\bI\b/g, "you");

/** A turn without a fact: a value that is none, or talk. */
function aside(random: Random, slot: Slot, used: Set<string>, thing: string): Said {
  if (random.unit() >= DISTRACTING)
    return { user: fill(random.pick(TALK), { thing }), assistant: random.pick(HEARD) };
  const value = freshValue(random, slot.kind, used);
  return {
    user: fill(random.pick(NO_FACTS), { called: slot.called, value }),
    assistant: random.pick(PASSED_OVER),
  };
}

function between(random: Random, min: number, max: number): number {
  return min + random.below(max - min + 1);
}

function fill(
  sentence: string,
  { called, value, before, thing }: Readonly<Record<string, string | undefined>>,
): string {
  const parts: Readonly<Record<string, string | undefined>> = {
    called,
    Called: called === undefined ? undefined : called.charAt(0).toUpperCase() + called.slice(1),
    value,
    before,
    thing,
  };
  return sentence.replace(/\{(\w+)\}/g, (_, name: string) => parts[name] ?? "");
}
