/** Measuring: counts add up, labels find their channels, and a bad profile is named in words. */

import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { randomFacts } from "../../../bench/codec/profiles.ts";
import { utf8 } from "../../../src/base/bytes.ts";
import { CHANNELS } from "../../../src/base/channels.ts";
import { seededRandom } from "../../../src/base/random.ts";
import { buildBlock } from "../../../src/codec/block.ts";
import { encodeValue, PLAIN_CODEBOOK } from "../../../src/codec/codebook.ts";
import { deriveBlockKey } from "../../../src/codec/seal.ts";
import { findProfileProblem, Measure, type ProfileFact } from "../../../src/measure/measure.ts";
import { anySeed } from "../../fixtures/blocks.ts";

function measureOf(...profiles: readonly ProfileFact[][]) {
  const measure = new Measure(PLAIN_CODEBOOK);
  for (const profile of profiles) measure.add(profile);
  return measure.result();
}

test("nothing measured is nothing, without a division by zero", () => {
  const result = measureOf();
  assert.deepEqual(
    [result.profiles, result.facts, result.bits_per_char, result.carriers, result.tokens],
    [0, 0, 0, 0, 512],
  );
  assert.equal(measureOf([]).lossless_profiles, 1);
});

test("the counts of one profile are those of its block", () => {
  const profile = [
    { label: "USER.name", value: "Ada 🦊" },
    { label: "USER.os", value: "Debian 12" },
  ];
  const facts = [
    { channel: 0, value: "Ada 🦊", order: 0 },
    { channel: 5, value: "Debian 12", order: 1 },
  ];
  const key = deriveBlockKey(new Uint8Array(32), 0, "x");
  const { carriers } = buildBlock(facts, { key, userId: "x", codebook: PLAIN_CODEBOOK });
  const bits = facts.reduce(
    (sum, { channel, value }) => sum + encodeValue(PLAIN_CODEBOOK, channel, utf8(value)).length,
    0,
  );
  assert.deepEqual(measureOf(profile), {
    profiles: 1,
    facts: 2,
    carried: 2,
    exact: 2,
    chars: 14,
    bits,
    bits_per_char: bits / 14,
    carriers,
    lossless_profiles: 1,
    tokens: 512,
  });
});

test("counts add up over profiles, all that is carried is exact, and what overflows is counted", () => {
  fc.assert(
    fc.property(anySeed, (seed) => {
      const random = seededRandom(seed);
      const profiles = [randomFacts(random), randomFacts(random)].map((facts) =>
        facts.map(({ channel, value }) => ({ label: CHANNELS[channel].label, value })),
      );
      const both = measureOf(...profiles);
      const singles = profiles.map((profile) => measureOf(profile));
      for (const name of [
        "profiles",
        "facts",
        "carried",
        "exact",
        "chars",
        "bits",
        "lossless_profiles",
      ] as const) {
        assert.equal(both[name], singles[0][name] + singles[1][name], name);
      }
      assert.equal(both.exact, both.carried);
      assert.ok(both.carried <= both.facts);
      assert.equal(both.lossless_profiles === 2, both.carried === both.facts);
    }),
    { numRuns: 20 },
  );
});

test("labels outside the 40 channels go to free ones, and never push a known label from its own", () => {
  const unknown = Array.from({ length: 38 }, (_, i) => ({ label: `MY.label_${i}`, value: `v${i}` }));
  const known = [
    { label: "USER.name", value: "Ada" },
    { label: "PROJ.constraint", value: "Node 20" },
  ];
  const result = measureOf([...unknown.slice(0, 20), ...known, ...unknown.slice(20)]);
  assert.deepEqual([result.facts, result.carried, result.exact], [40, 40, 40]);
});

test("with more labels than standard channels, the others go to the channels of own labels", () => {
  const profile = Array.from({ length: 60 }, (_, i) => ({ label: `MY.label_${i}`, value: `v${i}` }));
  const result = measureOf(profile);
  assert.deepEqual([result.facts, result.carried, result.exact], [60, 60, 60]);
});

test("later facts count as written later: they are the ones that stay", () => {
  const big = (i: number) => ({ label: `L.${i}`, value: `${i} ${"Ж".repeat(300)}` });
  const result = measureOf(Array.from({ length: 12 }, (_, i) => big(i)));
  assert.ok(result.carried < 12 && result.carried > 0);
  assert.equal(result.lossless_profiles, 0);
  assert.equal(
    result.chars,
    [...Array(result.carried)].reduce((sum, _, i) => sum + [...big(11 - i).value].length, 0),
  );
});

test("a bad profile is named in words, a good one passes", () => {
  const fact = { label: "a", value: "x" };
  const many = Array.from({ length: 257 }, (_, i) => ({ label: `l${i}`, value: "x" }));
  const bad: [unknown, RegExp][] = [
    [undefined, /expected/],
    [null, /expected/],
    ["text", /expected/],
    [{ length: 1 }, /expected/],
    [many, /257 facts, but there are 256/],
    [[null], /label/],
    [[{ label: "a" }], /label/],
    [[{ label: 1, value: "x" }], /label/],
    [[fact, fact], /comes twice/],
    [[{ label: "a", value: "" }], /0 bytes/],
    [[{ label: "a", value: "é".repeat(513) }], /1026 bytes/],
    [[{ label: "a", value: "\ud800" }], /well-formed/],
  ];
  for (const [profile, problem] of bad) assert.match(findProfileProblem(profile) ?? "", problem);
  for (const profile of [[], [fact], many.slice(0, 256), [{ label: "", value: "x".repeat(1024) }]]) {
    assert.equal(findProfileProblem(profile), undefined);
  }
});
