/** The experiment with compactions (bench/compare/dialogues): made dialogues, ways to compact, and what is counted. */

import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";
import { after, compactionTurns, outcomeOf } from "../../bench/compare/dialogues/compactions.ts";
import { type Dialogue, makeDialogues } from "../../bench/compare/dialogues/dialogue.ts";
import { fatesInFacts, fatesInText, spreadOf } from "../../bench/compare/dialogues/fates.ts";
import { Sealer } from "../../bench/compare/dialogues/sealed.ts";
import { type Message, STRATEGIES, textOf } from "../../bench/compare/dialogues/strategies.ts";

const words = (text: string) => text.match(/\S+/g)?.length ?? 0;
const said = (turns: readonly (readonly [string, string])[]): Message[] =>
  turns.flatMap(([user, assistant]) => [
    { role: "user" as const, text: user },
    { role: "assistant" as const, text: assistant },
  ]);

test("the same seed makes the same dialogues, on every machine", () => {
  const made = JSON.stringify(makeDialogues(1, 20));
  assert.equal(createHash("sha256").update(made).digest("hex").slice(0, 16), "7006a63d56a68388");
  assert.notEqual(JSON.stringify(makeDialogues(2, 20)), made);
});

test("a dialogue says its gold slots word for word where it says them, and ends with what its facts are", () => {
  for (const { turns, facts } of makeDialogues(3, 60)) {
    assert.ok(turns.length >= 30 && turns.length <= 80, `${turns.length} turns`);
    assert.ok(facts.length >= 8 && facts.length <= 40, `${facts.length} slots`);
    const changed = facts.filter(({ values }) => values.length > 1);
    assert.equal(changed.length, Math.round(facts.length / 4));
    for (const { user, writes } of turns)
      for (const { label, value } of writes) {
        const fact = facts.find((each) => each.label === label)!;
        assert.ok(user.includes(value ?? fact.takenBack!), `${label} in ${user}`);
      }
    const end = after(
      new Map(),
      turns.flatMap(({ writes }) => writes),
    );
    const newest = facts.flatMap(({ label, values, takenBack }) =>
      takenBack === undefined ? [[label, values.at(-1)] as const] : [],
    );
    assert.deepEqual(new Map([...end].sort()), new Map([...newest].sort()));
    // Nothing but the values themselves has a value in it.
    const values = facts.flatMap((fact) => fact.values);
    for (const value of values)
      assert.deepEqual(
        values.filter((other) => other.includes(value)),
        [value],
      );
  }
});

const TALK = said([
  ["one two three", "four five"],
  ["six seven", "eight nine ten"],
  ["eleven", "twelve"],
]);

test("each way to compact keeps what it says", () => {
  const kept = (name: string, budget: number) => textOf(STRATEGIES[name]!(TALK, budget, words));
  assert.equal(kept("last turns", 11), textOf(TALK.slice(2)));
  assert.equal(kept("last turns", 10), textOf(TALK.slice(4)));
  assert.equal(kept("last turns", 1), textOf(TALK.slice(4)));
  assert.equal(kept("trim", 7), `assistant: nine ten\n${textOf(TALK.slice(4))}`);
  assert.equal(
    kept("head and tail", 11),
    "user: one two three …7 tokens truncated… \nuser: eleven\nassistant: twelve\n",
  );
  assert.equal(kept("head and tail", 18), textOf(TALK));
});

test("TextRank keeps the sentences that share words, and Selective Context the rare words", () => {
  const sentences =
    "Red paint dries slowly here. Zebra. Paint dries slowly indoors. Here paint dries slowly outdoors.";
  const talk: Message[] = [{ role: "user", text: sentences }];
  const [ranked] = STRATEGIES.TextRank!(talk, 11, words);
  assert.equal(ranked?.text, "Red paint dries slowly here. Here paint dries slowly outdoors.");
  const [rare] = STRATEGIES["Selective Context"]!(talk, 5, words);
  assert.equal(rare?.text, "Red Zebra. indoors. outdoors.");
});

test("no way to compact goes over its budget, and a second time at once changes nothing it could keep", () => {
  for (const { turns } of makeDialogues(5, 5))
    for (const [name, compact] of Object.entries(STRATEGIES)) {
      const once = compact(said(turns.map(({ user, assistant }) => [user, assistant])), 300, words);
      assert.ok(words(textOf(once)) <= 300, `${name}: ${words(textOf(once))}`);
      assert.equal(textOf(compact(once, 1_000, words)), textOf(once), name);
    }
});

const FACTS = [
  { label: "USER.name", values: ["Ada Okafor"] },
  { label: "TRAVEL.hotel", values: ["Hotel Brisa", "Casa Orla"] },
  { label: "TRAVEL.seat", values: ["12A", "14C"] },
  { label: "PREF.tone", values: ["dry"], takenBack: "Forget the tone." },
  { label: "USER.location", values: ["old Graz"], takenBack: "Forget the town." },
];

test("a fact is exact, stale or lost, and one that was taken back is there again or not", () => {
  const text = "Casa Orla, not Hotel Brisa. Seat 12A. Be dry. Forget the tone. From old Graz.";
  const fates = fatesInText(FACTS, text);
  assert.deepEqual(
    [fates.exact, fates.stale, fates.lost, fates.returned].map((share) => Math.round(share!)),
    [33, 33, 33, 50],
  );
  const found = new Map([
    ["USER.name", "Ada Okafor"],
    ["TRAVEL.hotel", "Hotel Brisa"],
    ["TRAVEL.seat", "14D"],
    ["PREF.tone", "dry"],
  ]);
  assert.deepEqual(fatesInFacts(FACTS, found), fates);
  assert.deepEqual(spreadOf([4, 1, 3, 2, 0]), { mean: 2, p5: 0, p95: 4 });
});

/** Six turns of ten words, roles counted; one fact in each of the first three and in the last. */
const DIALOGUE: Dialogue = {
  topic: "made by hand",
  facts: [
    { label: "USER.name", values: ["Ada"] },
    { label: "HOME.paint", values: ["green", "blue"] },
    { label: "HOME.vet", values: ["Orla"] },
  ],
  turns: [
    ["My name is Ada", "USER.name", "Ada"],
    ["The paint is green", "HOME.paint", "green"],
    ["The vet is Orla", "HOME.vet", "Orla"],
    ["Nothing at all today"],
    ["Nothing at all again"],
    ["Now paint is blue", "HOME.paint", "blue"],
  ].map(([user = "", label, value]) => ({
    user,
    assistant: "Thank you for that",
    writes: label === undefined ? [] : [{ label, value }],
  })),
};

test("a conversation is compacted as often as asked, for the last time at its end", () => {
  const turns = (compactions: number) => compactionTurns(DIALOGUE, { compactions, count: words, budget: 25 });
  assert.deepEqual([turns(1), turns(3)], [[5], [3, 4, 5]]);
  const bare = (name: string, compactions: number) => {
    const compacting = { compact: STRATEGIES[name]!, compactions, count: words, budget: 25 };
    const { exact, stale, lost } = outcomeOf(DIALOGUE, "nothing", compacting, sealer);
    return [exact, stale, lost].map(Math.round);
  };
  // Two turns are left, and the vet is in none of them.
  assert.deepEqual(bare("last turns", 3), [33, 0, 67]);
  // Eleven words from the start have the name; the end has the new colour.
  assert.deepEqual(bare("head and tail", 1), [67, 0, 33]);
});

const sealer = new Sealer();

test("a block that is put in once goes with its turn; one that comes with every answer stays", () => {
  const run = (way: "block once" | "block with every answer", compactions: number, budget = 560) => {
    const compacting = { compact: STRATEGIES["last turns"]!, compactions, count: words, budget };
    const long = {
      ...DIALOGUE,
      turns: [...Array.from({ length: 60 }, () => DIALOGUE.turns[3]!), ...DIALOGUE.turns],
    };
    return outcomeOf(long, way, compacting, sealer);
  };
  const once = run("block once", 1);
  assert.deepEqual([once.exact, once.notSealed, once.unreadable], [100, 0, 0]);
  // Before the first of three compactions nothing was known yet, and the second cut the block away.
  const early = run("block once", 3);
  assert.deepEqual([early.exact, early.lost, early.notSealed, early.unreadable], [0, 100, 100, 100]);
  const always = run("block with every answer", 3);
  assert.deepEqual([always.exact, always.stale, always.unreadable], [100, 0, 0]);
});

test("a block cut short is mended, one cut to pieces is lost, and what it held comes back word for word", () => {
  const state = new Map(FACTS.map(({ label, values }) => [label, values.at(-1)!]));
  const block = sealer.seal(state);
  assert.deepEqual(new Map([...sealer.open(`x ${block} y`, block)!].sort()), new Map([...state].sort()));
  const cut = block.split(" ").slice(0, 350).join(" ");
  assert.deepEqual(new Map([...sealer.open(cut, block)!].sort()), new Map([...state].sort()));
  const pieces = block.split(" ").filter((_, i) => i % 8 === 0);
  assert.equal(sealer.open(pieces.join(" "), block), undefined);
  assert.equal(sealer.open("no word of a block", block), undefined);
});
