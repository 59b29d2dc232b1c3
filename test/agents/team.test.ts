/**
 * A team at the terminal and at the start of sessions: who shares a project, what goes along, what each sees, and that who
 * is removed gets nothing. In a data folder with several users, and with a service and a key for each person.
 */

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { after, before, test } from "node:test";
import { type Running, startRunning } from "../http/running-service.ts";
import { builtSideband } from "./built.ts";
import { openHome } from "./home.ts";
import { PATIENCE_MS } from "./host.ts";
import { callCommand } from "./loaded-command.ts";

const home = openHome();
let running: Running;
before(async () => {
  running = await startRunning();
});
after(async () => {
  await home.end();
  await running.end();
});

/** A command of a person in a project of the data folder. */
function at(project: string) {
  return (user: string, ...args: string[]) => home.run(...args, "--user", user, "--project", project);
}

async function printed(call: Promise<{ status: number | null; out: string; err: string }>): Promise<string> {
  const { status, out, err } = await call;
  assert.equal(status, 0, err);
  return out + err;
}

test("a project is shared with what is named, listed and asked for, and the sharing is undone by what is printed", async () => {
  const run = at("loom-1");
  await printed(run("ada", "remember", "PROJ.stack", "Node 20"));
  await printed(run("ada", "remember", "PROJ.build", "npm run build"));
  await printed(run("ada", "remember", "TASK.next", "weave"));
  assert.match(
    await printed(run("ada", "project")),
    /^loom-1: not shared with ada; to share it: \S+.* project share /,
  );
  const unasked = await run("ada", "project", "share");
  assert.equal(unasked.status, 2);
  assert.match(unasked.err, /needs --yes where nobody can be asked/);
  const shared = await printed(
    run("ada", "project", "share", "--with", "grace", "--take", "PROJ.stack", "--yes"),
  );
  assert.match(shared, /^loom-1: shared by ada and grace, who read and write; 1 fact; since /);
  assert.match(
    shared,
    /\nshared of ada: PROJ\.stack\nundo: .* project unshare --give-to ada --yes --user ada --project loom-1\n$/,
  );
  assert.equal(
    (await printed(run("grace", "facts"))).trim(),
    "# for all who share loom-1, written by ada, cli\nPROJ.stack=Node 20",
  );
  assert.equal((await run("eve", "facts")).out.trim(), "");
  assert.match(
    await printed(run("ada", "facts")),
    /^# for all who share loom-1, written by ada, cli\nPROJ\.stack=Node 20\n# ada, for you alone in loom-1\nTASK\.next=weave\nPROJ\.build=npm run build\n$/,
  );
  // The whole of it goes back to ada.
  const back = ["project", "unshare", "--give-to", "ada", "--user", "ada", "--project", "loom-1"];
  const unaskedBack = await home.run(...back);
  assert.deepEqual([unaskedBack.status, /needs --yes/.test(unaskedBack.err)], [2, true]);
  await printed(home.run(...back, "--yes"));
  assert.equal((await run("grace", "facts")).out.trim(), "");
  assert.match(await printed(run("ada", "facts")), /PROJ\.stack=Node 20/);
});

test("what is written goes to the team by its label, by --shared or --own, and each is undone where it is", async () => {
  const run = at("loom-2");
  const unshared = await run("ada", "remember", "USER.os", "Plan 9", "--shared");
  assert.equal(unshared.status, 1);
  assert.match(
    unshared.err,
    /^sideband remember: this project is not shared with ada: nothing was written; to share it: .* project share --user ada --project loom-2; for ada alone: --own\n$/m,
  );
  await printed(run("ada", "project", "share", "--with", "grace", "--yes"));
  assert.match(
    await printed(run("ada", "remember", "PROJ.goal", "Ship it")),
    /^PROJ\.goal for all who share loom-2: now "Ship it"; undo: .* forget PROJ\.goal --shared --user ada --project loom-2\n$/,
  );
  assert.match(
    await printed(run("grace", "remember", "PROJ.goal", "Ship it well")),
    /^PROJ\.goal for all who share loom-2: was "Ship it" by ada, now "Ship it well"; undo: .* restore PROJ\.goal \d+ --shared --user grace/,
  );
  assert.match(
    await printed(run("ada", "remember", "PROJ.goal", "Sleep", "--own")),
    /^PROJ\.goal for you alone in loom-2: now "Sleep"; undo: .* forget PROJ\.goal --own --user ada/,
  );
  assert.match(
    await printed(run("ada", "remember", "PROJ.stack", "Zig; C", "--add", "--own")),
    /^PROJ\.stack for you alone in loom-2: now "Zig; C"; undo: .* forget PROJ\.stack --own --user ada/,
  );
  assert.match(
    await printed(run("ada", "remember", "PROJ.stack", "Node; npm", "--add")),
    /^PROJ\.stack for all who share loom-2: now "Node; npm"; undo: .* forget PROJ\.stack --shared --user ada/,
  );
  assert.match(
    await printed(run("ada", "remember", "PROJ.stack", "C; D", "--add", "--own")),
    /: was "Zig; C", now "Zig; C; D"; undo: .* restore PROJ\.stack \d+ --own --user ada/,
  );
  await printed(run("ada", "remember", "PROJ.stack", "a; b", "--add", "--scope", "person"));
  assert.equal((await home.run("recall", "PROJ.stack", "--person", "--user", "ada")).out, "a; b\n");
  assert.equal((await run("grace", "recall", "PROJ.stack")).out, "Node; npm\n");
  // What is looked for among all items is found at the place that is meant.
  assert.match(
    (await run("ada", "forget", "PROJ.stack", "--item", "vim", "--shared")).err,
    /has: "Node", "npm"$/m,
  );
  assert.match(
    await printed(run("ada", "forget", "PROJ.stack", "--item", "node", "--shared")),
    /^PROJ\.stack: forgot "Node"; undo: .* restore PROJ\.stack \d+ --shared --user ada/,
  );
  await printed(run("ada", "forget", "PROJ.stack", "--shared"));
  await printed(run("ada", "forget", "PROJ.stack", "--own"));
  await printed(home.run("forget", "PROJ.stack", "--person", "--user", "ada"));
  const both = await printed(run("ada", "facts"));
  assert.match(both, /# hides what is shared by grace, cli: "Ship it well"\nPROJ\.goal=Sleep/);
  assert.equal((await run("grace", "recall", "PROJ.goal")).out, "Ship it well\n");
  // Each is taken away where it is.
  assert.match(
    await printed(run("ada", "forget", "PROJ.goal", "--shared")),
    /^PROJ\.goal: forgotten; undo: .* restore PROJ\.goal \d+ --shared --user ada --project loom-2\n$/,
  );
  assert.equal((await run("ada", "recall", "PROJ.goal")).out, "Sleep\n");
  assert.equal((await run("grace", "facts")).out.trim(), "");
  // undo brings back what was forgotten of the shared facts, and a second one takes that back.
  await printed(run("ada", "undo"));
  assert.equal((await run("grace", "recall", "PROJ.goal")).out, "Ship it well\n");
  for (const wrong of [
    ["remember", "PROJ.goal", "x", "--shared", "--own"],
    ["remember", "PROJ.goal", "x", "--shared", "--scope", "person"],
    ["forget", "--all", "--shared", "--yes"],
  ])
    assert.equal((await run("ada", ...wrong)).status, 2, wrong.join(" "));
  assert.equal(
    (await home.run("remember", "PROJ.goal", "x", "--shared", "--person", "--user", "ada")).status,
    2,
  );
});

test("undo takes back one's own last shared write, and never a colleague's", async () => {
  const run = at("loom-3");
  await printed(run("ada", "project", "share", "--with", "grace", "--yes"));
  await printed(run("ada", "remember", "PROJ.stack", "Node 20"));
  await printed(run("grace", "remember", "PROJ.build", "make"));
  await printed(run("ada", "undo"));
  assert.equal(
    (await run("grace", "facts")).out.trim(),
    "# for all who share loom-3, written by grace, cli\nPROJ.build=make",
  );
  await printed(run("ada", "undo"));
  assert.match((await run("grace", "facts")).out, /PROJ\.stack=Node 20/);
  // What a colleague has forgotten or renamed is the colleague's to take back.
  await printed(run("grace", "forget", "PROJ.build", "--shared"));
  await printed(run("grace", "rename", "PROJ.stack", "PROJ.runtime"));
  assert.equal((await run("ada", "undo")).status, 1);
  assert.doesNotMatch(await printed(run("ada", "facts")), /PROJ\.build|PROJ\.stack/);
  assert.match(
    await printed(run("ada", "log")),
    / grace +PROJ\.build shared in loom-3: forgotten, was "make"\n.* grace +PROJ\.runtime shared in loom-3: renamed from PROJ\.stack/,
  );
  await printed(run("grace", "undo"));
  assert.match(await printed(run("ada", "facts")), /PROJ\.stack=Node 20/);
  // Where a colleague has written on the same label since, it stays.
  await printed(run("grace", "remember", "PROJ.stack", "Node 24"));
  assert.equal((await run("ada", "undo")).status, 1);
  assert.equal((await run("ada", "recall", "PROJ.stack")).out, "Node 24\n");
  const moment = new Date().toISOString();
  await printed(run("ada", "remember", "PROJ.stack", "Deno"));
  await printed(run("ada", "rollback", "--to", moment));
  assert.equal((await run("ada", "recall", "PROJ.stack")).out, "Deno\n", "a rollback of one's own leaves it");
  assert.match(
    await printed(run("ada", "rollback", "--to", moment, "--shared")),
    /PROJ\.stack.*: Deno → Node 24/,
  );
  const log = await printed(run("grace", "log"));
  assert.match(log, / ada, cli +PROJ\.stack shared in loom-3: was "Node 24", now "Deno"\n/);
  assert.match(await printed(run("grace", "history", "PROJ.stack")), / grace, cli /);
});

test("whoever is erased at the terminal is told what stays for the team", async () => {
  const run = at("loom-6");
  await printed(run("ada", "project", "share", "--with", "hedy", "--yes"));
  await printed(run("hedy", "remember", "PROJ.stack", "Node 20"));
  await printed(run("hedy", "remember", "PROJ.stack", "Node 24"));
  assert.equal(
    (await home.run("forget", "--all", "--yes", "--user", "hedy")).out,
    "forgot everything of hedy, in all projects\n2 values of loom-6 stay without the name of hedy: the shared project has what its members wrote\n",
  );
  assert.equal(
    (await run("ada", "facts")).out.trim(),
    "# for all who share loom-6, written by cli\nPROJ.stack=Node 24",
  );
  // What nobody has written any more is nobody's to take back.
  assert.equal((await run("ada", "undo")).status, 1);
});

test("members come and go, a name that shares nothing is told, and what is shared is erased only when asked", async () => {
  const run = at("loom-4");
  await printed(run("ada", "project", "share", "--with", "grace", "--yes"));
  await printed(run("ada", "remember", "PROJ.goal", "Ship it"));
  const added = await printed(run("ada", "project", "members", "add", "linus"));
  assert.match(added, /undo: .* project members remove linus --user ada --project loom-4\n$/);
  assert.equal((await run("ada", "project", "members")).out, "ada\ngrace\nlinus\n");
  assert.equal((await run("linus", "recall", "PROJ.goal")).out, "Ship it\n");
  await printed(run("ada", "project", "members", "remove", "linus"));
  assert.equal((await run("linus", "recall", "PROJ.goal")).status, 1);
  assert.match(
    (await run("ada", "project", "members", "remove", "linus")).err,
    /linus does not share loom-4/,
  );
  const refused = await run("ada", "project", "unshare");
  assert.match(
    refused.err,
    /--give-to USER names the member who gets them; .* project erase --user ada --project loom-4\n$/,
  );
  await printed(run("ada", "project", "share", "--read-only", "--yes"));
  assert.match(await printed(run("ada", "project")), /shared by ada and grace, who only read; 1 fact;/);
  assert.equal((await run("ada", "project", "erase")).status, 2);
  assert.match(
    await printed(run("ada", "project", "erase", "--yes")),
    /^loom-4: erased 1 shared fact for good\n/,
  );
  assert.match((await run("ada", "project", "members")).err, /loom-4 is not shared with ada\n$/);
});

test("a project is meant by its name: two that begin alike are never taken for each other", async () => {
  await printed(at("mill-aaaa")("ada", "project", "share", "--with", "grace", "--yes"));
  await printed(at("mill-bbbb")("ada", "project", "share", "--yes"));
  await printed(at("mill-aaaa")("ada", "remember", "PROJ.goal", "grind"));
  const unclear = await at("mill")("grace", "facts");
  assert.equal(unclear.status, 1);
  assert.match(unclear.err, /several projects of grace begin with "mill": mill-aaaa, mill-bbbb/);
  assert.match((await at("mill-a")("grace", "facts")).out, /PROJ\.goal=grind/);
  // A letter of another script makes another name.
  assert.match((await at("m\u0456ll-aaaa")("grace", "facts")).err, /grace has no facts/);
});

test("with a key for each person, only the account's key shares, and who is removed gets nothing", async () => {
  const keyOf = async (user: string) =>
    (await running.service.core.keys.create({ account: "acme", tier: "unlimited", user })).key;
  const keys: Record<string, string> = {
    account: running.key,
    ada: await keyOf("ada"),
    grace: await keyOf("grace"),
  };
  const as = (key: string, user: string, ...args: string[]) =>
    callCommand({
      args: [...args, "--user", user, "--project", "web-1"],
      env: { ...home.env, SIDEBAND_API_URL: running.url, SIDEBAND_API_KEY: keys[key] },
      cwd: home.env.HOME ?? "",
    });
  const mine = await as("ada", "ada", "project", "share", "--yes");
  assert.equal(mine.status, 1);
  assert.match(
    mine.err,
    /^sideband project share: this key is for one user: whoever has the account's own key /,
  );
  await printed(as("account", "ada", "project", "share", "--with", "grace", "--yes"));
  await printed(as("ada", "ada", "remember", "PROJ.goal", "Ship it"));
  assert.match(
    await printed(as("grace", "grace", "project")),
    /^web-1: shared by its members, who read and write; 1 fact;/,
  );
  assert.match(
    (await as("grace", "grace", "project", "members")).err,
    /is not told who else shares the project/,
  );
  assert.equal((await as("grace", "grace", "recall", "PROJ.goal")).out, "Ship it\n");
  await printed(as("account", "ada", "project", "members", "remove", "grace"));
  assert.equal((await as("grace", "grace", "recall", "PROJ.goal")).status, 1);
  assert.match((await as("grace", "grace", "project")).out, /^web-1: not shared with grace/);
  const shut = await as("grace", "grace", "remember", "PROJ.goal", "mine", "--shared");
  assert.match(shut.err, /this project is not shared with grace: nothing was written/);
  assert.equal((await as("ada", "ada", "recall", "PROJ.goal")).out, "Ship it\n");
});

test("a session's section and news name the team, and those who share nothing get the same bytes as before", async () => {
  const run = at("loom-5");
  const hook = async (user: string) => {
    const input = JSON.stringify({ hook_event_name: "SessionStart", source: "startup", cwd: home.env.HOME });
    const env = { ...home.env, SIDEBAND_PROJECT: "loom-5", SIDEBAND_TIMEOUT_MS: PATIENCE_MS };
    const out = execFileSync(process.execPath, [builtSideband(), "hook", "--user", user], { input, env });
    return out.length === 0 ? {} : JSON.parse(String(out));
  };
  await printed(run("ada", "remember", "PROJ.goal", "Ship it"));
  const alone = (await hook("ada")).hookSpecificOutput.additionalContext;
  assert.doesNotMatch(alone, /team/);
  await printed(run("ada", "project", "share", "--with", "grace", "--take", "--yes"));
  const joined = (await hook("grace")).hookSpecificOutput.additionalContext;
  assert.match(
    joined,
    /\nShared with the user's team, any of whom may have written them:\nPROJ\.goal=Ship it\n</,
  );
  assert.deepEqual((await hook("eve")).hookSpecificOutput, undefined);
  await printed(run("grace", "remember", "PROJ.goal", "Ship it well"));
  assert.match(
    (await hook("ada")).systemMessage,
    /PROJ\.goal was "Ship it", now "Ship it well" \(grace, cli\)\. "sideband log"/,
  );
  await printed(run("ada", "project", "members", "remove", "grace"));
  assert.deepEqual((await hook("grace")).hookSpecificOutput, undefined);
});
