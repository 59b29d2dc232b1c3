/** Every command that Sideband prints for a person to type runs as it is printed, whatever the project, the user and the folder are called. */

import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { type } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { MEMORY_TOOLS } from "../../src/agent-side/memory-tools.ts";
import { type UndoIn, writtenLine } from "../../src/agent-side/written-line.ts";
import { AGENTS } from "../../src/agents/install.ts";
import { projectOf } from "../../src/agents/project.ts";
import { sidebandCommand, undoAnywhere } from "../../src/cli/printed-commands.ts";
import { readAgentConfig } from "../../src/config.ts";
import type { FactsAnswer } from "../../src/contract/answers.ts";
import { openAgentMemory } from "../../src/main/agent.ts";
import { builtSideband } from "./built.ts";
import { openHome } from "./home.ts";

const home = openHome();
after(() => home.end());

/** Runs a printed command, and tells what it printed. */
async function typed(command: string, folder?: string): Promise<string> {
  const { status, out, err } = await home.typed(command, folder);
  assert.equal(status, 0, `${command}\n${err}`);
  return out;
}

/** Runs a line in a shell, with processes of its own. */
function inShell(command: string): string {
  const options = { cwd: home.env.HOME, env: home.env, encoding: "utf8" } as const;
  const { status, stdout, stderr } = spawnSync("/bin/sh", ["-c", command], options);
  assert.equal(status, 0, `${command}\n${stderr}`);
  return stdout;
}

/** The commands in what was printed: each is the rest of its line. */
function commandsIn(text: string): string[] {
  const program = sidebandCommand();
  return text.split("\n").flatMap((line) => {
    const at = line.indexOf(program);
    return at < 0 ? [] : line.slice(at);
  });
}

const NAMES = ["-x", "--help", "織機", "it's", 'a "b" $(touch pwned) `c` !d', "a\u202eb", "a;b&c", "~ada"];

test("an undo runs as it is printed for every project and every user", async () => {
  for (const name of NAMES) {
    const place = [`--user=${name}`, `--project=${name}`];
    const call = async (...args: string[]) => {
      const { out, err } = await home.run(...args, ...place);
      return commandsIn(out + err);
    };
    const value = async () => (await home.run("recall", "PROJ.goal", ...place)).out;
    const [forget] = await call("remember", "PROJ.goal", "sails");
    const [restore] = await call("remember", "PROJ.goal", "hull");
    await typed(restore);
    assert.equal(await value(), "sails\n", name);
    const [again] = await call("forget", "PROJ.goal");
    await typed(again);
    assert.equal(await value(), "sails\n", name);
    await typed(forget);
    assert.equal(await value(), "", name);
    // An undo that an agent is told is typed in any folder.
    const config = readAgentConfig({ SIDEBAND_DATA: home.data, SIDEBAND_USER_ID: name });
    const written = JSON.parse((await home.run("remember", "PROJ.goal", "x", ...place, "--json")).out);
    await typed(
      commandsIn(writtenLine(written, undefined, undoAnywhere(config, written.place, name)))[0],
      "/",
    );
    assert.equal(await value(), "", name);
  }
});

test("an undo that was printed before a repository got a remote goes on under its new name", async () => {
  const folder = join(home.env.HOME ?? "", "mill");
  mkdirSync(join(folder, ".git"), { recursive: true });
  const call = async (...args: string[]) => {
    const { status, out, err } = await home.runIn(folder, ...args, "--user", "eli");
    assert.equal(status, 0, `${args.join(" ")}: ${err}`);
    return out;
  };
  await call("remember", "PROJ.goal", "flour");
  const [restore] = commandsIn(await call("remember", "PROJ.goal", "bread"));
  const [forget] = commandsIn(await call("remember", "PROJ.stack", "stone"));
  writeFileSync(
    join(folder, ".git/config"),
    '[remote "origin"]\n\turl = https://example.com/eli/windmill.git\n',
  );
  assert.equal(await call("recall", "PROJ.goal"), "bread\n");
  const done = await home.typed(restore, folder);
  assert.equal(done.status, 0, done.err);
  assert.match(done.err, /^mill-[0-9a-f]{12} has a remote since, and is windmill-[0-9a-f]{12} now\n/);
  assert.equal(await call("recall", "PROJ.goal"), "flour\n");
  await typed(forget, folder);
  assert.equal((await home.runIn(folder, "recall", "PROJ.stack", "--user", "eli")).status, 1);
});

test("an undo means the fact that was written, also where another place has its label", async () => {
  const folder = join(home.env.HOME ?? "", "loom");
  mkdirSync(join(folder, ".git"), { recursive: true });
  const user = ["--user", "lin"];
  const run = async (...args: string[]) => {
    const { status, out, err } = await home.runIn(folder, ...args, ...user);
    assert.equal(status, 0, `${args.join(" ")}: ${err}`);
    return out;
  };
  const worktree = ["--project", "cloth/x"];
  const everything = async () => {
    const places = [[], ["--person"], worktree, ["--project", "cloth"]];
    const answers = await Promise.all(places.map((place) => run("facts", "--json", ...place)));
    return answers.map((answer) => {
      const { facts } = JSON.parse(answer) as FactsAnswer;
      return facts.map(({ label, value, place }) => ({ label, value, place }));
    });
  };
  for (const label of ["PROJ.repo", "PREF.tone", "LIST.b"])
    await run("remember", label, "of the project", "--scope", "project");
  await run("remember", "LIST.a", "of the person");
  await run("remember", "TASK.next", "of the worktree", ...worktree);
  const calls = [
    ["remember", "PROJ.repo", "mine", "--scope", "person"],
    ["remember", "PROJ.repo", "my other", "--scope", "person"],
    ["remember", "PREF.tone", "dry"],
    ["remember", "PREF.tone", "warm", "--add"],
    ["forget", "PREF.tone", "--item", "dry", "--person"],
    ["forget", "PREF.tone", "--person"],
    ["rename", "LIST.a", "LIST.b"],
    ["remember", "TASK.next", "of the project", "--scope", "project", ...worktree],
    ["remember", "TASK.next", "of it", "--scope", "project", ...worktree],
  ];
  for (const call of calls) {
    const was = await everything();
    const [undo] = commandsIn(await run(...call));
    const done = await everything();
    assert.notDeepEqual(done, was, call.join(" "));
    await typed(undo, folder);
    assert.deepEqual(await everything(), was, undo);
    await run(...call);
    assert.deepEqual(await everything(), done, `${call.join(" ")} again`);
  }
  // What an agent is told means the same, wherever it is typed.
  const config = readAgentConfig({ SIDEBAND_DATA: home.data, SIDEBAND_USER_ID: "lin" });
  const memory = await openAgentMemory({ ...config, apiUrl: undefined, apiKey: undefined });
  const project = projectOf([folder]);
  const remember = MEMORY_TOOLS.find(({ name }) => name === "remember");
  await run("remember", "FOOD.diet", "of the project", "--scope", "project");
  const told = await everything();
  for (const place of [folder, "/"]) {
    const undoIn: UndoIn = (at, where) => undoAnywhere(config, at, where);
    const given = { label: "FOOD.diet", value: "vegan" };
    const answer = await remember?.run(memory, "lin", given, { undoIn, project });
    assert.notDeepEqual(await everything(), told);
    await typed(commandsIn(String(answer?.result))[0], place);
    assert.deepEqual(await everything(), told, String(answer?.result));
  }
});

test("an undo runs in a repository of any name", async () => {
  for (const name of ["--yes", "織機", "$(touch pwned)", "it's"]) {
    const folder = join(home.env.HOME ?? "", name);
    mkdirSync(join(folder, ".git"), { recursive: true });
    assert.match(String(projectOf([folder])), /^[^-]/);
    await home.runIn(folder, "remember", "PROJ.goal", "sails", "--user", "ada");
    const { out } = await home.runIn(folder, "remember", "PROJ.goal", "hull", "--user", "ada");
    await typed(commandsIn(out)[0], folder);
    // What the project is called can be typed, too.
    const named = `${sidebandCommand()} recall PROJ.goal --user ada --project '${projectOf([folder])}'`;
    assert.equal(await typed(named), "sails\n");
  }
});

test("the commands of errors and of rollback run as they are printed", async () => {
  const person = ["--user", "it's ada", "--person"];
  const user = person.slice(0, 2);
  const printed = async (...args: string[]) => {
    const { out, err } = await home.run(...args);
    return commandsIn(out + err);
  };
  const [labels] = await printed("remember", "USER.nam", "Argo", ...person);
  assert.match(await typed(labels), /USER\.name/);
  const unknown = await printed("remember", "$(touch pwned)", "x", ...person);
  assert.deepEqual(
    unknown.filter((command) => command.includes("pwned")),
    [],
  );
  for (const command of unknown) await typed(command);
  await home.run("remember", "SHIP.name", "Argo", ...person);
  const [facts] = await printed("forget", "SHIP.nmae", ...person);
  assert.match(await typed(facts), /^SHIP\.name=Argo$/m);
  await home.run("labels", "add", "CREW.captain", "--description", "Who commands");
  const described = ["--description", '-- who\'s "in" $(touch pwned)'].join("=");
  const [edit] = await printed("remember", "CREW.captain", "Jason", described, ...person);
  assert.match(await typed(edit), /^CREW\.captain: -- who's "in" \$\(touch pwned\); undo: /m);
  assert.equal((await home.run("recall", "CREW.captain", ...person)).status, 1, "nothing was stored");
  const standard = await home.run("remember", "USER.os", "Linux", "--description", "Mine", ...person);
  assert.match(standard.err, /: USER\.os is a standard label, .*: leave --description out\n$/);
  const [, byWords] = await printed("recall", "SHIP.called", ...person);
  assert.match(await typed(byWords), /^SHIP\.name=Argo$/m);
  const [history] = await printed("restore", "SHIP.name", "99", ...person);
  assert.match(await typed(history), /Argo/);
  // What is written again to describe its label keeps its value, its place and its end.
  const [value, project] = ['-x "it\'s" $(touch pwned) `a` \\', ["--user", "it's ada", "--project", "loom"]];
  await home.run("remember", "SHIP.flag", ...project, "--scope", "project", "--until", "1y", "--", value);
  const flag = async () => {
    const { facts } = JSON.parse((await home.run("facts", ...project, "--json")).out);
    return facts.find((fact: { label: string }) => fact.label === "SHIP.flag");
  };
  const { revision: _, updated_at: _at, ...kept } = await flag();
  const [describe] = await printed(
    "labels",
    "edit",
    "SHIP.flag",
    "--description",
    "What it flies",
    ...project,
  );
  await typed(describe);
  const { revision: _new, updated_at: _now, ...again } = await flag();
  assert.deepEqual(again, { ...kept, description: "What it flies" });
  assert.deepEqual([kept.value, kept.place], [value, "project"]);
  assert.match((await home.run("labels", ...project)).out, /SHIP\.flag +project +What it flies/);
  const [help] = await printed("labels", ...person);
  assert.match(await typed(help), /^usage: sideband labels add /);
  await home.run("remember", "SHIP.mast", "oak", ...person);
  const [forget] = await printed("remember", "SHIP.mast", " ", ...person);
  await typed(forget);
  const [none] = await printed(
    "forget",
    "SHIP.mast",
    ...person,
    "--data",
    join(home.env.HOME ?? "", "it's none"),
  );
  assert.match(none, / open --user 'it'\\''s ada' --data '.*it'\\''s none' --person$/);
  await home.run("remember", "PREF.avoid", "TEXT", "--add", ...person);
  await home.run("remember", "PREF.avoid", "x".repeat(1000), "--add", ...person);
  const [item] = await printed("remember", "PREF.avoid", "y".repeat(100), "--add", ...person);
  await typed(item);
  assert.equal((await home.run("recall", "PREF.avoid", ...person)).out, `${"x".repeat(1000)}\n`);
  const since = (await home.run("history", "SHIP.name", ...person, "--json")).out;
  const { updated_at } = JSON.parse(since).revisions[0];
  const [undo] = await printed("rollback", "--to", updated_at, ...user);
  await typed(undo);
  for (let i = 0; i < 10; i++) await home.run("remember", "SHIP.name", `Argo ${i}`, ...person);
  const [partial] = await printed("rollback", "--to", updated_at, ...user);
  assert.match(partial, / rollback --to \S+ --partial --user 'it'\\''s ada'$/);
  assert.match(await typed(partial), /SHIP\.name: stays as it is/);
  const [status] = await printed("agents", "remove", "codex", "--dir", join(home.env.HOME ?? "", "none"));
  await typed(status);
  const notes = join(home.env.HOME ?? "", "it's -- $(touch pwned).md");
  writeFileSync(notes, "USER.name=Ada\n");
  const [from] = await printed("accounts", "import", notes);
  assert.match(await typed(from), /USER\.name/);
  const file = join(home.env.HOME ?? "", "it's all.jsonl");
  await home.run("keys", "create", "--account", "acme");
  await home.run("accounts", "export", "--out", file);
  const [taking] = await printed("accounts", "import", file, "--data", home.data);
  assert.match(await typed(taking), /^with keys: 1 key/);
});

test("the first start's commands run as they are printed, and are about the person who types them", async () => {
  const data = join(home.env.HOME ?? "", "notes");
  const args = [builtSideband(), "serve", "--port", "0", "--data", data];
  const service = spawn(process.execPath, args, { env: home.env, stdio: ["ignore", "pipe", "ignore"] });
  try {
    let said = "";
    for await (const text of service.stdout.setEncoding("utf8")) {
      said += text;
      if (/ facts --data .*\n/.test(said)) break;
    }
    const curl = said.split("\n").find((line) => line.startsWith("  curl "));
    assert.match(inShell(String(curl)), /"label":"USER\.os"/);
    const [create, facts] = commandsIn(said);
    assert.equal(inShell(facts), `USER.os=${type()}\n`);
    assert.match(inShell(create), /^key for account "default"/);
  } finally {
    service.kill("SIGTERM");
    await once(service, "exit");
  }
});

test("what is left to do after an installation runs as it is printed, and so does the advice to install again", async () => {
  const target = join(home.env.HOME ?? "", "it's !my $(touch pwned) folder");
  for (const { name, next } of AGENTS) {
    const programs = next(target).filter((line) => /^(?:claude|openclaw|hermes) /.test(line));
    for (const line of programs) {
      const words = inShell(`${/^\w+/.exec(line)?.[0]}() { printf '%s\\n' "$@"; }; ${line}`);
      if (line.includes("folder"))
        assert.ok(
          words.split("\n").some((word) => word.startsWith(target)),
          name,
        );
    }
  }
  await home.run("agents", "install", "opencode", "--dir", target);
  rmSync(join(target, "plugins", "sideband.js"));
  const { out } = await home.run("agents", "status");
  const [again] = commandsIn(out).filter((command) => command.includes("agents install"));
  inShell(again);
  assert.doesNotMatch((await home.run("agents", "status")).out, /missing or changed/);
});
