/**
 * Memories of other tools: each file of test/fixtures/memories is recognised by its content, gives the facts that have a
 * label, and lists the rest with its lines. sources.md there says how each file was made.
 */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { CHANNELS } from "../../../src/base/channels.ts";
import { decodedText, type FormatName, readFormat } from "../../../src/cli/import/formats.ts";
import { type LocatedValue, locatedJson } from "../../../src/cli/import/located-json.ts";
import { addLabelCommand } from "../../../src/cli/printed-commands.ts";

const OWN = { label: "FAMILY.wife", description: "her name", example: "" };
const options = { labels: [...CHANNELS, OWN], userId: "ada" };

function read(text: string, forced?: FormatName, userId = "ada") {
  const { format, findings } = readFormat(text, forced, { ...options, userId });
  const facts = findings.facts.map(({ line, label, value }) => `${line} ${label}=${value}`);
  const leftOut = findings.leftOut.map(({ line, text, why }) => `${line} ${text}: ${why}`);
  return { format, facts, leftOut, findings };
}

function readFixture(name: string, forced?: FormatName, userId?: string) {
  const bytes = readFileSync(new URL(`../../fixtures/memories/${name}`, import.meta.url));
  return read(decodedText(bytes), forced, userId);
}

test("the reference server's file: what is said of the user and of things with a label, not what is said of Bob", () => {
  const { format, facts, leftOut } = readFixture("reference-server.jsonl");
  assert.equal(format, "mcp-memory");
  assert.deepEqual(facts, [
    "1 USER.name=Ada Okafor",
    "1 USER.timezone=Europe/Amsterdam",
    "1 PREF.tone=dry, friendly",
    "1 PREF.editor=Neovim „nightly“ 🜁",
    "3 PREF.avoid=emoji; force pushes",
    "4 PROJ.stack=TypeScript, lmdb",
  ]);
  assert.deepEqual(leftOut, [
    "1 Speaks fluent Igbo: no label says what it is",
    "2 role: designer: write USER.role if that is meant",
    "2 Likes tea: no label says what it is",
    "4 name: Loom: write USER.name if that is meant",
    "5 Acme: nothing is said of it",
    "6 default_user works_at Acme: a relation between two things has no label",
  ]);
  // What the tool read_graph answers.
  const graph = {
    entities: [{ name: "me", entityType: "person", observations: ["role: x"] }],
    relations: [],
  };
  assert.deepEqual(read(JSON.stringify(graph)).facts, ["1 USER.role=x"]);
});

test("mem0: sentences of the user who is asked for, with the lines where they stand; fields by their names", () => {
  const memories = readFixture("mem0-get-all.json");
  assert.equal(memories.format, "mem0");
  assert.deepEqual(memories.facts, [
    "21 USER.timezone=Europe/Amsterdam",
    "32 PREF.tone=dry = short; “no” <b>emoji</b>",
  ]);
  assert.deepEqual(memories.leftOut, [
    "8 Prefers morning meetings and async communication: no label says what it is",
  ]);
  assert.throws(() => readFixture("mem0-get-all.json", undefined, "eve"), /2 users \(ada, bob\): name one/);
  const fields = readFixture("mem0-structured.json");
  assert.equal(fields.format, "mem0");
  assert.deepEqual(fields.facts, [
    "2 USER.name=Ada Okafor",
    "3 USER.role=Senior Software Engineer",
    "6 PREF.tools=ripgrep; jq",
  ]);
  assert.deepEqual(fields.leftOut, [
    '4 years_experience: 8: no label is called "years_experience"',
    '5 employment_status: full_time: no label is called "employment_status"',
    '8 avoid: a; b; c: its items contain ";", which separates the items of a list',
  ]);
  const lines = readFixture("openmemory.jsonl");
  assert.equal(lines.format, "mem0");
  assert.deepEqual(lines.facts, ["2 PREF.editor=Neovim"]);
  assert.deepEqual(lines.leftOut, [
    "1 Works on storage: no label says what it is",
    "3 Editor: Emacs: it is deleted there",
  ]);
  assert.deepEqual(read('{"count":0,"results":[]}').facts, []);
});

test("Letta: blocks about the user; the agent's own name is not the user's, and messages are not read", () => {
  const { format, facts, leftOut, findings } = readFixture("letta.af");
  assert.equal(format, "letta");
  assert.deepEqual(
    facts.map((fact) => fact.replace(/^\d+ /, "")),
    ["USER.name=Ada Okafor", "PREF.tone=dry", "USER.timezone=Europe/Amsterdam"],
  );
  assert.deepEqual(
    leftOut.map((line) => line.replace(/^\d+ /, "")),
    [
      "This is what I know so far about the user.: no label says what it is",
      "Time zone: ?: it is a gap to fill in",
      'Occupation: engineer: no label is called "Occupation"',
      "I am Sam.: no label says what it is",
      "Name: Sam: write USER.name if that is meant",
    ],
  );
  assert.equal(findings.notRead, "messages, tools and settings of the agent");
  const former = readFixture("letta-former.af");
  assert.equal(former.format, "letta");
  assert.deepEqual(former.facts, ["13 USER.name=Ada Okafor"]);
});

test("CLAUDE.md: keys count under a heading about their kind; code, front matter and <private> parts do not", () => {
  const { format, facts, leftOut } = readFixture("notes.md");
  assert.equal(format, "text");
  assert.deepEqual(facts, [
    "7 USER.name=Ada Okafor",
    "8 USER.role=Staff engineer, storage",
    "9 USER.timezone=Europe/Amsterdam",
    "11 PREF.editor=Neovim",
    "16 PREF.tone=dry, friendly",
    "17 PREF.response_style=the answer first, reasons after",
    "18 PREF.avoid=emoji; force pushes",
    "24 PROJ.stack=TypeScript, Node 20, lmdb",
    "25 PROJ.repo=github.com/acme/loom",
    "26 PROJ.goal=no fact lost when a context is compacted",
    "27 TASK.deadline=2026-12-01",
    "66 PREF.units=Metric, 24-hour clock",
    "67 PREF.tone=warm",
    "71 FAMILY.wife=Grace",
  ]);
  for (const line of [
    "10 - Languages: English, Igbo: write USER.language if that is meant",
    "23 - Name: Loom: write USER.name if that is meant",
    "28 - Status: [unknown]: it is a gap to fill in",
    "33 - Language: TypeScript: write USER.language if that is meant",
    "45 name: ci: write USER.name if that is meant",
    "62 @docs/architecture.md: it names another file: import that one, too",
    "69 (not shown): it is <private>",
  ])
    assert.ok(leftOut.includes(line), line);
  // Every line is a fact, is listed, or is a mark of Markdown.
  const text = readFileSync(new URL("../../fixtures/memories/notes.md", import.meta.url), "utf8");
  const said = new Set([...facts, ...leftOut].map((line) => Number.parseInt(line, 10)));
  const silent = text.split("\n").filter((_, i) => !said.has(i + 1));
  assert.deepEqual(
    silent.filter((line) => !/^(?:```.*)?$/.test(line)),
    [],
  );
  assert.deepEqual(read("---\nname: release\nPREF.tone: dry\n---\nName: Ada").facts, [
    "3 PREF.tone=dry",
    "5 USER.name=Ada",
  ]);
});

test("an assistant's memory that was pasted: dates are no text, and what is said of the son is not said of the user", () => {
  const { format, facts, leftOut } = readFixture("pasted-memory.txt");
  assert.equal(format, "text");
  assert.deepEqual(facts, [
    "2 USER.timezone=Europe/Amsterdam",
    "3 USER.role=staff engineer, storage",
    "9 USER.location=Rotterdam",
    "11 PREF.editor=Neovim",
  ]);
  assert.ok(leftOut.includes("6 - Name: Tom (son): write USER.name if that is meant"));
  assert.ok(
    leftOut.includes("10 - Language: the neighbours speak Dutch: write USER.language if that is meant"),
  );
});

test("lines LABEL=value are taken exactly; comments are none; what is no label is named", () => {
  const { format, facts, leftOut } = read(
    "# ada\r\nPREF.tone=  dry = `short`  \r\nUSER.name=# Ada **O**\r\n\r\nUSER.nam=x\nTRIP.goal=sea\n",
  );
  assert.equal(format, "lines");
  assert.deepEqual(facts, ["2 PREF.tone=  dry = `short`  ", "3 USER.name=# Ada **O**"]);
  assert.deepEqual(leftOut, [
    "5 USER.nam=x: there is no label USER.nam; did you mean USER.name?",
    `6 TRIP.goal=sea: there is no label TRIP.goal; to add it: ${addLabelCommand("TRIP.goal")}`,
  ]);
  assert.equal(read("USER.name=Ada\nand more").format, "text");
  assert.deepEqual(read("- `pref.tone=dry`\n- **pref.editor**: `vi`\n- FAMILY.wife: Grace").facts, [
    "1 PREF.tone=dry",
    "2 PREF.editor=vi",
    "3 FAMILY.wife=Grace",
  ]);
  assert.deepEqual(read("README.md: the overview").leftOut, [
    '1 README.md: the overview: no label is called "README.md"',
  ]);
});

test("a name that means two labels is not mapped", () => {
  const labels = [...CHANNELS, { label: "CHILD.name" }];
  const { findings } = readFormat("Name: Ada", undefined, { labels, userId: "ada" });
  assert.equal(findings.leftOut[0].why, "write USER.name or CHILD.name if that is meant");
  const own = readFormat("# Child\nName: Tom", undefined, { labels, userId: "ada" });
  assert.deepEqual([own.findings.facts[0].label, own.findings.facts[0].value], ["CHILD.name", "Tom"]);
  const hidden = [...CHANNELS, { label: "CHILD.name", hidden: true }];
  assert.equal(readFormat("Name: Ada", undefined, { labels: hidden, userId: "" }).findings.facts.length, 1);
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
  const { findings } = readFormat(text, undefined, { labels: [...CHANNELS, ...MANY], userId: "ada" });
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
