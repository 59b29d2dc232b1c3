/** Facts by words: what counts as a word, how alike words are, what weighs more, and a set of questions about a life. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { editDistance } from "../../../src/base/edit-distance.ts";
import { seededRandom } from "../../../src/base/random.ts";
import { atOnce } from "../../../src/base/slices.ts";
import { FactIndex, type FindableFact } from "../../../src/find/find-facts.ts";
import { QueryWords, similarityOf } from "../../../src/find/query-words.ts";
import { stemOf, wordsOf } from "../../../src/find/words.ts";
import { fieldsOf } from "../../fixtures/fields.ts";
import {
  LIFE_FACTS,
  LIFE_QUESTIONS,
  ONE_LIFE,
  ONE_LIFE_QUESTIONS,
  otherFacts,
  TWO_LIVES,
  TWO_LIVES_QUESTIONS,
} from "./questions.ts";

/** Facts that are looked through once. */
function* findFacts<F extends FindableFact>(facts: Iterable<F>, query: string, limit: number) {
  const index = yield* FactIndex.of(facts);
  return yield* index.find(query, limit);
}
const labelsFor = (facts: readonly FindableFact[], query: string, limit = 10) =>
  atOnce(findFacts(facts, query, limit)).map(({ fact }) => fact.label);
const similarityOfWords = (query: string, text: string) => {
  const [asked, [word]] = [new QueryWords(query).asked[0], wordsOf(text)];
  return similarityOf(asked, { text: word, stem: stemOf(word) });
};
const fact = (label: string, value: string, description?: string): FindableFact => ({
  label,
  value,
  description,
});

test("words are small letters without accents; scripts without spaces are taken in pairs", () => {
  assert.deepEqual(wordsOf("FAMILY.wife_birthday"), ["family", "wife", "birthday"]);
  assert.deepEqual(wordsOf("Müller’s Çafé, STRASSE/Straße"), ["muller", "s", "cafe", "strasse", "strasse"]);
  assert.deepEqual(wordsOf("誕生日は5月"), ["誕生", "生日", "は", "5", "月"]);
  assert.deepEqual(wordsOf("我的妻子"), ["妻子"]);
  assert.deepEqual(wordsOf("생일 케이크"), ["생일", "케이", "이크"]);
  assert.deepEqual(wordsOf("🎂 … !"), []);
});

test("a word is found by its forms, its beginning, a part and a slip, and by no other word", () => {
  const similarity = (asked: string, word: string) => similarityOfWords(asked, word)?.similarity ?? 0;
  const falling = ["allergy", "allergies", "alergy", "allergic", "alllegry"].map((asked) =>
    similarity(asked, "allergy"),
  );
  assert.deepEqual(falling, [...falling].sort().reverse());
  assert.equal(falling[0], 1);
  for (const [asked, word] of [
    ["aller", "Allergie"],
    ["Allergien", "allergy"],
    ["Arzt", "Hausarzt"],
    ["Kinder", "Kind"],
    ["Geburtstagskuchen", "Geburtstag"],
    ["wfie", "wife"],
    ["passport", "passports"],
    ["2026", "202612"],
    ["猫", "黒猫"],
  ])
    assert.ok(similarity(asked, word) > 0, `${asked} is like ${word}`);
  for (const [asked, word] of [
    ["cat", "car"],
    ["2026", "2025"],
    ["wi", "wife"],
    ["birthday", "holiday"],
    ["port", "sport2"],
    ["誕生", "生日"],
  ])
    assert.equal(similarity(asked, word), 0, `${asked} is not ${word}`);
});

test("what is one edit away is found, whatever the edit", () => {
  const random = seededRandom(11);
  for (let i = 0; i < 2_000; i++) {
    const letters = () => Array.from({ length: 5 + random.below(5) }, () => random.pick([..."abcdefgh"]));
    const word = letters();
    const typed = [...word];
    const at = random.below(word.length);
    const edit = random.below(4);
    if (edit === 0) typed.splice(at, 1);
    if (edit === 1) typed.splice(at, 0, "x");
    if (edit === 2) typed[at] = "x";
    if (edit === 3 && at > 0) [typed[at - 1], typed[at]] = [typed[at], typed[at - 1]];
    const [asked, known] = [typed.join(""), word.join("")];
    assert.ok(editDistance(asked, known) <= 1);
    assert.ok(similarityOfWords(asked, known) !== undefined, `${asked} finds ${known}`);
  }
});

test("more words of the query count before better ones, and label before description before value", () => {
  const facts = [
    fact("FAMILY.wife", "Grace"),
    fact("FAMILY.wife_birthday", "14 May"),
    fact("HEALTH.allergy", "nuts"),
  ];
  assert.deepEqual(labelsFor(facts, "wife birthday"), ["FAMILY.wife_birthday", "FAMILY.wife"]);
  assert.deepEqual(labelsFor(facts, "birtday of my wfie"), ["FAMILY.wife_birthday", "FAMILY.wife"]);
  assert.deepEqual(labelsFor(facts, "alergy"), ["HEALTH.allergy"]);
  const fields = [
    fact("A.value", "about the boat"),
    fact("B.text", "x", "about the boat"),
    fact("C.boat", "x"),
  ];
  assert.deepEqual(labelsFor(fields, "boat"), ["C.boat", "B.text", "A.value"]);
  assert.deepEqual(labelsFor([fact("HOME.wife_car", "x"), fact("HOME.wife", "x")], "wife"), [
    "HOME.wife",
    "HOME.wife_car",
  ]);
});

test("rare words weigh more, words without a meaning do not decide, and alone they count", () => {
  const facts = [
    ...Array.from({ length: 20 }, (_, i) => fact(`NOTE.car_${i}`, "what is mine is the car")),
    fact("NOTE.radio", "in the shed"),
  ];
  assert.equal(labelsFor(facts, "car radio")[0], "NOTE.radio");
  assert.deepEqual(labelsFor(facts, "what is the radio"), ["NOTE.radio"]);
  assert.deepEqual(labelsFor(facts, "wo ist das Radio, bitte?"), ["NOTE.radio"]);
  assert.equal(labelsFor(facts, "what is").length, 10);
  const named = [fact("USER.name", "Ada"), fact("FAMILY.mother", "Ruth"), fact("HOME.wifi_name", "Loom")];
  assert.equal(labelsFor(named, "what is the name of my mothr")[0], "FAMILY.mother");
  assert.equal(labelsFor(named, "my full name")[0], "USER.name");
});

test("a slip counts little where a fact has the word itself", () => {
  const facts = [fact("HOME.wifi", "Loom"), fact("FAMILY.wife", "Grace")];
  const [first, second] = atOnce(findFacts(facts, "wifi", 10));
  assert.equal(first.fact.label, "HOME.wifi");
  assert.equal(second, undefined);
  assert.deepEqual(labelsFor(facts, "wiffi"), ["HOME.wifi"]);
  const plates = [fact("HOME.plate", "blue"), fact("HOME.slate", "grey roof"), fact("HOME.place", "Leiden")];
  const scores = new Map(atOnce(findFacts(plates, "place", 10)).map((one) => [one.fact.label, one.score]));
  assert.ok(scores.get("HOME.plate")! < scores.get("HOME.place")! / 2);
});

test("a short word with another letter is a guess: said to be one, and left out where anything else is found", () => {
  const facts = [
    fact("HOME.wifi", "Loom"),
    fact("FAMILY.boys", "Tom and Ben"),
    fact("CAR.key", "in the hall"),
  ];
  for (const [query, label] of [
    ["wife", "HOME.wifi"],
    ["who is my boss", "FAMILY.boys"],
  ])
    assert.deepEqual(
      atOnce(findFacts(facts, query, 10)).map((one) => [one.fact.label, one.isGuess]),
      [[label, true]],
    );
  assert.deepEqual(labelsFor(facts, "wife car"), ["CAR.key"]);
  const sure = (query: string, label: string) =>
    assert.equal(atOnce(findFacts([fact(label, "x")], query, 1))[0].isGuess, false, `${query} is ${label}`);
  sure("mony", "X.money");
  sure("fiwi", "X.fiwi");
  sure("wfie", "X.wife");
  sure("plumer", "X.plumber");
});

test("a letter with a mark and its spelling without one find each other, in labels and in values", () => {
  const facts = [
    fact("CAR.tuev", "June"),
    fact("CAR.papers", "Ålesund"),
    fact("HOME.garage", "TÜV is next door"),
    fact("PEOPLE.bo", "Søren Mueller, Strasse 5"),
  ];
  for (const [query, ...labels] of [
    ["TÜV", "CAR.tuev", "HOME.garage"],
    ["TUEV", "CAR.tuev", "HOME.garage"],
    ["tu\u0308v", "CAR.tuev", "HOME.garage"],
    ["aalesund", "CAR.papers"],
    ["soeren", "PEOPLE.bo"],
    ["Müller", "PEOPLE.bo"],
    ["Straße", "PEOPLE.bo"],
  ])
    assert.deepEqual(labelsFor(facts, query), labels, query);
});

test("what may be another thing is unsure: a far slip, or half of the words and none in the name", () => {
  const facts = [
    fact("CHARITY.monthly", "Médecins Sans Frontières"),
    fact("PHONE.babysitter", "0171 222"),
    fact("HEALTH.pills", "blood pressure tablets"),
  ];
  const unsure = (query: string) =>
    atOnce(findFacts(facts, query, 10)).map((one) => [one.fact.label, one.isUnsure]);
  assert.deepEqual(unsure("medicine"), [["CHARITY.monthly", true]]);
  assert.deepEqual(unsure("pediatrician phone"), [["PHONE.babysitter", true]]);
  for (const query of ["babysitter phone", "phone", "babysiter", "what is the number of our babysitter"])
    assert.deepEqual(unsure(query), [["PHONE.babysitter", false]], query);
  assert.deepEqual(unsure("pills tonight"), [["HEALTH.pills", false]]);
});

test("places that were not asked for come after an equal fact, and are found", () => {
  const here = fact("TASK.next", "paint the fence");
  const there = { ...here, isElsewhere: true };
  const found = atOnce(findFacts([there, here], "fence", 10));
  assert.deepEqual(fieldsOf(found, "fact"), [here, there]);
  const better = { ...fact("TASK.fence_paint", "green"), isElsewhere: true };
  const weak = fact("NOTE.today", "paint");
  assert.equal(labelsFor([weak, better], "fence paint")[0], "TASK.fence_paint");
});

test("the order is the same every time, and equal facts come by label", () => {
  const facts = ["NOTE.c", "NOTE.a", "NOTE.b"].map((label) => fact(label, "the same"));
  assert.deepEqual(labelsFor(facts, "same"), ["NOTE.a", "NOTE.b", "NOTE.c"]);
  assert.deepEqual(labelsFor([...facts].reverse(), "same", 2), ["NOTE.a", "NOTE.b"]);
});

test("nothing is found by nothing, by signs alone, and by words that no fact has", () => {
  for (const query of ["", "?!", "zebra crossing"]) assert.deepEqual(labelsFor(LIFE_FACTS, query), []);
  assert.deepEqual(labelsFor([], "wife"), []);
});

test("a long query and long values are compared in bounded pieces", () => {
  const words = (count: number) => Array.from({ length: count }, (_, i) => `word${i}x`).join(" ");
  const facts = Array.from({ length: 100 }, (_, i) => fact(`NOTE.n${i}`, words(120)));
  const search = findFacts(facts, words(500), 10);
  let steps = 0;
  for (let step = search.next(); !step.done; step = search.next()) steps += 1;
  assert.ok(steps >= facts.length);
  assert.equal(new QueryWords(words(500)).weights.length, 16);
});

test("questions about a life are answered among 1,000 facts: at least 19 of 20 in the first five", () => {
  const facts = [...otherFacts(1_000 - LIFE_FACTS.length), ...LIFE_FACTS];
  const index = atOnce(FactIndex.of(facts));
  const found = LIFE_QUESTIONS.map(({ question, label }) =>
    atOnce(index.find(question, 5)).findIndex(({ fact }) => fact.label === label),
  );
  const missed = LIFE_QUESTIONS.filter((_, i) => found[i] < 0).map(({ question }) => question);
  assert.ok(missed.length <= LIFE_QUESTIONS.length / 20, missed.join("\n"));
  const first = found.filter((at) => at === 0).length;
  assert.ok(first >= 0.9 * LIFE_QUESTIONS.length, `${first} first`);
});

for (const [name, facts, asked] of [
  ["two lives", TWO_LIVES, TWO_LIVES_QUESTIONS],
  ["one life", ONE_LIFE, ONE_LIFE_QUESTIONS],
] as const)
  test(`questions of people who have not seen the engine are answered in the first five: ${name}`, () => {
    const index = atOnce(FactIndex.of(facts));
    for (const [kind, share] of [
      ["words", 0.98],
      ["slip", 0.95],
    ] as const) {
      const questions = asked.filter((one) => one.kind === kind);
      const missed = questions.filter(
        ({ question, labels }) =>
          !atOnce(index.find(question, 5)).some(({ fact }) => labels.includes(fact.label)),
      );
      const texts = missed.map(({ question }) => question).join("\n");
      assert.ok(missed.length <= questions.length * (1 - share), `${kind}: ${texts}`);
    }
  });
