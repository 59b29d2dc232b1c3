/** The block on its own: sealed and opened without a service, whatever happened to the text that carries it. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { seededRandom } from "../../../src/base/random.ts";
import { BlockError, newKey, type OpenedFacts, open, seal } from "../../../src/block/index.ts";
import { blockKeyOf } from "../../../src/block/keys.ts";
import { buildBlock } from "../../../src/codec/block.ts";
import { PLAIN_CODEBOOK } from "../../../src/codec/codebook.ts";
import { READER_WEIGHTS } from "../../../src/reader/weights-path.ts";

const key = newKey();
const user = "conversation 7";
const facts = {
  "USER.name": "Ada Okafor",
  "TASK.current": "return of order 4711",
  "PREF.language": "Dutch, then English\nnever both",
  "ORDER.number": "4711-93",
};
const common = { key, user, compress: false };

async function opened(text: string, more: object = {}): Promise<OpenedFacts> {
  const result = await open({ ...common, text, ...more });
  assert.ok(result.ok, JSON.stringify(result));
  return result;
}

test("what is sealed is opened exactly, with the reader model and without it, and the same call gives the same block", async () => {
  for (const compress of [true, false]) {
    const block = await seal({ ...common, facts, compress });
    assert.match(block, /^\[MEM\]( [A-Za-z]+){512} \[\/MEM\]$/);
    assert.equal(await seal({ ...common, facts, compress }), block);
    const { margin, ...rest } = await opened(block);
    assert.deepEqual(rest, { ok: true, facts, counter: 1, repaired: 0, blocks: 1 });
    assert.ok(margin > (compress ? 440 : 380), `${margin}`);
  }
});

test("a block opens in other text, retyped, cut and split over messages", async () => {
  const block = await seal({ ...common, facts });
  const words = block.split(" ");
  const random = seededRandom(7);
  const texts: Record<string, string> = {
    "in a transcript": `user: hello there\nassistant: state ${block}\nuser: thanks`,
    "in capitals, without markers": words.slice(1, -1).join("\n").toUpperCase(),
    "with a third of its words cut": words.filter(() => random.below(3) > 0).join(" "),
    "split over three messages": [words.slice(0, 170), words.slice(170, 333), words.slice(333)]
      .map((part, i) => `message ${i}: ${part.join(" ")}`)
      .join("\n\n"),
  };
  for (const [how, text] of Object.entries(texts)) assert.deepEqual((await opened(text)).facts, facts, how);
  assert.ok((await opened(texts["with a third of its words cut"])).repaired > 100);
});

test("of several blocks the newest counts, wherever it stands, and copies count once", async () => {
  const first = await seal({ ...common, facts: { "ORDER.number": "1" } });
  const second = await seal({ ...common, facts: { "ORDER.number": "2" }, after: await opened(first) });
  const third = await seal({ ...common, facts: { "ORDER.number": "3" }, after: await opened(second) });
  for (const order of [
    [first, second, third],
    [third, second, first],
    [second, third, third, first],
  ]) {
    const { facts, counter, blocks } = await opened(order.join("\n and then \n"));
    assert.deepEqual([facts, counter, blocks], [{ "ORDER.number": "3" }, 3, 3]);
  }
  // A block of another conversation is none, wherever it stands.
  const foreign = await seal({ ...common, user: "conversation 8", facts: { "ORDER.number": "9" } });
  assert.equal((await opened(`${third} ${foreign}`)).facts["ORDER.number"], "3");
});

test("of two blocks that are equally new the last in the text counts", async () => {
  // Two sealed after the same one, as when a turn is tried again.
  const [one, other] = await Promise.all(
    ["1", "2"].map((number) => seal({ ...common, facts: { "ORDER.number": number } })),
  );
  for (const [text, number] of [
    [`${one} and then ${other}`, "2"],
    [`${other} and then ${one}`, "1"],
  ]) {
    const { facts, counter, blocks } = await opened(text);
    assert.deepEqual([facts, counter, blocks], [{ "ORDER.number": number }, 1, 2]);
  }
});

test("another key or user opens nothing, and several keys are tried, also those whose ids are the same", async () => {
  const block = await seal({ ...common, facts });
  const bytes = (text: string) => Buffer.from(text.slice(4), "base64url");
  const twin = bytes(newKey());
  twin[0] = bytes(key)[0];
  const sameId = `sbk_${twin.toString("base64url")}`;
  for (const more of [{ key: newKey() }, { key: sameId }, { user: "conversation 8" }]) {
    const refused = await open({ ...common, ...more, text: block });
    assert.equal(refused.ok, false);
    assert.ok(!refused.ok && refused.kind === "foreign", JSON.stringify(refused));
  }
  for (const keys of [
    [newKey(), key],
    [sameId, key],
    [key, sameId, key],
  ])
    assert.deepEqual((await opened(block, { key: keys })).facts, facts);
  const none = await open({ ...common, text: "nothing here" });
  assert.ok(!none.ok && none.kind === "no-block");
  const altered = block.split(" ").reverse().join(" ");
  assert.equal((await open({ ...common, text: altered })).ok, false);
});

test("what does not fit is refused with its labels, and nothing is dropped silently", async () => {
  const random = seededRandom(3);
  const noise = () => Array.from({ length: 600 }, () => String.fromCharCode(48 + random.below(64))).join("");
  const long = { "USER.name": noise(), "USER.role": noise(), "ORDER.number": "4711" };
  await assert.rejects(seal({ ...common, facts: long }), (error: BlockError) => {
    assert.deepEqual([error.code, error.overflow], ["block_full", ["USER.name"]]);
    assert.match(error.message, /^no room in the block for USER\.name: /);
    return true;
  });
});

test("bad input gets one line that says what to do", async () => {
  const cases: [object, string, RegExp][] = [
    [{ key: "secret" }, "invalid_key", /newKey\(\)/],
    [{ user: "" }, "invalid_user", /1 to 128/],
    [
      { facts: { "order number": "1" } },
      "invalid_label",
      /"order number" is no label.* such as ORDER\.number/,
    ],
    [{ facts: { "user.name": "Ada" } }, "invalid_label", /a group in capitals/],
    [{ facts: { "ORDER.number": "" } }, "invalid_value", /leave the label out/],
    [{ facts: { "ORDER.number": 3 } }, "invalid_value", /a text of 1 to 1024 bytes/],
    [{ facts: { "ORDER.number": "\ud800" } }, "invalid_value", /a text/],
    ...[{ counter: Number.NaN }, { counter: 0 }, { ok: false }, 5, null].map(
      (after): [object, string, RegExp] => [{ after }, "invalid_counter", /leave it out for the first/],
    ),
    [{ compress: true, model: new Uint8Array(9) }, "no_model", /has only 9 bytes; say where/],
    [{ compress: true, model: "file:///nowhere/reader.bin" }, "no_model", /cannot be loaded/],
  ];
  for (const [more, code, message] of cases) {
    await assert.rejects(seal({ ...common, facts, ...more } as never), (error: BlockError) => {
      assert.ok(error instanceof BlockError && !error.message.includes("\n"));
      assert.equal(error.code, code);
      assert.match(error.message, message);
      return true;
    });
  }
});

test("each option that is missing, misspelt or of another kind is an error with a code, in both calls", async () => {
  const block = await seal({ ...common, facts });
  const { facts: _, ...misspelt } = { ...common, facts, fact: facts };
  for (const [call, options, code, message] of [
    [seal, misspelt, "invalid_option", /no option "fact": there are .*facts/],
    [seal, common, "invalid_option", /`facts` must be an object/],
    [seal, undefined, "invalid_option", /\{ key, user, facts \}/],
    ...[null, [], new Map(Object.entries(facts)), "Ada"].map(
      (wrong) => [seal, { ...common, facts: wrong }, "invalid_option", /`facts` must be/] as const,
    ),
    [seal, { ...common, facts, compress: "no" }, "invalid_option", /`compress` must be true or false/],
    [seal, { ...common, facts, afer: { counter: 3 } }, "invalid_option", /no option "afer"/],
    [seal, { facts, user }, "invalid_key", /newKey\(\)/],
    [seal, { facts, key }, "invalid_user", /1 to 128/],
    [open, { ...common, txt: "x" }, "invalid_option", /no option "txt": there are .*text/],
    [open, common, "invalid_option", /`text` must be a text/],
    [open, { ...common, text: 5 }, "invalid_option", /`text` must be a text/],
    [open, undefined, "invalid_option", /\{ key, user, text \}/],
    ...[undefined, null, 5, [], [5]].map(
      (wrong) => [open, { ...common, text: block, key: wrong }, "invalid_key", /key/] as const,
    ),
    [open, { key, text: block }, "invalid_user", /1 to 128/],
  ] as const)
    await assert.rejects(call(options as never), (error: BlockError) => {
      assert.ok(error instanceof BlockError, `${error}`);
      assert.equal(error.code, code, error.message);
      assert.match(error.message, message);
      return true;
    });
});

test("the page lists every code of an error", () => {
  const read = (path: string) => readFileSync(new URL(`../../../${path}`, import.meta.url), "utf8");
  const codes = [...read("src/block/errors.ts").matchAll(/^ {2}\| "(\w+)"/gm)].map(([, code]) => code);
  assert.ok(codes.length > 5);
  const [rows] = read("packages/block/README.md").split("## Errors")[1].split("\n## ");
  for (const code of codes) assert.ok(rows.includes(`\`${code}\``), code);
});

test("any label works, the block has their names, and standard ones come first", async () => {
  const many = Object.fromEntries(
    Array.from({ length: 60 }, (_, i) => [`${["SHOP", "Z9_", "MEAL_PLAN"][i % 3]}.item_${59 - i}`, `${i}`]),
  );
  const all = { ...many, "PROJ.goal": "ship", "USER.name": "Ada", "USER.birthday": "12 May" };
  const block = await seal({ ...common, facts: all });
  const first = await opened(block);
  assert.deepEqual(first.facts, all);
  assert.deepEqual(Object.keys(first.facts).slice(0, 2), ["USER.name", "PROJ.goal"]);
  assert.deepEqual(Object.keys(first.facts).slice(2), Object.keys(first.facts).slice(2).sort());
  const second = await opened(await seal({ ...common, facts: all, after: first }));
  assert.deepEqual([second.facts, second.counter], [all, 2]);
});

test("with standard labels alone a block is that of before, with its counter and without", async () => {
  const one = { channel: 0, value: "Ada", order: 0 };
  const counter = { channel: 255, value: "2", order: 1 };
  const options = { key: blockKeyOf(key), userId: user, codebook: PLAIN_CODEBOOK };
  const first = await seal({ ...common, facts: { "USER.name": "Ada" } });
  assert.equal(first, buildBlock([one], options).text);
  const second = await seal({ ...common, facts: { "USER.name": "Ada" }, after: await opened(first) });
  assert.equal(second, buildBlock([one, counter], options).text);
  // No application has facts on channels of an account's own labels.
  const strange = buildBlock([one, { ...counter, channel: 40 }], options).text;
  const refused = await open({ ...common, text: strange });
  assert.ok(!refused.ok && refused.kind === "unknown-value");
});

test("the model is loaded from where the application says, and a plain block needs none", async () => {
  const bytes = readFileSync(READER_WEIGHTS);
  const block = await seal({ ...common, facts, compress: true, model: bytes });
  assert.equal(await seal({ ...common, facts, compress: true }), block);
  assert.deepEqual((await opened(block, { model: READER_WEIGHTS.href })).facts, facts);
  const plain = await seal({ ...common, facts, model: "file:///nowhere/reader.bin" });
  assert.deepEqual((await opened(plain, { model: "file:///nowhere/reader.bin" })).facts, facts);
});

test("of a transcript that is too long the end is read", async () => {
  const block = await seal({ ...common, facts });
  const talk = "and so they went on talking about it. ".repeat(20_000);
  assert.deepEqual((await opened(`${talk}${block}\nuser: and now?`)).facts, facts);
});
