/** A fact's life at a terminal: what was replaced and how to undo it, lists, ends, history, going back, labels, users. */

import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readFileSync, realpathSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { after, test } from "node:test";
import { projectName } from "../../src/agents/project.ts";
import { sidebandCommand } from "../../src/cli/printed-commands.ts";
import { shellQuote } from "../../src/main/shell-quote.ts";
import { fieldsOf } from "../fixtures/fields.ts";
import { builtSideband } from "./built.ts";
import { openHome, withHome } from "./home.ts";

/** For tests that need no empty folder, so that they share an owner. */
const home = openHome({ TZ: "Asia/Kolkata" });
after(() => home.end());

test("what was replaced is said with the command that undoes it, which works as it is printed", async () => {
  const { run, runIn, env } = home;
  const user = ["--user", "ada l"];
  const ada = [...user, "--person"];
  await run("remember", "PREF.tone", "dry", ...ada);
  const { out } = await run("remember", "PREF.tone", "warm", ...ada);
  const undo = `${sidebandCommand()} restore PREF.tone 1 --user 'ada l' --person`;
  assert.equal(out, `PREF.tone: was "dry", now "warm"; undo: ${undo}\n`);
  execFileSync("/bin/sh", ["-c", undo], { env, stdio: "ignore" });
  assert.equal((await run("recall", "PREF.tone", ...ada)).out, "dry\n");
  const history = await run("history", "PREF.tone", ...ada);
  assert.match(
    history.out,
    /^REVISION +WRITTEN +BY +ENDED +VALUE\n3 .* cli +dry\n2 .* cli +replaced +warm\n1 .* dry\n$/,
  );
  const { revisions } = JSON.parse((await run("history", "PREF.tone", ...ada, "--json")).out);
  assert.equal(revisions.length, 3);
  const missing = await run("restore", "PREF.tone", "9", ...ada);
  assert.deepEqual([missing.status, missing.out], [1, ""]);
  assert.match(
    missing.err,
    /no revision 9 of PREF\.tone\. Those that are kept: .* history PREF\.tone --user 'ada l' --person\n$/,
  );

  // Lists, and facts that end.
  for (const item of ["jargon", "emoji"]) await run("remember", "PREF.avoid", item, "--add", ...ada);
  assert.equal((await run("recall", "PREF.avoid", ...ada)).out, "jargon; emoji\n");
  const ending = await run("remember", "TASK.reminder", "call Bob", "--for", "7d", ...ada, "--json");
  const leftMs = Date.parse(JSON.parse(ending.out).expires_at) - Date.now();
  assert.ok(Math.abs(leftMs - 7 * 86_400_000) < 600_000, `${leftMs}`);
  const until = await run("remember", "TASK.reminder", "x", "--until", "2099-12-01T18:00:00Z", ...ada);
  assert.match(
    until.out,
    /^TASK\.reminder: was "call Bob" until \S+, now "x" until 2099-12-01T23:30:00\+05:30; undo: /,
  );
  const ends = await run("history", "TASK.reminder", ...ada);
  assert.match(ends.out, /^REVISION +WRITTEN +BY +ENDED +UNTIL +VALUE\n\d+ .* 2099-12-01\S+ +x\n/);

  // Days and times are those of the person's zone, and what is printed can be read again.
  await run("remember", "TASK.reminder", "y", "--until", "31 Dec 2099", ...ada);
  assert.match((await run("facts", ...ada)).out, /\n# until 2099-12-31T23:59:59\+05:30\nTASK\.reminder=y\n/);
  const { facts } = JSON.parse((await run("facts", ...ada, "--json")).out);
  const { expires_at } = facts.find(({ label }: { label: string }) => label === "TASK.reminder");
  assert.equal(expires_at, "2099-12-31T18:29:59.000Z");
  const listed = await run("remember", "PREF.avoid", "puns", "--add", "--until", "friday", ...ada);
  assert.equal(listed.status, 2);
  assert.match(
    listed.err,
    /list on PREF\.avoid, not of an item: give what ends a label of its own, without --add/,
  );

  // What an agent wrote since is put back.
  const before = new Date().toISOString();
  await new Promise((resolve) => setTimeout(resolve, 5));
  await run("remember", "PREF.tone", "loud", ...ada);
  await run("remember", "USER.os", "Plan 9", ...ada);
  const planned = await run("rollback", "--to", before, "--dry-run", ...user);
  assert.match(
    planned.out,
    /^USER\.os: Plan 9 → \(none\)\nPREF\.tone: loud → dry\n2 facts would change, back to /,
  );
  assert.equal((await run("recall", "PREF.tone", ...ada)).out, "loud\n");
  const back = await run("rollback", "--to", before, ...user);
  assert.match(back.out, /2 facts changed/);
  assert.equal((await run("recall", "PREF.tone", ...ada)).out, "dry\n");
  // Going back prints how to undo it, and that works too.
  const [, undoBack] =
    /^undo: (.* rollback --to \S+ --unchanged-since \S+ --user 'ada l')\n$/.exec(back.err) ?? [];
  execFileSync("/bin/sh", ["-c", undoBack], { env, stdio: "ignore" });
  assert.equal((await run("recall", "PREF.tone", ...ada)).out, "loud\n");
  await run("rollback", "--to", before, ...user);
  assert.match(
    (await run("log", "--since", "1h ago", ...ada)).out,
    /\n\S+\+05:30 {2}cli +PREF\.tone: was "dry", now "loud"\n[\s\S]*PREF\.tone: was "loud", now "dry"\n$/,
  );

  // Neither takes back or forgets the facts of all projects where the person's alone are meant.
  for (const call of [
    ["rollback", "--to", before],
    ["forget", "--all", "--yes"],
  ]) {
    const refused = await run(...call, ...ada);
    assert.deepEqual([refused.status, refused.out], [2, ""]);
    assert.match(refused.err, /^sideband \w+: .*: sideband (restore|forget) LABEL .*--person .*\n$/);
  }
  assert.equal((await run("recall", "PREF.tone", ...ada)).out, "dry\n");
  assert.doesNotMatch((await run("rollback", "--help")).out, /--person/);

  // Everything of a user goes only when told so.
  const unasked = await run("forget", "--all", ...user);
  assert.deepEqual([unasked.status, unasked.out], [2, ""]);
  assert.match(unasked.err, /--all needs --yes where nobody can be asked/);
  assert.equal(
    (await run("forget", "--all", "--yes", ...user)).out,
    "forgot everything of ada l, in all projects\n",
  );
  assert.equal((await run("forget", "--all", "--yes", ...user)).status, 1);
  assert.equal((await runIn(env.HOME ?? "", "facts", ...ada)).out, "");
});

test("a fact is forgotten with its history kept, and a new one is undone so that it stays", async () => {
  const { run, env } = home;
  const role = ["USER.role", "--user", "smith"];
  await run("remember", "USER.role", "smith", "--user", "smith");
  const [{ revision }] = JSON.parse((await run("facts", "--json", "--user", "smith")).out).facts;
  const forgotten = await run("forget", ...role);
  assert.equal(
    forgotten.out,
    `USER.role: forgotten; undo: ${sidebandCommand()} restore USER.role ${revision} --user smith --person\n`,
  );
  const { out } = await run("remember", "USER.role", "weaver", "--user", "smith");
  const [, undo] = /; undo: (.*)\n$/.exec(out) ?? [];
  assert.equal(undo, `${sidebandCommand()} forget USER.role --user smith --person`);
  execFileSync("/bin/sh", ["-c", undo], { env, stdio: "ignore" });
  assert.match((await run("history", ...role)).out, / forgotten +weaver\n\d+ .* forgotten +smith\n$/);
  assert.match(
    (await run("forget", ...role, "--keep-history")).err,
    /write sideband forget LABEL, which keeps/,
  );
  // For good, nothing is kept, and nobody is asked who cannot answer.
  assert.match(
    (await run("forget", ...role, "--for-good")).err,
    /--for-good needs --yes where nobody can be asked/,
  );
  assert.equal((await run("forget", "--all", "--yes", "--for-good", "--user", "smith")).status, 2);
  assert.equal((await run("forget", ...role, "--for-good", "--yes")).out, "USER.role: forgotten for good\n");
  assert.equal((await run("history", ...role)).status, 1);
});

test("an item of a list is forgotten, and what is refused is said in options", async () => {
  const { run } = home;
  const joan = ["--user", "joan"];
  for (const item of ["jargon", "x".repeat(1000)])
    await run("remember", "PREF.avoid", item, "--add", ...joan);
  const full = await run("remember", "PREF.avoid", "y".repeat(100), "--add", ...joan);
  assert.match(full.err, /; to remove one of its items: .* forget PREF\.avoid --item TEXT --user joan\n$/);
  const item = ["forget", "PREF.avoid", "--item"];
  assert.equal((await run(...item, "x".repeat(1000), ...joan)).status, 0);
  assert.equal((await run("recall", "PREF.avoid", ...joan)).out, "jargon\n");
  assert.match(
    (await run(...item, "emoji", ...joan)).err,
    /: the list on PREF\.avoid has no item "emoji"; it has: "jargon"\n$/,
  );
  assert.match(
    (await run(...item, "Jargon", ...joan)).out,
    /^PREF\.avoid: forgot "jargon"; undo: .* restore PREF\.avoid \d+ --user joan --person\n$/,
  );
  assert.match((await run(...item, "jargon", ...joan)).err, /: joan has no fact PREF\.avoid\n$/);
  for (const [option, text] of [
    ["--until", "2020-01-01"],
    ["--for", "999999w"],
  ]) {
    const { status, err } = await run("remember", "TASK.next", "x", option, text, ...joan);
    assert.equal(status, 2);
    assert.match(err, new RegExp(`^sideband remember: ${option} takes .*, (?:not|and) "${text}"`));
  }
  assert.match((await run("rollback", "--to", "tomorrow", ...joan)).err, /: --to must not be in the future/);
});

test("labels are added, listed first, hidden and shown; users are listed, and one is exported", () =>
  withHome(async ({ env, run, runIn }) => {
    const without = await run("labels", "add", "FAMILY.wife");
    assert.equal(without.status, 2);
    assert.match(without.err, /--description TEXT is needed/);
    const standard = await run("labels");
    assert.match(standard.out, /^LABEL +KEPT FOR +WHAT\nUSER\.name +person +What the user is called\n/);
    assert.match(standard.out, /\n216 labels can be added: .* help labels add\n$/);
    const early = await run("labels", "add", "FAMILY.wife", "--description", "her name");
    assert.match(early.err, /there is no store in .*, and so does: .* open\n$/);
    await run("remember", "USER.name", "Ada");
    const add = await run(
      "labels",
      "add",
      "FAMILY.wife",
      "--description",
      "her name",
      "--one-of",
      "Grace,Joan",
    );
    const remove = `${sidebandCommand()} labels remove FAMILY.wife`;
    assert.equal(add.out, `added FAMILY.wife; its facts are kept for the person; undo: ${remove}\n`);
    assert.match(
      (await run("labels")).out,
      /^LABEL +KEPT FOR +WHAT\nFAMILY\.wife +person +her name \[Grace \| Joan\] \(added \d{4}-\d\d-\d\d by cli\)\nUSER\.name /,
    );
    assert.match((await run("labels")).out, /\n215 labels can be added: .* help labels add\n$/);
    assert.equal((await run("remember", "FAMILY.wife", "Grace", "--user", "ada")).status, 0);
    assert.match(
      (await run("remember", "FAMILY.wife", "Eve", "--user", "ada")).err,
      /must be one of: "Grace", "Joan"/,
    );
    assert.match(
      (await run("labels", "hide", "FAMILY.wife")).out,
      /^FAMILY\.wife is hidden; undo: .* labels show FAMILY\.wife\n$/,
    );
    assert.equal((await run("labels", "hide", "FAMILY.wife")).out, "FAMILY.wife is hidden\n");
    assert.doesNotMatch((await run("labels")).out, /FAMILY/);
    assert.match((await run("labels", "--all")).out, /\(hidden\) her name/);
    assert.equal((await run("labels", "show", "FAMILY.wife", "--json")).status, 0);
    const { channels } = JSON.parse((await run("labels", "--json")).out);
    assert.deepEqual([channels.length, channels[0].label], [41, "FAMILY.wife"]);

    const loom = join(env.HOME ?? "", "loom");
    mkdirSync(join(loom, ".git"), { recursive: true });
    await runIn(loom, "remember", "TASK.next", "weave", "--user", "ada");
    await run("remember", "USER.name", "Eve", "--user", "eve");
    const users = await run("users");
    assert.match(users.out, /^USER +FACTS +CHANGED +PROJECTS\nada +1 .* loom-[0-9a-f]{12}\neve +1 /);
    const { users: found } = JSON.parse((await run("users", "--prefix", "e", "--json")).out);
    assert.deepEqual(fieldsOf(found, "user_id"), ["eve"]);
    const file = join(env.HOME ?? "", "ada.jsonl");
    assert.equal((await run("export", "--user", "ada", "--out", file)).status, 0);
    const kinds = readFileSync(file, "utf8")
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line).kind);
    assert.deepEqual(kinds, ["label", "user"]);
    // A project alone.
    const project = projectName(realpathSync(loom));
    const gone = await run("forget", "--all", "--yes", "--user", "ada", "--project", project);
    assert.equal(gone.out, `forgot everything of ada in ${project}\n`);
    assert.equal((await runIn(loom, "facts", "--user", "ada")).out, "FAMILY.wife=Grace\n");

    // Those that a person has made follow those of the account.
    const ada = ["--user", "ada"];
    await run("remember", "PET.cat", "Byron", "--description", "its name", ...ada);
    const edited = await run("labels", "edit", "FAMILY.wife", "--description", "her first name");
    const back = `${sidebandCommand()} labels edit FAMILY.wife --description 'her name'`;
    assert.equal(edited.out, `FAMILY.wife: her first name; undo: ${back}\n`);
    assert.match(
      (await run("labels", ...ada)).out,
      /\nFAMILY\.wife +person +her first name \[Grace \| Joan\] .*\nPET\.cat +person +its name\nUSER\.name /,
    );
    const { made } = JSON.parse((await run("labels", "--json", ...ada)).out);
    assert.deepEqual(made, [{ label: "PET.cat", scope: "person", description: "its name" }]);
    assert.doesNotMatch((await run("labels", "--user", "eve")).out, /PET/);
    assert.match(
      (await run("labels", "edit", "PET.cat", "--description", "x", ...ada)).err,
      /PET\.cat is a label that ada has made, .*: .* remember PET\.cat --description x --user ada\n$/,
    );
    assert.equal((await run("labels", "edit", "FAMILY.wife")).status, 2);
  }));

test("a label is made by writing it, asked about where it looks like a slip, and renamed", () =>
  withHome(async ({ env, run }) => {
    const first = await run("remember", "FAMILY.wife", "Grace");
    assert.equal(
      first.out,
      `FAMILY.wife: now "Grace"; undo: ${sidebandCommand()} forget FAMILY.wife --person\n`,
    );
    const slip = ["remember", "FAMILY.wif", "Joan"];
    const refused = await run(...slip);
    assert.deepEqual([refused.status, refused.out], [1, ""]);
    assert.match(refused.err, /Did you mean FAMILY\.wife\?\n.*\nto make FAMILY\.wif all .* with --new\n$/);
    assert.match(
      await answered(env, "n", slip),
      /FAMILY\.wif\. Write to FAMILY\.wife\?[\s\S]*nothing was stored/,
    );
    assert.equal((await run("facts")).out, "FAMILY.wife=Grace\n");
    assert.match(await answered(env, "y", slip), /FAMILY\.wife: was "Grace", now "Joan"/);
    assert.match(await answered(env, "new", slip), /FAMILY\.wif: now "Joan"/);
    assert.equal((await run("remember", "FAMILY.wives", "two", "--new")).status, 0);
    // What a person types at a terminal is said; a script may have any origin.
    const { facts } = JSON.parse((await run("facts", "--json")).out);
    const origins = facts.map(({ label, origin = "" }: Record<string, string>) => `${label} ${origin}`);
    assert.deepEqual(origins, ["FAMILY.wif said", "FAMILY.wife said", "FAMILY.wives "]);

    // What only may be a secret is asked about, too, and stored where nobody can be asked only if that is allowed.
    const doubtful = ["remember", "GYM.office", "sudo on the NAS is rosinenbrot44"];
    assert.match(
      (await run(...doubtful)).err,
      /This may be a password: .* SIDEBAND_ALLOW_SECRETS=1 lets it be stored\.\n$/,
    );
    assert.match(await answered(env, "n", doubtful), /Store it all the same\?[\s\S]*nothing was stored/);
    assert.match(await answered(env, "y", doubtful), /GYM\.office: now "sudo on/);
    assert.equal((await run("forget", "GYM.office", "--for-good", "--yes")).status, 0);

    const { revisions } = JSON.parse((await run("history", "FAMILY.wife", "--json")).out);
    const renamed = await run("rename", "FAMILY.wife", "PEOPLE.joan");
    assert.equal(
      renamed.out,
      `FAMILY.wife is now PEOPLE.joan; undo: ${sidebandCommand()} rename PEOPLE.joan FAMILY.wife --person\n`,
    );
    assert.match((await run("history", "PEOPLE.joan")).out, / Joan\n.* renamed +Joan\n.* replaced +Grace\n$/);
    assert.match((await run("log")).out, / PEOPLE\.joan: renamed from FAMILY\.wife, "Joan"\n$/);
    // What was printed before the rename still restores the value.
    const restored = await run("restore", "FAMILY.wife", String(revisions[1].revision));
    assert.equal(restored.err, "FAMILY.wife is PEOPLE.joan now\n");
    assert.match(
      restored.out,
      /^PEOPLE\.joan: was "Joan", now "Grace"; undo: .* restore PEOPLE\.joan \d+ --person\n$/,
    );
    await run("remember", "PEOPLE.joan", "Joan");
    // A label that is in use again means its own values, and no others.
    const { revision } = JSON.parse((await run("remember", "USER.name", "Ada", "--json")).out);
    await run("rename", "USER.name", "PEOPLE.me");
    for (const [label, old] of [
      ["FAMILY.wife", revisions[1].revision],
      ["USER.name", revision],
    ]) {
      assert.equal((await run("remember", label, "Eve", "--new")).status, 0);
      const other = await run("restore", label, String(old));
      assert.deepEqual([other.status, other.out], [1, ""]);
      assert.match(other.err, / no revision \d+ of .*Those that are kept: .* history /);
    }
    assert.equal((await run("recall", "PEOPLE.joan")).out, "Joan\n");
    assert.equal((await run("recall", "PEOPLE.me")).out, "Ada\n");
    await run("forget", "FAMILY.wife", "--for-good", "--yes");
    const taken = await run("rename", "PEOPLE.joan", "FAMILY.wives");
    assert.deepEqual([taken.status, taken.out], [1, ""]);
    assert.match(taken.err, /: FAMILY\.wives has a fact; with --merge it becomes a list of both\n$/);
    const merged = await run("rename", "PEOPLE.joan", "FAMILY.wives", "--merge", "--person");
    const [, undo] =
      /^PEOPLE\.joan is now in the list on FAMILY\.wives: "two; Joan"; undo: (.*)\n$/.exec(merged.out) ?? [];
    assert.match(undo, / rollback --to \S+ --unchanged-since \S+$/);
    assert.match((await run("rename", "PEOPLE.joan", "PEOPLE.jo")).err, / has no fact PEOPLE\.joan\n$/);
    assert.match(
      (await run("rename", "FAMILY.wives", "nonsense")).err,
      /no label nonsense\na label is GROUP\.name/,
    );
    assert.equal((await run("rename", "FAMILY.wif", "FAMILY.wif")).status, 2);

    // A set leaves what the account has as it is.
    await run("labels", "add", "HEALTH.diet", "--description", "mine");
    const set = ["labels", "add-set", "personal"];
    assert.match(
      (await run(...set)).out,
      /^LABEL +WHAT\nFAMILY\.partner +Name of the .*\n[\s\S]*\nadded 13 labels; undo: .* labels remove FAMILY\.partner .*\n$/,
    );
    assert.match((await run("labels")).out, /\nHEALTH\.diet +person +mine /);
    assert.equal((await run(...set)).out, "added 0 labels\n");
    // Its undo leaves the labels that are in use, and says what to do with them.
    await run("remember", "FAMILY.partner", "Grace");
    const removed = await run("labels", "remove", "FAMILY.partner", "FAMILY.children");
    assert.deepEqual([removed.status, removed.out.split(";")[0]], [1, "removed FAMILY.children"]);
    const hide = `${sidebandCommand()} labels hide FAMILY.partner`;
    assert.match(removed.err, /^sideband labels remove: FAMILY\.partner: somebody has a fact there, /);
    assert.ok(removed.err.endsWith(`\n${hide}\n`), removed.err);
    assert.match((await run("labels", "hide", "FAMILY.partner")).out, /^FAMILY\.partner is hidden; /);
    await run("labels", "show", "FAMILY.partner");
    assert.match(
      (await run("labels", "add-set", "life")).err,
      /SET is one of personal, support, team, research/,
    );

    await run("labels", "strict", "on");
    const strict = await run("remember", "BIKE.colour", "red");
    assert.match(
      strict.err,
      /no label BIKE\.colour\n.*\na new one: .* labels add BIKE\.colour --description '…'\n$/,
    );
  }));

/** What a terminal shows of a command that asks, and gets an answer. */
async function answered(env: NodeJS.ProcessEnv, answer: string, args: readonly string[]): Promise<string> {
  const command = [process.execPath, builtSideband(), ...args].map((word) => shellQuote(word)).join(" ");
  const terminal = spawn("script", ["-qec", command, "/dev/null"], {
    env,
    cwd: env.HOME,
    stdio: ["pipe", "pipe", "inherit"],
  });
  let shown = "";
  terminal.stdout.setEncoding("utf8").on("data", (text: string) => {
    const wasAsked = shown.includes("[y/N");
    shown += text;
    if (!wasAsked && shown.includes("[y/N")) terminal.stdin.write(`${answer}\n`);
  });
  await once(terminal, "close");
  return shown;
}

test("log --follow prints what happens until Ctrl-C, also what is forgotten with its history", async () => {
  const { run, env } = home;
  const ada = ["--user", "ada"];
  await run("remember", "PREF.tone", "dry", ...ada);
  const followed = spawn(process.execPath, [builtSideband(), "log", "--follow", ...ada], {
    env,
    stdio: ["ignore", "pipe", "inherit"],
  });
  const ended = once(followed, "exit");
  const lines = createInterface({ input: followed.stdout })[Symbol.asyncIterator]();
  const nextLine = async () => (await lines.next()).value;
  assert.match(await nextLine(), /cli +PREF\.tone: now "dry"$/);
  await run("remember", "PREF.tone", "warm", ...ada);
  assert.match(await nextLine(), /cli +PREF\.tone: was "dry", now "warm"$/);
  // The same value again is no change.
  await run("remember", "PREF.tone", "warm", ...ada);
  await run("remember", "USER.os", "Plan 9", ...ada);
  assert.match(await nextLine(), /cli +USER\.os: now "Plan 9"$/);
  await run("forget", "PREF.tone", ...ada);
  assert.match(await nextLine(), /:30 +PREF\.tone: forgotten, was "warm"$/);
  followed.kill("SIGINT");
  assert.deepEqual(await ended, [0, null]);
  assert.equal(await nextLine(), undefined);
});
