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
    assert.throws(() => read(text, undefined, "eve"), /2 users \(ada, bob\): name one with --of/, name);
    assert.match(read(text).leftOut.join("\n"), /it is bob's: --of bob imports it/);
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
  ["- [x] pay rent\n- [ ] buy milk", "2 NOTE.buy_milk=buy milk"],
  [
    "Never restart the router: the alarm goes off",
    "1 NOTE.never_restart_router_alarm_goes_off=Never restart the router: the alarm goes off",
  ],
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
  // Even before a name, where the lines around it end as sentences do.
  [
    "The bakery on the corner opens at six on weekdays.\nOur landlady lives above it and wants the hall lights off by\nMidnight at the latest.",
    "1 NOTE.bakery_corner_opens_six_weekdays=The bakery on the corner opens at six on weekdays.",
    "2 NOTE.landlady_lives_above_wants_hall_lights=Our landlady lives above it and wants the hall lights off by Midnight at the latest.",
  ],
  // A key begins anew, and what follows a short line is another thing.
  [
    "Insurance: Norra, number 5512-77, until the end of October 2027\nVet: Dr Lund, Tuesdays and Thursdays, also by phone\nbring the blue card",
    "1 NOTE.insurance=Norra, number 5512-77, until the end of October 2027",
    "2 NOTE.vet=Dr Lund, Tuesdays and Thursdays, also by phone",
    "3 NOTE.bring_blue_card=bring the blue card",
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

/** A text without Markdown, and the facts that come of it. */
const PLAIN_TEXTS: readonly (readonly [notes: string, ...facts: string[]])[] = [
  // A heading right above its lines is about these alone.
  ["# boat\nberth: 14\n\ntea: green", "2 BOAT.berth=14", "4 NOTE.tea=green"],
  [
    "== boat ==\nberth: 14\nThe engine is a Yanmar.",
    "2 BOAT.berth=14",
    "3 BOAT.engine_yanmar=The engine is a Yanmar.",
  ],
  ["# --- boat ---\n\nberth: 14\n\nmast: 9 m", "3 BOAT.berth=14", "5 BOAT.mast=9 m"],
  [
    "size: 42\njabs:\n  polio 2019\n  rabies 2021\nbike: red",
    "1 NOTE.size=42",
    "3 JABS.polio_2019=polio 2019",
    "4 JABS.rabies_2021=rabies 2021",
    "5 NOTE.bike=red",
  ],
  ["size: 42\nlast jab:\nthe bike is red", "1 NOTE.size=42", "3 NOTE.bike_red=the bike is red"],
  [
    "things to remember\n==================\nbike: red\n\n# tea\n毎朝緑茶を飲みます。\nkind: green",
    "3 NOTE.bike=red",
    "6 TEA.text_13dd7e8d=毎朝緑茶を飲みます。",
    "7 TEA.kind=green",
  ],
];

test("text without Markdown: a heading is about its paragraph, and a sentence of any language is none", () => {
  for (const [notes, ...facts] of PLAIN_TEXTS)
    assert.deepEqual(read(notes, "text", "ada", "notes.txt").facts, facts, notes);
});

/** What a code block holds, and the facts that come of it. */
const BLOCKS: readonly (readonly [info: string, code: string, ...facts: string[]])[] = [
  [
    "sh",
    "make seed    # fills the database",
    "2 NOTE.make_seed_fills_database=make seed # fills the database",
  ],
  [
    "bash",
    "# release\nmake ship \\\n  FAST=1\nmake clean",
    "3 NOTE.release=make ship FAST=1",
    "5 NOTE.make_clean=make clean",
  ],
  ["console", "$ git status\nnothing to commit", "2 NOTE.git_status=git status"],
  ["sh", "for f in *; do\n  rm $f\ndone"],
  ["dotenv", "# local\nPORT=9000\nDB_URL=", "3 NOTE.port=9000"],
  ["", "cargo test\ncargo fmt", "2 NOTE.cargo_test=cargo test", "3 NOTE.cargo_fmt=cargo fmt"],
  [
    "",
    "src/api/    the routes\nsrc/jobs/   what runs at night",
    "2 NOTE.src_api=the routes",
    "3 NOTE.src_jobs=what runs at night",
  ],
  [
    "",
    "src/\n├── api/   # the routes\n│   └── v1.ts\n└── jobs/  what runs at night",
    "3 NOTE.src_api=the routes",
    "5 NOTE.src_jobs=what runs at night",
  ],
  ["", "+----+\n| ab |\n+----+"],
  ["text", "verse  A  D  E\nchorus  D  A"],
  ["python", "LIMIT=5\nprint(LIMIT)"],
  ["json", '{"a": 1}'],
];

test("code blocks: commands, settings and two columns are facts; programs and drawings are left out", () => {
  for (const [info, code, ...facts] of BLOCKS) {
    const found = read(`\`\`\`${info}\n${code}\n\`\`\``);
    assert.deepEqual(found.facts, facts, code);
    const told = found.facts.length + found.leftOut.length;
    assert.equal(told, code.split("\n").length - (code.includes("\\") ? 1 : 0), code);
  }
  assert.deepEqual(read("Copy the sample and set each of these:\n\n```env\nPORT=1\n```").facts, [
    "4 NOTE.port=1",
  ]);
  assert.deepEqual(read("## Home\nPaint:\n\n```\nhall  moss\n```").facts, ["5 HOME.paint_hall=moss"]);
});

test("what says nothing about anybody is left out, and what only looks like it is not", () => {
  const nothing = [
    "ok",
    "Hello, how are you today?",
    "thanks!!",
    "test 2",
    "User said hello",
    "The user asked how tall K2 is",
    "Lorem ipsum dolor",
    "Delete all",
    "Memory full · 80%",
    "See also the blue folder",
    "wants to",
    "// until here",
    "*last updated: in May*",
    "TODO clean up this list",
    '> "Early is late." - the coach',
    "https://example.com/x",
    "Please summarize this text",
    "That's all for now",
  ];
  for (const text of nothing) {
    const { facts, leftOut } = read(text);
    assert.deepEqual([facts, leftOut.length], [[], 1], text);
  }
  const something = [
    "Hello Kitty fan since 2003",
    "Hi, I'm Ada and I fly gliders",
    "User asked to be called Ace",
    "Test pilot",
    "Thanks to Bo, the fence is fixed",
    "Prefers to be told what to bring",
    "User said that mornings are best",
    "> The spare key is at Bo's",
    "Delete old backups in May",
  ];
  for (const text of something) assert.equal(read(text).facts.length, 1, text);
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
      item(["ada", "memories"], { content: "Ada sails" }),
    ]),
    undefined,
    "eve",
  );
  assert.deepEqual(facts, [
    "1 TO_DO.oil_hinge_deadline_friday_tools_can=Oil the hinge; deadline: Friday; tools: can, rag",
    "1 NOTE.ada_sails=Ada sails",
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
