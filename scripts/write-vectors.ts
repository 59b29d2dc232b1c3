/**
 * Writes test/vectors/blocks-v*.json: npm run vectors
 *
 * The golden blocks of each format version, and readings of damaged ones. They are promises: every later release
 * must build the same text from the same facts and read the same facts from the same text. So the script refuses
 * to change a file that is there; what changes the blocks needs a new format version, and a file of its own.
 */

import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { bytesToHex } from "@noble/hashes/utils.js";
import { damageText } from "../bench/codec/damage.ts";
import {
  randomFacts,
  randomFactsWithFree,
  randomFactsWithOwn,
  randomValue,
} from "../bench/codec/profiles.ts";
import { CHANNELS } from "../src/base/channels.ts";
import { type Random, seededRandom } from "../src/base/random.ts";
import { loadCodebooks } from "../src/blockwork/codebooks.ts";
import { type BlockFact, buildBlock } from "../src/codec/block.ts";
import { BLOCK_FORMS, type BlockForm, type Codebook, formatVersionOf } from "../src/codec/codebook.ts";
import { deriveBlockKey } from "../src/codec/seal.ts";
import { type BlockVector, type ReadingVector, type Vectors, vectorText } from "../test/fixtures/vectors.ts";

const SCRIPTS = [
  "Ada Okafor",
  "Zoë Müller-Łukasiewicz",
  "Αθήνα, Ελλάδα",
  "Санкт-Петербург",
  "תל אביב",
  "القاهرة",
  "मुंबई",
  "กรุงเทพมหานคร",
  "東京都、日本",
  "서울특별시",
  "👩🏽‍🚀 and 🦊",
  "𠀀𠀁𠀂",
  "e\u0301 is not é",
  "\u200fRTL\u200e mark",
];

const OWN_EXAMPLES = [
  "Marta",
  "1979-11-02",
  "Peanuts; an injector is in the blue bag",
  "Aisle, near the front",
  "eu-west-1",
  "B-KL 4821",
  "+31 20 555 0142",
  "Vegetarian, no mushrooms",
  "Biscuit, a border collie",
  "Every 90 days",
];

function factsFrom(values: readonly string[]): BlockFact[] {
  return values.map((value, channel) => ({ channel, value, order: channel }));
}

/** One example has changed since the first golden blocks were made. */
function exampleInVectors({ label, example }: (typeof CHANNELS)[number]): string {
  return label === "PROJ.stack" ? "TypeScript, Fastify, lmdb" : example;
}

type Shape = readonly [name: string, facts: BlockFact[], change?: Partial<BlockVector>];

function shapes(random: Random): readonly Shape[] {
  return [
    ["no facts", []],
    ["one fact", factsFrom(["Ada Okafor"])],
    ["one letter on the last channel", [{ channel: 39, value: "x", order: 0 }]],
    ["the examples of all 40 channels", factsFrom(CHANNELS.map(exampleInVectors))],
    ["all scripts", factsFrom(SCRIPTS)],
    ["control characters", factsFrom(["\0", "a\r\n\tb", "\u007f", "\ufeffmark", "[MEM] not a block [/MEM]"])],
    ["one long value", factsFrom(["the user prefers short answers ".repeat(33).trim()])],
    ["a value that cannot fit, and two that can", factsFrom(["ä½".repeat(256), "first", "second"])],
    ["overflow", factsFrom(Array.from({ length: 40 }, (_, i) => `${i} ${randomValue(random, 400)}`))],
    ["a random profile", randomFacts(random)],
    ["another random profile, of another user", randomFacts(random), { userId: "böb ✓" }],
    ["key id 255, of another account", factsFrom(["rotated"]), { keyId: 255, account: "acct_2" }],
  ];
}

/** Facts on standard channels and on some of an account's own. */
function shapesWithOwn(random: Random): readonly Shape[] {
  const from = (values: readonly string[], channels: readonly number[]): BlockFact[] =>
    values.map((value, i) => ({ channel: channels[i], value, order: i }));
  const upTo = (count: number) => Array.from({ length: count }, (_, i) => i);
  return [
    ["one fact", from(["Ada Okafor"], [40])],
    ["one letter on the last channel", from(["x"], [255])],
    ["all distances", from(["a", "b", "c", "d", "e", "f", "g", "h"], [0, 39, 41, 42, 44, 53, 63, 254])],
    [
      "the examples of all 40 channels, and ten own ones",
      from([...CHANNELS.map(exampleInVectors), ...OWN_EXAMPLES], upTo(50)),
    ],
    [
      "a digit on each of 256 channels",
      from(
        upTo(256).map((i) => `${i % 10}`),
        upTo(256),
      ),
    ],
    [
      "all scripts",
      from(
        SCRIPTS,
        SCRIPTS.map((_, i) => 34 + 5 * i),
      ),
    ],
    [
      "overflow",
      from(
        upTo(80).map((i) => `${i} ${randomValue(random, 300)}`),
        upTo(80),
      ),
    ],
    ["a random profile", randomFactsWithOwn(random)],
    ["another random profile, of another user", randomFactsWithOwn(random), { userId: "böb ✓" }],
    ["key id 255, of another account", from(["rotated"], [100]), { keyId: 255, account: "acct_2" }],
  ];
}

/** Facts under free labels, most of them beside others. */
function shapesWithFree(random: Random): readonly Shape[] {
  const under = (labels: readonly string[], values: readonly string[]): BlockFact[] =>
    labels.map((label, i) => ({ channel: 256 + i, label, value: values[i % values.length], order: i }));
  const alone = (label: string, value: string) => under([label], [value]);
  const noise = Array.from({ length: 1024 }, () => String.fromCharCode(33 + random.below(94))).join("");
  return [
    ["one fact", alone("FAMILY.wife", "Grace")],
    [
      "ten ordinary ones",
      under(
        "FAMILY.wife FAMILY.birthday HEALTH.allergy TRAVEL.seat DEPLOY.region CAR.plate PEOPLE.grace FOOD.diet PET.name API.keys"
          .split(" ")
          .reverse(),
        [...OWN_EXAMPLES].reverse(),
      ),
    ],
    [
      "beside standard channels and own ones",
      [
        { channel: 39, value: "Node 20", order: 7 },
        { channel: 0, value: "Ada Okafor", order: 8 },
        { channel: 255, value: "12", order: 9 },
        ...under(["USER.birthday", "PROJ.license", "PREF.music"], ["12 May 1985", "MIT", "Jazz"]),
      ],
    ],
    [
      "odd labels",
      under(
        [
          "A.a",
          "Z9_.0",
          "A_B._",
          "AB.__x",
          "AB.x_",
          "AB.9lives",
          "ABCDEFGHIJKLMNOP.a",
          `QUIZ.${"long_name_of_48".repeat(3)}xyz`,
        ],
        ["x"],
      ),
    ],
    [
      "odd values",
      under(["NOTE.a", "NOTE.b", "NOTE.c", "NOTE.d"], [": ", " a: b", "Name: value: more", "="]),
    ],
    [
      "all scripts",
      under(
        SCRIPTS.map((_, i) => `NOTE.script_${i}`),
        SCRIPTS,
      ),
    ],
    ["one long value", alone("NOTE.style", "the user prefers short answers ".repeat(33).trim())],
    ["a value that cannot fit, and one that can", under(["NOTE.long", "NOTE.short"], [noise, "first"])],
    [
      "overflow",
      under(
        Array.from({ length: 80 }, (_, i) => `${["NOTE", "WORK", "GARDENING"][i % 3]}.item_${i}`),
        Array.from({ length: 80 }, (_, i) => `${i} ${randomValue(random, 300)}`),
      ),
    ],
    ["a random profile", randomFactsWithFree(random)],
    ["another random profile, of another user", randomFactsWithFree(random), { userId: "böb ✓" }],
    ["key id 255, of another account", alone("NOTE.a", "rotated"), { keyId: 255, account: "acct_2" }],
  ];
}

const SHAPES: Readonly<Record<BlockForm, (random: Random) => readonly Shape[]>> = {
  standard: shapes,
  own: shapesWithOwn,
  free: shapesWithFree,
};

function blockVector(codebook: Codebook, [name, facts, change]: Shape): BlockVector {
  const seal = {
    masterKey: bytesToHex(Uint8Array.from({ length: 32 }, (_, i) => 7 * i)),
    account: "acct_1",
    userId: "ada",
    keyId: 1,
    ...change,
  };
  const key = deriveBlockKey(
    Uint8Array.from({ length: 32 }, (_, i) => 7 * i),
    seal.keyId,
    seal.account,
  );
  const built = buildBlock(facts, { key, userId: seal.userId, codebook });
  const { carried, overflow, carriers, text } = built;
  return { name, ...seal, facts, carried, overflow, carriers, text };
}

function readings(blocks: readonly BlockVector[], random: Random): ReadingVector[] {
  const named = (name: string) => blocks.find((block) => block.name === name)!;
  const one = named("one fact");
  const scripts = named("all scripts");
  const full = named("overflow");
  const words = one.text.split(" ");
  return [
    {
      name: "a quarter replaced",
      of: one.name,
      text: damageText(one.text, "replaced", 0.25, random),
      reads: true,
    },
    {
      name: "half cut",
      of: scripts.name,
      text: damageText(scripts.text, "cut from the end", 0.5, random),
      reads: true,
    },
    {
      name: "a tenth dropped",
      of: scripts.name,
      text: damageText(scripts.text, "dropped", 0.1, random),
      reads: true,
    },
    {
      name: "a full block, 1.5 % replaced",
      of: full.name,
      text: damageText(full.text, "replaced", 0.015, random),
      reads: true,
    },
    {
      name: "a full block, half replaced",
      of: full.name,
      text: damageText(full.text, "replaced", 0.5, random),
      reads: false,
    },
    {
      name: "lower case in prose, no markers",
      of: one.name,
      text: `so: ${words.slice(1, -1).join("\n").toLowerCase()} end`,
      reads: true,
    },
    { name: "twelve words", of: one.name, text: words.slice(0, 13).join(" "), reads: false },
  ];
}

function writeVectors(codebook: Codebook, form: BlockForm): void {
  const version = formatVersionOf(codebook, form);
  const random = seededRandom(20_261);
  const blocks = SHAPES[form](random).map((shape) => blockVector(codebook, shape));
  const note =
    `Golden blocks of format version ${version}, written by \`npm run vectors\`. They must never change without a new format ` +
    "version: every release builds the same text from the same facts, and reads the same facts from the same text.";
  const vectors: Vectors = { note, formatVersion: version, blocks, readings: readings(blocks, random) };
  const text = vectorText(vectors);
  const file = fileURLToPath(new URL(`../test/vectors/blocks-v${version}.json`, import.meta.url));
  if (existsSync(file) && readFileSync(file, "utf8") !== text) {
    console.error(`the golden blocks of version ${version} would change: that needs a new format version`);
    process.exitCode = 1;
    return;
  }
  writeFileSync(file, text);
  console.log(`version ${version}: ${blocks.length} blocks and ${vectors.readings.length} readings written`);
}

for (const codebook of loadCodebooks()) {
  for (const form of BLOCK_FORMS) writeVectors(codebook, form);
}
