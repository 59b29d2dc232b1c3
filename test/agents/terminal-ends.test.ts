/** Ends of facts, labels in other spellings, and groups that agents for code do not get, at a terminal. */

import assert from "node:assert/strict";
import { after, test } from "node:test";
import { rowsOf } from "../fixtures/fields.ts";
import { until } from "../fixtures/waiting.ts";
import { openHome } from "./home.ts";

const home = openHome();
after(() => home.end());

test("an end is changed alone, and what ends is listed, the next one first", async () => {
  const { run } = home;
  const ender = ["--user", "ender"];
  await run("remember", "CAR.tax", "pay it", "--until", "2098-05-01", ...ender, "--origin", "read");
  await run("remember", "CAR.lease", "240 a month", ...ender);
  await run("remember", "TASK.deadline", "ship", "--until", "2097-01-01", ...ender, "--project", "loom");
  await run("remember", "USER.name", "Ada", ...ender);
  const leased = await run("remember", "CAR.lease", "--until", "2097-05-01T12:00:00Z", ...ender);
  assert.match(leased.out, /^CAR\.lease: still "240 a month" until 2097-05-01T\S+; undo: .* restore /);
  const ending = (...more: string[]) => run("facts", "--ending", ...ender, ...more);
  const lines = (await ending("--project", "loom")).out.replace(/(until [-\d]+)T.*$/gm, "$1").split("\n");
  assert.deepEqual(lines, [
    ...["# for the project loom", "# until 2097-01-01", "TASK.deadline=ship"],
    ...["# until 2097-05-01", "CAR.lease=240 a month", "# until 2098-05-01", "CAR.tax=pay it", ""],
  ]);
  assert.match(
    (await run("remember", "CAR.tax", "--never", ...ender)).out,
    /^CAR\.tax: still "pay it"; undo: /,
  );
  const { facts } = JSON.parse((await run("facts", "car", ...ender, "--json")).out);
  assert.deepEqual(rowsOf(facts, "label", "origin", "expires_at"), [
    ["CAR.lease", undefined, "2097-05-01T12:00:00.000Z"],
    ["CAR.tax", "read", undefined],
  ]);
  // What belongs there is told alone, too, and the end stays.
  assert.equal((await run("remember", "CAR.lease", "--description", "For the Fiat", ...ender)).status, 0);
  const [{ description, expires_at }] = JSON.parse((await run("facts", "CAR", ...ender, "--json")).out).facts;
  assert.deepEqual([description, expires_at], ["For the Fiat", "2097-05-01T12:00:00.000Z"]);
  assert.match(
    (await run("remember", "USER.os", "--never", ...ender)).err,
    /: ender has no fact USER\.os\n$/,
  );
  assert.equal((await run("facts", "SHIP", ...ender)).err, "ender has no facts in SHIP\n");
  for (const wrong of [["--until", "friday", "--add"], ["--until", "friday", "--never"], []])
    assert.equal((await run("remember", "CAR.lease", ...wrong, ...ender)).status, 2);
  // Three months are those of the calendar, however it is said.
  const endOf = async (...end: string[]) =>
    JSON.parse((await run("remember", "CAR.tyres", "new", ...end, ...ender, "--json")).out).expires_at;
  const apart =
    Date.parse(await endOf("--for", "3 months")) - Date.parse(await endOf("--until", "in 3 months"));
  assert.ok(Math.abs(apart) < 60_000, String(apart));
});

test("a label in another spelling is the label, in every command", async () => {
  const { run } = home;
  const speller = ["--user", "speller"];
  const { out } = await run("remember", "family.Best-Friend", "Bo", ...speller);
  assert.match(out, /^FAMILY\.best_friend: now "Bo"; undo: .* forget FAMILY\.best_friend /);
  assert.equal((await run("recall", "Family.best friend", ...speller)).out, "Bo\n");
  assert.match(
    (await run("rename", "family.best_friend", "people.bo", ...speller)).out,
    /^FAMILY\.best_friend is now PEOPLE\.bo; /,
  );
  assert.match((await run("forget", "people.bo", ...speller)).out, /^PEOPLE\.bo: forgotten; /);
  assert.match(
    (await run("remember", "müller", "x", ...speller)).err,
    /: there is no label müller\na label is GROUP/,
  );
});

test("a section says which groups it leaves to find and recall", async () => {
  const { run } = home;
  await run("remember", "HEALTH.allergy", "nuts", "--user", "nora");
  const shown = await run("context", "--user", "nora");
  assert.doesNotMatch(shown.out, /nuts/);
  assert.match(shown.err, /^1 fact of HEALTH not shown: .* all with --groups all\n$/);
  assert.match((await run("context", "--user", "nora", "--groups=HEALTH")).out, /HEALTH\.allergy=nuts/);
  assert.match((await run("context", "--user", "nora", "--groups", "all")).out, /HEALTH\.allergy=nuts/);
});

test("an end is told beside a value, and one that a new text has lost is named", async () => {
  const { run } = home;
  const gone = ["--user", "gone"];
  const first = await run("remember", "CAR.räder", "winter set", "--until", "2097-03-31", ...gone);
  assert.equal(first.err, "CAR.räder is the label CAR.rader\n");
  const read = await run("recall", "CAR.rader", ...gone);
  assert.equal(read.out, "winter set\n");
  assert.match(read.err, /^until 2097-03-31T23:59:59/);
  const changed = await run("remember", "CAR.rader", "summer set", ...gone);
  assert.match(
    changed.err,
    /^it has no end any more; to give it that one again: .* remember CAR\.rader --until 2097-03-\S+Z --user gone --person\n$/,
  );
  assert.equal((await run("remember", "CAR.rader", "summer set", "--never", ...gone)).err, "");
});

test("several items are added to a list in one write, and an item that is there is no other", async () => {
  const { run } = home;
  const lists = ["--user", "lists"];
  await run("remember", "LIST.films", "Emma", "--add", ...lists);
  const added = await run("remember", "LIST.films", "Solaris; Emma;Stalker ", "--add", ...lists);
  assert.match(
    added.out,
    /^LIST\.films: was "Emma", now "Emma; Solaris; Stalker"; undo: .* restore LIST\.films \d+ --user lists --person\n$/,
  );
  assert.match(
    (await run("remember", "LIST.food", "rye; milk", "--add", ...lists)).out,
    /^LIST\.food: now "rye; milk"; undo: /,
  );
  assert.match(
    (await run("forget", "LIST.films", "--item", "solaris", ...lists)).out,
    /^LIST\.films: forgot "Solaris"; undo: /,
  );
  assert.equal((await run("recall", "LIST.films", ...lists)).out, "Emma; Stalker\n");
});

test("recall says what became of a fact, and undo goes on to what can be taken back", async () => {
  const { run } = home;
  const person = ["--user", "olga"];
  await run("remember", "HOBBY.reading", "Kallocain", ...person);
  await run("remember", "HOBBY.choir", "alto", ...person);
  await run("forget", "HOBBY.choir", ...person);
  const gone = await run("recall", "HOBBY.choir", ...person);
  assert.equal(gone.status, 1);
  const [, back = ""] =
    /it was forgotten \S+\nto get it back: .* restore (HOBBY\.choir \d+) --user olga --person\n$/.exec(
      gone.err,
    ) ?? [];
  assert.equal((await run("restore", ...back.split(" "), ...person)).status, 0);
  await run("forget", "HOBBY.choir", "--for-good", "--yes", ...person);
  assert.match(
    (await run("recall", "HOBBY.choir", ...person)).err,
    /olga has no fact HOBBY\.choir$|nothing is remembered under HOBBY\.choir/m,
  );
  await run("remember", "SHOP.short", "soon gone", "--for", "1s", ...person);
  await until(async () => (await run("recall", "SHOP.short", ...person)).status === 1);
  assert.match((await run("recall", "SHOP.short", ...person)).err, /it ended \S+\n/);
  assert.match((await run("undo", ...person)).out, /^HOBBY\.reading: Kallocain → \(none\)$/m);
});
