/**
 * Memories of other tools, and notes as people write them. Each file of test/fixtures/memories is recognised by its
 * content, and gives the plan in the folder plans: the fact of each line, or why it is none. sources.md there says how
 * each file was made.
 */

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { RefusedValueError, sanitizeValue } from "../../../src/agent-side/secrets.ts";
import { CHANNELS } from "../../../src/base/channels.ts";
import { decodedText, type FormatName, readFormat } from "../../../src/import/formats.ts";
import { type LocatedValue, locatedJson } from "../../../src/import/located-json.ts";
import { rowsOf } from "../../fixtures/fields.ts";

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
  const graph = read('{"results":[{"memory":"Sails"}],"relations":[{"source":"ada"}]}').findings;
  assert.equal(graph.notRead, "the relations of its graph");
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

test("tables: a header that is none becomes a fact, a header that is one does not", () => {
  const table = (text: string) => read(text, "csv", "ada", "friends.csv").facts;
  assert.deepEqual(table("wife,Grace\nson,Tom"), ["1 FAMILY.wife=Grace", "2 FAMILY.son=Tom"]);
  assert.deepEqual(table("Person,Birthday\nMum,3 June"), ["2 FRIENDS.mum_birthday=3 June"]);
  assert.deepEqual(table("category\tkey\tvalue\nHealth\tBlood\t0-"), ["2 HEALTH.blood=0-"]);
  assert.deepEqual(table('text\n"likes tea, and\ncake"'), ["2 NOTE.likes_tea_cake=likes tea, and cake"]);
});

test("tables: all cells of a row are in its fact, in the group that its first columns name", () => {
  const table = (text: string) => read(text, "csv", "ada", "things.csv");
  const sheet = [
    "Kind,Thing,Detail,Date,Remarks,id",
    'Boat,Berth,14,2026-05-01,"Ask Bo, he has\nthe key",1',
    'Boat,Engine,,2019,"Yanmar\n2 cylinders",2',
    "Boat,Anchor,,,,3",
    "Tax,???,,,ask,4",
    "Tax,Number,N/A,,55 812,5",
    "Tax,Total,900,,,6",
    ",,,,,",
    "Tax,Bank login,ada,,Kelp7!forest,7",
  ].join("\n");
  const { facts, leftOut } = table(sheet);
  assert.deepEqual(facts, [
    "2 BOAT.berth=14; Date: 2026-05-01; Remarks: Ask Bo, he has the key",
    "4 BOAT.engine=Date: 2019; Remarks: Yanmar; 2 cylinders",
    "6 BOAT.anchor=Anchor",
    "8 TAX.number=Remarks: 55 812",
    "11 TAX.bank_login=ada; password: Kelp7!forest",
  ]);
  assert.deepEqual(leftOut.slice(1), [
    "7 Tax, ???, , , ask, 4: it is a gap to fill in",
    "9 Tax, Total, 900, , , 6: a sum",
  ]);
  const [label, value] = facts[4].slice(3).split("=");
  assert.throws(() => sanitizeValue(value, false, label), RefusedValueError);
  assert.deepEqual(table("category,item,notes,date\nCar,Plate,AB 12,2020").facts, [
    "2 CAR.plate=AB 12 (2020)",
  ]);
  assert.deepEqual(table("topic,fact,source\nBoat,berth 14,Bo\nBoat,blue hull,").facts, [
    "2 BOAT.berth_14_source_bo=berth 14; source: Bo",
    "3 BOAT.blue_hull=blue hull",
  ]);
  assert.deepEqual(table("name,value,date\nWeight,72,May\nWeight,71,June\nWeight,70,July").facts, [
    "2 NOTE.weight=72 (May)",
    "3 NOTE.weight_2=71 (June)",
    "4 NOTE.weight_3=70 (July)",
  ]);
});

test("records of a LangGraph store stay together; the namespace of tasks is no user", () => {
  const item = (space: string[], value: object) => ({
    namespace: space,
    key: "5f0c2d7e-11aa-4b6e-9d10-5f2e7c1a0b9d",
    value,
  });
  const { facts, leftOut } = read(
    JSON.stringify([
      item(["todo", "ada"], {
        task: "Oil the hinge",
        deadline: "Friday",
        tools: ["can", "rag"],
        status: null,
      }),
      item(["todo", "ada"], { task: "", status: "archived" }),
      item(["ada", "memories"], { kind: "Memory", content: { content: "Ada sails" } }),
      { namespace: ["ada", "memories"], key: "tea", value: { text: "green", confidence: 0.9 } },
    ]),
    undefined,
    "eve",
  );
  assert.deepEqual(facts, [
    "1 TO_DO.oil_hinge_deadline_friday_tools_can=Oil the hinge; deadline: Friday; tools: can, rag",
    "1 NOTE.ada_sails=Ada sails",
    "1 NOTE.tea=green",
  ]);
  assert.match(leftOut.join(), /it is empty/);
});

test("ChatGPT: what it was asked to forget is left out, and custom instructions are read", () => {
  const node = (message: object) => ({ message });
  const bio = (text: string) => node({ recipient: "bio", content: { parts: [text] } });
  const { facts, leftOut } = read(
    JSON.stringify([
      {
        title: "x",
        mapping: {
          a: bio("Forget that Ada keeps bees."),
          b: bio("Ada keeps bees."),
          c: bio("Ada keeps hens."),
          e: node({ recipient: "bio", content: { content_type: "code", text: "Ada sails." } }),
          d: node({
            content: {
              user_profile: "Words of ChatGPT:\n```Role: pilot\nI live in Kiel```",
              user_instructions: "Answer in short sentences.",
            },
          }),
        },
      },
    ]),
  );
  assert.deepEqual(facts, [
    "1 NOTE.ada_keeps_hens=Ada keeps hens.",
    "1 NOTE.ada_sails=Ada sails.",
    "1 USER.role=pilot",
    "1 USER.live_kiel=I live in Kiel",
    "1 PREF.answer_short_sentences=Answer in short sentences.",
  ]);
  assert.equal(leftOut.filter((line) => line.endsWith("ChatGPT was asked to forget it")).length, 2);
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
  assert.deepEqual(rowsOf(findings.labels, "label", "maxBytes"), [["TRIP.goal", 40]]);
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

test("notes were said, files for agents and other memories were read, an export knows, and a call overrules", () => {
  const originOf = (text: string, name: string, origin?: "concluded") => {
    const { findings } = readFormat(text, undefined, { name, labels: [], userId: "ada", origin });
    return findings.facts[0].origin;
  };
  const note = "- Editor: Neovim";
  assert.deepEqual([originOf(note, "notes.md"), originOf(note, "AGENTS.md")], ["said", "read"]);
  assert.equal(originOf("PREF.editor=Neovim", "standard input"), "said");
  assert.equal(originOf('[{"memory": "Uses Neovim", "user_id": "ada"}]', "mem0.json"), "read");
  const exported = (more: object) =>
    JSON.stringify({ kind: "user", user_id: "ada", facts: [{ label: "USER.os", value: "Debian", ...more }] });
  assert.equal(originOf(exported({ origin: "concluded" }), "export.jsonl"), "concluded");
  assert.equal(originOf(exported({}), "export.jsonl"), undefined);
  assert.equal(originOf(note, "AGENTS.md", "concluded"), "concluded");
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
