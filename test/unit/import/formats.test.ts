/**
 * Memories of other tools, and notes as people write them. Each file of test/fixtures/memories is recognised by its
 * content, and gives the plan in the folder plans: the fact of each line, or why it is none. sources.md there says how
 * each file was made.
 */

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { CHANNELS } from "../../../src/base/channels.ts";
import { decodedText, type FormatName, readFormat } from "../../../src/import/formats.ts";
import { type LocatedValue, locatedJson } from "../../../src/import/located-json.ts";

const MEMORIES = new URL("../../fixtures/memories/", import.meta.url);
const OWN = { label: "FAMILY.wife", description: "her name", example: "" };
const options = { name: "notes.md", labels: [...CHANNELS, OWN], userId: "ada" };

function read(text: string, forced?: FormatName, userId = "ada", name = options.name) {
  const { format, findings } = readFormat(text, forced, { ...options, name, userId });
  const facts = findings.facts.map(({ line, label, value }) => `${line} ${label}=${value}`);
  const leftOut = findings.leftOut.map(({ line, text, why }) => `${line} ${text}: ${why}`);
  return { format, facts, leftOut, findings };
}

for (const file of readdirSync(new URL("plans/", MEMORIES))) {
  const name = file.replace(/\.txt$/, "");
  test(`${name}: every line is a fact, or is left out with a reason`, () => {
    const text = decodedText(readFileSync(new URL(name, MEMORIES)));
    const { format, findings } = readFormat(text, undefined, { name, labels: CHANNELS, userId: "ada" });
    const lines = [
      ...findings.facts.map(({ line, label, value }) => ({ line, said: `${line} ${label}=${value}` })),
      ...findings.leftOut.map(({ line, text, why }) => ({ line, said: `${line} - ${text} (${why})` })),
    ].sort((a, b) => a.line - b.line);
    const planned = readFileSync(new URL(`plans/${file}`, MEMORIES), "utf8");
    assert.equal(`${[format, ...lines.map(({ said }) => said)].join("\n")}\n`, planned);
    if (format !== "text") return;
    // What is neither is blank, a rule, a fence, or the rest of a wrapped line.
    const told = new Set(lines.map(({ line }) => line));
    const values = findings.facts.map(({ value }) => value).join("\n");
    const silent = text.split("\n").filter((line, i) => !told.has(i + 1) && !values.includes(line.trim()));
    assert.deepEqual(
      silent.filter((line) => !/^[-|`\s]*(?:bash|sh|yaml)?$/.test(line)),
      [],
    );
  });
}

test("memories of several users: those of the one who is asked for, and the others are named", () => {
  for (const name of ["mem0-get-all.json", "supermemory.json", "langgraph.json"]) {
    const text = readFileSync(new URL(name, MEMORIES), "utf8");
    assert.throws(() => read(text, undefined, "eve"), /2 users \(ada, bob\)$/, name);
    assert.match(read(text).leftOut.join("\n"), /: it is bob's$/m);
    assert.ok(read(text).findings.leftOut.some(({ ofUser }) => ofUser === "bob"));
    assert.equal(read(text, undefined, "bob").facts.length, 1);
  }
  assert.deepEqual(read('{"count":0,"results":[]}').facts, []);
});

test("what the reference server's read_graph answers, and a list of texts", () => {
  const graph = {
    entities: [{ name: "me", entityType: "person", observations: ["role: x"] }],
    relations: [],
  };
  assert.deepEqual(read(JSON.stringify(graph)).facts, ["1 USER.role=x"]);
  assert.deepEqual(read('["Likes tea", "Editor: vi"]').facts, [
    "1 NOTE.likes_tea=Likes tea",
    "1 PREF.editor=vi",
  ]);
});

/** Notes, and the facts that come of them. */
const TEXTS: readonly (readonly [notes: string, ...facts: string[]])[] = [
  ["Wife: Grace", "1 FAMILY.wife=Grace"],
  ["My son's school: Oak Hill", "1 FAMILY.sons_school=Oak Hill"],
  ["## Health\n- Wife: allergic to nuts", "2 HEALTH.wife=allergic to nuts"],
  ["## Project\nName: Loom\nLanguage: Go", "2 PROJ.name=Loom", "3 PROJ.language=Go"],
  ["Language: Go", "1 NOTE.language=Go"],
  ["## About me\nLanguages: Go, Rust", "2 USER.languages=Go, Rust"],
  ["Deadline: Friday", "1 NOTE.deadline=Friday"],
  ["Reminder: call mum", "1 NOTE.reminder_call_mum=Reminder: call mum"],
  // A key that does not go wholly into a label stays in the value.
  ["名前: 太郎", "1 NOTE.text_0c6b3781=名前: 太郎"],
  ["C++: since 1998", "1 NOTE.c_since_1998=C++: since 1998"],
  [
    "The best thing about living by the sea: the light",
    "1 NOTE.best_thing_about_living_sea_light=The best thing about living by the sea: the light",
  ],
  // Two things with the same first words, and one said twice.
  ["I like tea\n- I like tea\n- I like tea.", "1 NOTE.like_tea=I like tea", "3 NOTE.like_tea_2=I like tea."],
  // What a list is about.
  ["- Tom\n  - Age: 8\n  - likes trains", "2 NOTE.tom_age=8", "3 NOTE.tom_likes_trains=Tom: likes trains"],
  ["I never eat:\n- pork", "2 NOTE.never_eat_pork=I never eat: pork"],
  ["- [x] pay rent\n- [ ] buy milk", "1 NOTE.pay_rent_done=pay rent (done)", "2 NOTE.buy_milk=buy milk"],
  // Wrapped lines are one; notes one below the other are not.
  [
    "The garage on Mill Lane knows the car and has the\nspare key, so ask them before you call the dealer.",
    "1 NOTE.garage_mill_lane_knows_car_spare=The garage on Mill Lane knows the car and has the spare key, so ask them before you call the dealer.",
  ],
  [
    "the boiler man says to bleed the radiators in autumn\ngarage code changed in may",
    "1 NOTE.boiler_man_says_bleed_radiators_autumn=the boiler man says to bleed the radiators in autumn",
    "2 NOTE.garage_code_changed_may=garage code changed in may",
  ],
  ["House\n=====\nRent: 950\n\nCar\n---\nGrey Skoda", "3 HOUSE.rent=950", "7 CAR.grey_skoda=Grey Skoda"],
  ["```\nPREF.tone=dry\nx=1\n```", "2 PREF.tone=dry"],
  [
    "- PREF.editor: `vi`\n- `pref.tone=dry`\n- README.md: the overview",
    "1 PREF.editor=vi",
    "2 PREF.tone=dry",
    "3 NOTE.readme_md=the overview",
  ],
  ["My name is Ada Okafor.", "1 USER.name=Ada Okafor"],
  ["---\nname: release\nPREF.tone: dry\n---\nName: Ada", "3 PREF.tone=dry", "5 USER.name=Ada"],
];

test("notes: a label for each line, and nothing that the line does not say", () => {
  for (const [notes, ...facts] of TEXTS) assert.deepEqual(read(notes).facts, facts, notes);
});

test("a long text is split at the ends of sentences into numbered facts; a sentence that is too long is named", () => {
  const sentence = (i: number) => `Sentence number ${i} says ${"something ".repeat(20)}and ends.`;
  const long = Array.from({ length: 9 }, (_, i) => sentence(i)).join(" ");
  const { findings } = read(`## Diary\n- ${long}`);
  assert.deepEqual(
    findings.facts.map(({ label }) => label.replace(/^DIARY\.\w*?(?=_\d$)/, "")),
    ["_1", "_2", "_3"],
  );
  assert.equal(findings.facts.map(({ value }) => value).join(" "), long);
  assert.ok(findings.facts.every(({ value }) => Buffer.byteLength(value) <= 1024));
  const { facts, leftOut } = read(`- ${"word ".repeat(300)}`);
  assert.deepEqual(facts, []);
  assert.match(leftOut[0], /it has 1,499 bytes, and a fact has 1,024 at most: shorten it/);
});

test("tables: a header that is none becomes a fact, a header that is one does not", () => {
  const table = (text: string) => read(text, "csv", "ada", "friends.csv").facts;
  assert.deepEqual(table("wife,Grace\nson,Tom"), ["1 FAMILY.wife=Grace", "2 FAMILY.son=Tom"]);
  assert.deepEqual(table("Person,Birthday\nMum,3 June"), ["2 FRIENDS.mum_birthday=3 June"]);
  assert.deepEqual(table("category\tkey\tvalue\nHealth\tBlood\t0-"), ["2 HEALTH.blood=0-"]);
  assert.deepEqual(table('text\n"likes tea, and\ncake"'), ["2 NOTE.likes_tea_cake=likes tea, and cake"]);
});

test("lines LABEL=value are taken exactly; comments are none; what is no label is named", () => {
  const { format, facts, leftOut } = read(
    "# ada\r\nPREF.tone=  dry = `short`  \r\nUSER.name=# Ada **O**\r\n\r\nUSER.nam=x\nTRIP.goal=sea\n",
  );
  assert.equal(format, "lines");
  assert.deepEqual(facts, [
    "2 PREF.tone=  dry = `short`  ",
    "3 USER.name=# Ada **O**",
    "5 USER.nam=x",
    "6 TRIP.goal=sea",
  ]);
  assert.deepEqual(leftOut, []);
  assert.equal(read("USER.name=Ada\nand more").format, "text");
});

test("a label that the person has is used where one alone has the name, and the heading does not say otherwise", () => {
  const labels = [...CHANNELS, { label: "CHILD.name" }, { label: "HOME.landlord" }];
  const factOf = (text: string) => {
    const { label, value } = readFormat(text, undefined, { ...options, labels }).findings.facts[0];
    return `${label}=${value}`;
  };
  assert.equal(factOf("Landlord: Mr Osei"), "HOME.landlord=Mr Osei");
  assert.equal(factOf("## Office\nLandlord: Ms Li"), "OFFICE.landlord=Ms Li");
  assert.equal(factOf("Name: Ada"), "NOTE.name=Ada");
  assert.equal(factOf("# Child\nName: Tom"), "CHILD.name=Tom");
});

test("an export of Sideband: one user's facts with their places and ends, and the labels", () => {
  const label = {
    channel: 40,
    label: "TRIP.goal",
    description: "where to",
    example: "",
    oneOf: null,
    maxBytes: 40,
  };
  const facts = [
    { label: "USER.name", value: "Ada", channel: 0, revision: 1, updated_at: "2026-11-01T00:00:00Z" },
    { label: "TASK.next", value: "weave", place: "loom/x", expires_at: "2099-01-01T00:00:00.000Z" },
  ];
  const lines = [
    { kind: "key", key: { id: "k" } },
    { kind: "label", account: "default", label },
    {
      kind: "user",
      account: "default",
      user_id: "ada",
      facts,
      earlier: [{ label: "USER.name", value: "A" }],
    },
    { kind: "user", account: "default", user_id: "bob", facts: [{ label: "USER.name", value: "Bob" }] },
  ];
  const text = lines.map((line) => JSON.stringify(line)).join("\n");
  const { format, facts: found, findings } = read(text);
  assert.equal(format, "sideband");
  assert.deepEqual(found, ["3 USER.name=Ada", "3 TASK.next=weave"]);
  const { scope, project, expiresAt } = findings.facts[1];
  assert.deepEqual([scope, project, expiresAt], ["worktree", "loom/x", "2099-01-01T00:00:00.000Z"]);
  assert.deepEqual(
    findings.labels?.map(({ label, maxBytes }) => [label, maxBytes]),
    [["TRIP.goal", 40]],
  );
  assert.throws(() => read(text, undefined, "eve"), /2 users \(ada, bob\)/);
  assert.equal(
    read(
      lines
        .slice(2, 3)
        .map((line) => JSON.stringify(line))
        .join(""),
      undefined,
      "eve",
    ).facts.length,
    2,
  );
});

test("what cannot be read is said with its line, and what to do", () => {
  assert.throws(
    () => read('{"type":"entity","name":"me"}\n{"type":'),
    /line 2 is not JSON; is the file whole\?/,
  );
  assert.throws(() => read('{\n"results": [\n'), /line 2 is not JSON/);
  assert.throws(() => read('{"a":{"b":1}}'), /it is JSON, but none that is known/);
  assert.throws(() => decodedText(Buffer.from([0xff, 0xfe, 0x41, 0])), /save it as UTF-8/);
  assert.throws(() => decodedText(Buffer.from("PK\u0003\u0004")), /unpack it/);
  assert.throws(() => read("hello", "letta"), /line 1 is not JSON/);
  assert.equal(decodedText(Buffer.from("\ufeffUSER.name=Ada")), "USER.name=Ada");
});

test("JSON with lines has the values of JSON.parse", () => {
  const text = '{"a": [1, "x\\n\\"y\\"", {"b": null}],\n "é": true, "a": -1.5e3,\n "[": "{"}';
  const bare = (located: ReturnType<typeof locatedJson>): unknown => {
    const { value } = located;
    if (Array.isArray(value)) return value.map(bare);
    return value instanceof Map
      ? Object.fromEntries([...value].map(([name, one]) => [name, bare(one)]))
      : value;
  };
  assert.deepEqual(bare(locatedJson(text)), JSON.parse(text));
  const root = locatedJson(text).value as ReadonlyMap<string, LocatedValue>;
  assert.deepEqual([root.get("é")?.line, root.get("[")?.line], [2, 3]);
});

test("what is <private> is left out from the line that opens it to the line that closes it, or to the end", () => {
  const lines = ["PREF.tone=a <private>", "PREF.units=b", "PREF.format=c </private>", "PREF.avoid=d"];
  for (const mark of ["private", "PRIVATE"]) {
    const { facts, leftOut } = read(lines.join("\n").replaceAll("private", mark), "text");
    assert.deepEqual(facts, ["4 PREF.avoid=d"]);
    assert.deepEqual(
      leftOut,
      [1, 2, 3].map((line) => `${line} (not shown): it is <private>`),
    );
  }
  assert.deepEqual(read("PREF.tone=a\nPREF.units=b <private>", "text").facts, ["1 PREF.tone=a"]);
  assert.deepEqual(read("<private>\nPREF.units=b", "text").facts, []);
});

/** 216 labels of an account's own, far from every key below. */
const MANY = Array.from({ length: 216 }, (_, i) => ({ label: `GROUP_${i}.some_longer_name_${i}` }));

function readMany(lineOf: (i: number) => string, count: number) {
  const text = Array.from({ length: count }, (_, i) => lineOf(i)).join("\n");
  const start = process.cpuUsage();
  const { findings } = readFormat(text, undefined, { ...options, labels: [...CHANNELS, ...MANY] });
  assert.equal(findings.facts.length + findings.leftOut.length, count);
  const { user, system } = process.cpuUsage(start);
  return (user + system) / 1_000;
}

test("20,000 keys that are no labels take little longer to read than 20,000 sentences, whatever labels there are", () => {
  const sentencesMs = readMany((i) => `- The quick brown fox ${i} jumps over the lazy dog`, 20_000);
  for (const lineOf of [
    (i: number) => `- some longer name ${i}x: red`,
    (i: number) => `GROUP_${i}.some_longer_names=red`,
    (i: number) => JSON.stringify({ type: "entity", name: `node ${i}`, observations: ["blue: red"] }),
  ]) {
    const ms = readMany(lineOf, 20_000);
    assert.ok(ms < 60 * sentencesMs, `${ms} ms, and ${sentencesMs} ms for sentences`);
  }
});

test("a text of 20 million characters inside JSON is read", () => {
  for (const text of ["x".repeat(20e6), "\\n".repeat(10e6), `${"\\\\".repeat(10)}\\"`]) {
    const located = locatedJson(`{"a":"${text}"}`).value as ReadonlyMap<string, LocatedValue>;
    assert.equal((located.get("a")!.value as string).length, JSON.parse(`"${text}"`).length);
  }
});
