/**
 * Notes as people write them, with and without Markdown: which line becomes which fact, and what says nothing. All lines
 * here are made for the test.
 */

import assert from "node:assert/strict";
import { test } from "node:test";
import { CHANNELS } from "../../../src/base/channels.ts";
import { readFormat } from "../../../src/import/formats.ts";

const OWN = { label: "FAMILY.wife", description: "her name", example: "" };

function read(text: string, name = "notes.md") {
  const options = { name, labels: [...CHANNELS, OWN], userId: "ada" };
  const { findings } = readFormat(text, "text", options);
  const facts = findings.facts.map(({ line, label, value }) => `${line} ${label}=${value}`);
  const leftOut = findings.leftOut.map(({ line, text, why }) => `${line} ${text}: ${why}`);
  return { facts, leftOut, findings };
}

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
  ["- [x] pay rent\n- [ ] ask Bo: more milk?", "2 NOTE.ask_bo_more_milk=ask Bo: more milk?"],
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
  // Short lines go on where the next one begins as no note does.
  [
    "I feed the cats\nwith Ida, at seven.\nthe shed is locked",
    "1 NOTE.feed_cats_ida_seven=I feed the cats with Ida, at seven.",
    "3 NOTE.shed_locked=the shed is locked",
  ],
  // An amount is in the value, not in the label, and no µ is lost.
  ["I take L-Thyroxin 88 µg now", "1 NOTE.take_l_thyroxin_now=I take L-Thyroxin 88 µg now"],
  ["Iron, µg/dl: 74", "1 NOTE.iron_ug_dl_74=Iron, µg/dl: 74"],
  ["- 30 g", "1 NOTE.30_g=30 g"],
  // In a list a short line was not wrapped, and a mark may stand right before its word.
  [
    "## School\n- swim things for Zoe\n  gym bag … Thursday\n- milk, bread and\n  cheese\n-recorder\n− snack",
    "2 SCHOOL.swim_things_zoe=swim things for Zoe",
    "3 SCHOOL.swim_things_zoe_gym_bag_thursday=swim things for Zoe: gym bag … Thursday",
    "4 SCHOOL.milk_bread_cheese=milk, bread and cheese",
    "6 SCHOOL.recorder=recorder",
    "7 SCHOOL.snack=snack",
  ],
  [
    "2 onions, chopped, and three carrots in thin slices as well\ngarlic\n\nWash the big lasagne dish before the guests arrive\ngym bag … Thursday",
    "1 NOTE.2_onions_chopped_three_carrots_thin=2 onions, chopped, and three carrots in thin slices as well",
    "2 NOTE.garlic=garlic",
    "4 NOTE.wash_big_lasagne_dish_before_guests=Wash the big lasagne dish before the guests arrive",
    "5 NOTE.gym_bag_thursday=gym bag … Thursday",
  ],
  [
    "- hotel TBD\n- car hire: TBA\n- hotel in Bilbao, room TBD",
    "3 NOTE.hotel_bilbao_room_tbd=hotel in Bilbao, room TBD",
  ],
  // What stands above a list ends with it, and a rule ends all.
  [
    "## Garden\n**Trees**\n- plum\n\nThe gate sticks.",
    "3 GARDEN.trees_plum=Trees: plum",
    "5 GARDEN.gate_sticks=The gate sticks.",
  ],
  [
    "## Garden\n- plum\n### To do\n- [ ] prune\n\n* * *\nLikes jazz.",
    "2 GARDEN.plum=plum",
    "4 TO_DO.prune=prune",
    "7 NOTE.likes_jazz=Likes jazz.",
  ],
  [
    "# AGENTS.md - Loom\nLoom weaves.\n## Style\nTabs: no",
    "2 LOOM.loom_weaves=Loom weaves.",
    "4 STYLE.tabs=no",
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
  // Boxes to tick, also below another list, which they are no part of.
  ["## Boat\n☑ caulk the deck\n☐ new rope, 30 m", "3 BOAT.new_rope=new rope, 30 m"],
  [
    "## Work\n* Mondays at home\n\n- [ ] pay the dentist",
    "2 WORK.mondays_home=Mondays at home",
    "4 NOTE.pay_dentist=pay the dentist",
  ],
  ["## Boat, last updated: June\nberth: 14", "2 BOAT.berth=14"],
  // Commands that are set in.
  [
    "## Run\n\n    make dev     port 8087\n    make check   before a push",
    "3 RUN.make_dev=port 8087",
    "4 RUN.make_check=before a push",
  ],
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
  ["ok\n- berth: 14", "2 NOTE.berth=14"],
  // A line above lines that are set in is a heading, and one of a list of words is none.
  [
    "POOL (FOR THE GUARD)\n  PUMP OFF AT TEN\n  KEY AT BO'S\nTHE ROOF LEAKS",
    "2 NOTE.pool_guard_pump_off_ten=POOL (FOR THE GUARD): PUMP OFF AT TEN",
    "3 NOTE.pool_guard_key_bos=POOL (FOR THE GUARD): KEY AT BO'S",
    "4 NOTE.roof_leaks=THE ROOF LEAKS",
  ],
  [
    "rope\n2 boxes of those short nails\nred paint",
    "1 NOTE.rope=rope",
    "2 NOTE.2_boxes_those_short_nails=2 boxes of those short nails",
    "3 NOTE.red_paint=red paint",
  ],
  // Of a heading only what stands by itself counts.
  ["BOAT AND MOORING LOG.      A. LUND (RET.)\n=====\n1. BERTH: 14", "3 NOTE.boat_and_mooring_log_berth=14"],
  // A paragraph that ends with a colon is no heading, and tildes below a heading open no block.
  [
    "Bo here. My weeks are in May. Ask at trouble:\n\nLen: 12 77\n\nI eat no meat.",
    "1 NOTE.bo_here_weeks_may_ask_trouble=Bo here. My weeks are in May. Ask at trouble:",
    "3 NOTE.len=12 77",
    "5 NOTE.eat_no_meat=I eat no meat.",
  ],
  [
    "Style\n~~~~~\n\n + no tabs\n + short lines",
    "4 STYLE.no_tabs=no tabs",
    "5 STYLE.short_lines=short lines",
  ],
  [
    "> > the cabin is cold\n> >\n> > Bo\n>\n> My turn is in May and in June.",
    "1 NOTE.cabin_cold=the cabin is cold",
    "3 NOTE.bo=Bo",
    "5 NOTE.turn_may_june=My turn is in May and in June.",
  ],
  // What is about several people is not about the first one.
  [
    "Bo : 12 May, Ida : 3 June\nmeet: 8:30, gate 2",
    "1 NOTE.bo_12_may_ida_3_june=Bo : 12 May, Ida : 3 June",
    "2 NOTE.meet=8:30, gate 2",
  ],
  ["size: 42\nlast jab:\nthe bike is red", "1 NOTE.size=42", "3 NOTE.bike_red=the bike is red"],
  [
    "things to remember\n==================\nbike: red\n\n# tea\n毎朝緑茶を飲みます。\nkind: green",
    "3 NOTE.bike=red",
    "6 TEA.text_13dd7e8d=毎朝緑茶を飲みます。",
    "7 TEA.kind=green",
  ],
];

test("what its heading says to ignore, what is done, and words for agents or of a page are left out", () => {
  const text =
    "--- parts i have, ignore ---\nbolts\nnuts\n-----\ncall Bo (done)\nerledigt: Zaun\nManage · Delete all\nok love you bye\nkeel: oak";
  const { facts, leftOut } = read(text, "notes.txt");
  assert.deepEqual(facts, ["9 NOTE.keel=oak"]);
  assert.deepEqual(
    leftOut.map((line) => line.replace(/^(\d+) .*: /, "$1 ")),
    [
      "1 a heading",
      "2 its heading says to ignore it",
      "3 its heading says to ignore it",
      "5 it is done",
      "6 it is done",
      "7 words of the page that it was copied from",
      "8 small talk",
    ],
  );
  assert.deepEqual(read("Agents, read this first\n---\ntests: make check").facts, [
    "3 NOTE.tests=make check",
  ]);
  assert.deepEqual(read("# Loom\n\nGuidance for Claude Code in this repo.\n").facts, []);
});

test("YAML: keys lead to values, short lists and maps are what they say, and comments go", () => {
  const yaml = `# for my assistant
me:
  name: "Ada Lund"
  langs: [Go, 'C']
boat:
  berth: 14   # north
  crew:
    - name: Bo
      size: 44
    - Ida, '49
  note: |
    call first
    then ring
misc: {tea: "green, strong", seat: aisle}
text: a long
  value
cold: ~`;
  const { facts, leftOut } = read(yaml, "me.yaml");
  assert.deepEqual(facts, [
    "3 USER.name=Ada Lund",
    "4 USER.langs=Go, C",
    "6 BOAT.berth=14   # north",
    "8 BOAT.crew_name=Bo",
    "9 BOAT.crew_bo_size=44",
    "10 BOAT.crew_ida_49=crew: Ida, '49",
    "12 BOAT.call_first=call first",
    "13 BOAT.then_ring=then ring",
    "14 NOTE.tea=green, strong",
    "14 NOTE.seat=aisle",
    "15 NOTE.text=a long value",
  ]);
  assert.deepEqual(leftOut.at(-1), "17 cold: ~: it is a gap to fill in");
});

test("text without Markdown: a heading is about its paragraph, and a sentence of any language is none", () => {
  for (const [notes, ...facts] of PLAIN_TEXTS) assert.deepEqual(read(notes, "notes.txt").facts, facts, notes);
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
  ["", "$ make up\nlistening", "2 NOTE.make_up=make up"],
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
    "Todo clean up this list",
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

test("what is <private> is left out from the line that opens it to the line that closes it, or to the end", () => {
  const lines = ["PREF.tone=a <private>", "PREF.units=b", "PREF.format=c </private>", "PREF.avoid=d"];
  for (const mark of ["private", "PRIVATE"]) {
    const { facts, leftOut } = read(lines.join("\n").replaceAll("private", mark));
    assert.deepEqual(facts, ["4 PREF.avoid=d"]);
    assert.deepEqual(
      leftOut,
      [1, 2, 3].map((line) => `${line} (not shown): it is <private>`),
    );
  }
  assert.deepEqual(read("PREF.tone=a\nPREF.units=b <private>").facts, ["1 PREF.tone=a"]);
  assert.deepEqual(read("<private>\nPREF.units=b").facts, []);
});
