/**
 * Every command and every tool that changes a memory is undone, by what it prints and by "sideband undo": then the whole
 * memory is what it was: facts with their ends, the labels that the person has made, and those of the account.
 */

import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { MEMORY_TOOLS } from "../../src/agent-side/memory-tools.ts";
import type { UndoIn } from "../../src/agent-side/written-line.ts";
import { COMMANDS } from "../../src/cli/main.ts";
import { undoAnywhere } from "../../src/cli/printed-commands.ts";
import { readAgentConfig } from "../../src/config.ts";
import { openAgentMemory } from "../../src/main/agent.ts";
import { openHome } from "./home.ts";

const home = openHome({ SIDEBAND_HISTORY: "32" });
const USER = "mary";
const SAME = ["--user", USER];
const LOOM = "loom";
const notes = join(home.env.HOME ?? "", "notes.json");
/** When what the walk begins with was there. */
let start = "";
after(() => home.end());

before(async () => {
  const names = Array.from({ length: 50 }, (_, i) => [`NOTE.n${i}`, `note ${i}`]);
  writeFileSync(
    notes,
    JSON.stringify({ "USER.name": "Mary", "USER.os": "Debian", ...Object.fromEntries(names) }),
  );
  const facts = [
    ["PREF.tone", "dry", "--until", "2099-12-01"],
    ["PREF.avoid", "jargon", "--add"],
    ["PET.cat", "Tom", "--description", "its name"],
    ["PET.dog", "Rex"],
    ["PROJ.goal", "cloth", "--project", LOOM],
    ["PAGE.title", "On looms", "--origin", "read", "--until", "2099-12-01"],
    ["PAGE.author", "A. Weaver", "--origin", "read"],
  ];
  for (const words of facts) assert.equal((await home.run("remember", ...words, ...SAME)).status, 0);
  start = (await (await memory()).changes(USER)).changes[0].at;
});

const memory = () =>
  openAgentMemory({ ...readAgentConfig({}), dataFolder: home.data, apiUrl: undefined, apiKey: undefined });

/** All that a person sees. Who wrote what and when is not a part of it. */
async function wholeMemory() {
  const client = await memory();
  const at = async (project?: string) => {
    const { facts } = await client.facts(USER, { project });
    return facts.map(({ label, value, place, expires_at, description, origin, pinned }) => {
      return { label, value, place, expires_at, description, origin, pinned };
    });
  };
  const { channels, strict } = await client.channels();
  const projects = (await client.projects()).projects.map(({ created_at: _at, ...sharing }) => sharing);
  const labels = channels.map(({ created_at: _at, created_by: _by, created_key: _key, ...terms }) => terms);
  return { person: await at(), loom: await at(LOOM), labels, strict, projects };
}

async function revisionOf(label: string, value: string): Promise<string> {
  const { revisions } = await (await memory()).history(USER, label);
  return String(revisions.find((revision) => revision.value === value)?.revision);
}

const IN_LOOM = ["--project", LOOM];

type Words = string[] | (() => Promise<string[]>);

/** Each finds what those before it have done. */
const WALK: readonly (readonly [command: string, words: Words])[] = [
  ["remember", ["USER.role", "weaver"]],
  ["remember", ["PREF.tone", "warm"]],
  ["remember", ["PREF.tone", "warm", "--until", "2098-01-01"]],
  ["remember", ["PREF.tone", "warm"]],
  ["remember", ["PREF.avoid", "emoji", "--add"]],
  ["remember", ["PET.cat", "Tom", "--description", "how it is called"]],
  ["remember", ["PET.cat", "Mimi", "--description", "who it is"]],
  ["remember", ["PROJ.goal", "linen", "--project", LOOM]],
  ["review", ["PAGE.title", "--accept"]],
  ["review", ["--forget"]],
  ["pin", ["PREF.tone"]],
  ["unpin", ["PREF.tone"]],
  ["forget", ["PREF.avoid", "--item", "jargon"]],
  ["forget", ["PREF.avoid", "--item", "emoji"]],
  ["forget", ["PREF.tone"]],
  ["restore", async () => ["PREF.tone", await revisionOf("PREF.tone", "dry")]],
  ["restore", async () => ["PET.cat", await revisionOf("PET.cat", "Tom")]],
  ["rename", ["PET.dog", "HOME.dog"]],
  ["rename", ["PET.cat", "HOME.cat"]],
  ["rename", ["HOME.cat", "HOME.dog", "--merge"]],
  // One that has a history.
  ["rename", ["USER.role", "PREF.avoid"]],
  ["import", [notes, "--yes"]],
  ["rollback", async () => ["--to", start]],
  ["undo", []],
  ["project share", ["--with", "grace", "--take", "--yes", ...IN_LOOM]],
  ["project share", ["--read-only", "--yes", ...IN_LOOM]],
  ["project share", ["--read-write", "--yes", ...IN_LOOM]],
  ["project members", ["add", "linus", ...IN_LOOM]],
  ["project members", ["remove", "linus", "grace", ...IN_LOOM]],
  ["remember", ["PROJ.goal", "silk", ...IN_LOOM]],
  ["remember", ["PROJ.stack", "warp and weft", "--shared", ...IN_LOOM]],
  ["remember", ["PROJ.goal", "my own", "--own", ...IN_LOOM]],
  ["forget", ["PROJ.stack", "--shared", ...IN_LOOM]],
  // Without a place it is the one that counts; its undo means that one, also where another has the label.
  ["forget", ["PROJ.goal", ...IN_LOOM]],
  ["remember", ["PREF.tone", "of my own", "--own", ...IN_LOOM]],
  ["forget", ["PREF.tone", ...IN_LOOM]],
  ["forget", ["PREF.tone", ...IN_LOOM]],
  ["remember", ["PROJ.stack", "c; d", "--shared", "--add", ...IN_LOOM]],
  ["forget", ["PROJ.stack", "--item", "C", "--shared", ...IN_LOOM]],
  ["remember", ["PROJ.stack", "a; b", "--own", "--add", ...IN_LOOM]],
  ["forget", ["PROJ.stack", "--item", "A", ...IN_LOOM]],
  ["forget", ["PROJ.stack", "--own", ...IN_LOOM]],
  ["rename", ["PROJ.goal", "PROJ.aim", ...IN_LOOM]],
  ["project unshare", ["--give-to", USER, "--yes", ...IN_LOOM]],
  ["labels add", ["TEAM.size", "--description", "Shirt", "--one-of", "S,M", "--for", "7d"]],
  ["labels edit", ["TEAM.size", "--description", "Of a shirt", "--one-of", "", "--max-bytes", "9"]],
  ["labels hide", ["TEAM.size"]],
  ["labels show", ["TEAM.size"]],
  ["labels hide", ["USER.gpu"]],
  ["labels hide", ["TEAM.size"]],
  ["labels remove", ["TEAM.size"]],
  ["labels add-set", ["personal"]],
  ["labels strict", ["on"]],
  ["labels strict", ["off"]],
];

/**
 * What they do to a memory nobody is to undo. `forget --for-good`, `forget --all` and `project erase` say so, and ask.
 */
const NOT_WALKED: Readonly<Record<string, readonly string[]>> = {
  "they read": [
    ...[
      "project",
      "recall",
      "find",
      "facts",
      "context",
      "history",
      "log",
      "labels",
      "users",
      "read",
      "measure",
      "usage",
      "keys list",
    ],
    ...[
      "export",
      "accounts export",
      "agents list",
      "agents status",
      "backup create",
      "backup verify",
      "verify",
      "verify-receipt",
      "audit",
    ],
  ],
  "it erases for good": ["project erase"],
  "they serve others": ["serve", "owner", "open", "mcp", "hook"],
  "they change keys, settings of hosts, or how it is stored": [
    ...[
      "keys create",
      "accounts limit",
      "keys change",
      "keys revoke",
      "operators add",
      "operators list",
      "operators remove",
      "agents install",
      "agents remove",
      "connect",
      "disconnect",
      "off",
      "on",
    ],
    ...["compact", "db", "project groups"],
  ],
  "they bring whole accounts": ["accounts import", "backup restore", "backup erase-again"],
};

test("every command is in the walk, or is known not to change what a person has", () => {
  const walked = new Set(WALK.map(([command]) => command));
  const known = [...walked, ...Object.values(NOT_WALKED).flat()];
  assert.deepEqual(known.sort(), Object.keys(COMMANDS).sort());
});

/** The commands in a line, or lines, that undo what they tell of. */
function undosIn(text: string): string[] {
  return [...text.matchAll(/undo: ([^;\n]+)/g)].map(([, command]) => command);
}

async function runPrinted(command: string): Promise<void> {
  const { status, err } = await home.typed(command);
  assert.equal(status, 0, `${command}: ${err}`);
}

test("every command that writes is undone by what it prints, and by undo", async () => {
  for (const [command, words] of WALK) {
    const call = [...command.split(" "), ...(typeof words === "function" ? await words() : words), ...SAME];
    const was = await wholeMemory();
    const run = async () => {
      const { status, out, err } = await home.run(...call);
      assert.equal(status, 0, `${call.join(" ")}: ${err}`);
      return undosIn(out + err);
    };
    const undos = await run();
    const done = await wholeMemory();
    assert.notDeepEqual(done, was, call.join(" "));
    assert.ok(undos.length > 0, `${call.join(" ")} prints no undo`);
    for (const undo of undos) await runPrinted(undo);
    assert.deepEqual(await wholeMemory(), was, `${call.join(" ")}: ${undos.join(", ")}`);
    await run();
    assert.deepEqual(await wholeMemory(), done, `${call.join(" ")} again`);
    if (/^(?:labels|project) /.test(command)) continue;
    const undo = ["undo", ...SAME];
    assert.equal((await home.run(...undo)).status, 0);
    assert.deepEqual(await wholeMemory(), was, `undo of ${call.join(" ")}`);
    // Done twice, it takes the undo back: the next one finds what this one did.
    assert.equal((await home.run(...undo)).status, 0);
    assert.deepEqual(await wholeMemory(), done, `undo of the undo of ${call.join(" ")}`);
  }
  const listed = (await home.run("undo", "--list", ...SAME)).out.trimEnd().split("\n");
  assert.equal(listed.length, 21);
  assert.match(listed[0], /^WHEN +BY +WHAT +GO BACK BEFORE IT$/);
  assert.match((await home.run("undo", "--user", "nobody")).err, /: nothing has changed for nobody\n$/);
});

test("what undoes a pin, an acceptance or an ending means the same fact in another folder", async () => {
  const shed = join(home.env.HOME ?? "", "shed");
  mkdirSync(join(shed, ".git"), { recursive: true });
  const inShed = (...words: string[]) => home.runIn(shed, ...words, ...SAME);
  const factHere = async () => {
    const { out } = await inShed("facts", "--json");
    return JSON.parse(out).facts.find(({ label }: { label: string }) => label === "PROJ.repo");
  };
  // The person has one on the same label.
  await home.run("remember", "PROJ.repo", "the person's", "--person", ...SAME);
  await inShed("remember", "PROJ.repo", "the shed's", "--origin", "read");
  for (const words of [
    ["pin", "PROJ.repo"],
    ["review", "PROJ.repo", "--accept"],
  ]) {
    const { revision: _, updated_at: _at, ...was } = await factHere();
    const [undo = ""] = undosIn((await inShed(...words)).out);
    await runPrinted(undo);
    const { revision: __, updated_at: __at, ...now } = await factHere();
    assert.deepEqual({ pinned: false, ...now }, { pinned: false, ...was }, undo);
  }
  await home.run("forget", "PROJ.repo", "--person", ...SAME);
  await inShed("forget", "PROJ.repo");
  const [, back = ""] = /to get it back: (.*)/.exec((await inShed("recall", "PROJ.repo")).err) ?? [];
  await runPrinted(back);
  assert.equal((await inShed("recall", "PROJ.repo")).out, "the shed's\n");
});

test("what undoes a merge or a rollback takes back that alone, whatever was done since", async () => {
  const value = async (label: string) => (await home.run("recall", label, ...SAME)).out.trimEnd();
  const done = async (...words: string[]) => {
    const { status, out, err } = await home.run(...words, ...SAME);
    assert.equal(status, 0, err);
    const [undo = "", ...others] = undosIn(out + err);
    assert.deepEqual(others, []);
    return undo;
  };
  for (const [label, text] of [
    ["KIN.son", "Ben"],
    ["KIN.daughter", "Eve"],
    ["KIN.uncle", "Tom"],
  ])
    await done("remember", label, text, "--new");
  const joined = await done("rename", "KIN.son", "KIN.daughter", "--merge");
  const { at } = (await (await memory()).changes(USER)).changes[0];
  await done("remember", "KIN.uncle", "Tim");
  await runPrinted(joined);
  assert.deepEqual(await Promise.all(["son", "daughter", "uncle"].map((name) => value(`KIN.${name}`))), [
    "Ben",
    "Eve",
    "Tim",
  ]);
  for (const back of [() => done("rollback", "--to", at), () => done("undo")]) {
    const undo = await back();
    await done("remember", "KIN.aunt", "Ada", "--new");
    await done("remember", "KIN.uncle", "Jim");
    await runPrinted(undo);
    assert.deepEqual([await value("KIN.aunt"), await value("KIN.uncle")], ["Ada", "Jim"]);
    assert.deepEqual([await value("KIN.son"), await value("KIN.daughter")], ["Ben", "Eve"]);
  }
});

const TOOLS: readonly (readonly [tool: string, input: () => Promise<object>])[] = [
  ["remember", async () => ({ label: "PLANT.rose", value: "red" })],
  ["remember", async () => ({ label: "PLANT.rose", value: "white", until: "2099-01-01" })],
  ["remember", async () => ({ label: "PLANT.rose", value: "white", ttl_s: 9000 })],
  ["remember", async () => ({ label: "PLANT.rose", value: "pink", add: true })],
  ["history", async () => ({ label: "PLANT.rose", restore: Number(await revisionOf("PLANT.rose", "red")) })],
  ["history", async () => ({ label: "PLANT.rose", rename_to: "GARDEN.rose" })],
  ["remember", async () => ({ label: "GARDEN.tree", value: "oak" })],
  ["history", async () => ({ label: "GARDEN.rose", rename_to: "GARDEN.tree", merge: true })],
  ["forget", async () => ({ label: "GARDEN.tree" })],
  ["add_label", async () => ({ label: "SHOP.list", description: "what to buy" })],
];

test("every tool that writes names the command that undoes it", async () => {
  const writing = MEMORY_TOOLS.filter(({ annotations }) => !annotations.readOnlyHint);
  const walked = new Set(TOOLS.map(([name]) => name));
  assert.deepEqual([...walked].sort(), writing.map(({ name }) => name).sort());
  const config = readAgentConfig({ SIDEBAND_DATA: home.data, SIDEBAND_USER_ID: USER });
  const undoIn: UndoIn = (place, project) => undoAnywhere(config, place, project);
  for (const [name, input] of TOOLS) {
    const was = await wholeMemory();
    const given = await input();
    const what = `${name} ${JSON.stringify(given)}`;
    const run = async () => {
      const tool = MEMORY_TOOLS.find((one) => one.name === name)!;
      return String(
        (await tool.run(await memory(), USER, given as Record<string, unknown>, { undoIn })).result,
      );
    };
    const undos = undosIn(await run());
    const done = await wholeMemory();
    assert.notDeepEqual(done, was, what);
    assert.ok(undos.length > 0, `${what} names no undo`);
    for (const undo of undos) await runPrinted(undo);
    assert.deepEqual(await wholeMemory(), was, `${what}: ${undos.join(", ")}`);
    await run();
  }
});
