/**
 * A day with the real Claude Code and the data folder: three repositories, two worktrees, sub-agents, a resumed session, a
 * cleared one, both compactions, a crash, a restart of the machine, an upgrade, a clone. What a session is told is read
 * from the requests that its model gets.
 */

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { STORE_AFTER_COMPACTION } from "../../src/agent-side/prompts.ts";
import { OwnerClient } from "../../src/door-client/owner-client.ts";
import { endOwner } from "../agents/host.ts";
import { packedProject } from "../agents/packed.ts";
import { CLAUDE, DELEGATED, obedientModel, runSession, type Session } from "./claude-sessions.ts";
import { finished } from "./room.ts";
import { type ModelRequest, startStandInModel } from "./stand-in-model.ts";

const SUMMED_UP = { label: "TASK.next", value: "oil the loom" };
const UPGRADED = "99.0.0";
const LIST_HEADING = "To remember";

export async function runDay(): Promise<void> {
  const packed = packedProject();
  const home = realpathSync(mkdtempSync(join(homedir(), ".sideband-day-")));
  const model = await startStandInModel(obedientModel(SUMMED_UP));
  const data = join(home, ".sideband", "data");
  const temporary = join(home, "tmp");
  mkdirSync(temporary);
  const env = {
    ...{ PATH: process.env.PATH ?? "", HOME: home, USER: "ada", TMPDIR: temporary, SIDEBAND_USER_ID: "ada" },
    // This machine may be busy: what is not about time is not left to it.
    ...{ SIDEBAND_TIMEOUT_MS: "8000", ANTHROPIC_BASE_URL: model.url, ANTHROPIC_API_KEY: "stand-in" },
    ...{ DISABLE_TELEMETRY: "1", CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1" },
  };
  const at = (name: string) => join(home, name);
  const git = (folder: string, ...args: string[]) =>
    execFileSync("git", ["-c", "user.name=Ada", "-c", "user.email=ada@example.com", ...args], {
      cwd: folder,
      env: { PATH: env.PATH, HOME: home },
      stdio: "ignore",
    });
  /** `sideband` at a terminal. */
  const sideband = async (folder: string, ...args: string[]) => {
    const { status, output } = await finished(process.execPath, [packed.script, ...args], folder, env);
    assert.equal(status, 0, output);
    return output;
  };
  const work = (
    folder: string,
    prompts: readonly string[],
    more: { resume?: string; isKilled?: boolean } = {},
  ) => runSession(model, prompts, { folder: at(folder), env, ...more });
  const step = (line: string) => console.log(`  ${line}`);

  try {
    step("install");
    await sideband(home, "agents", "install", "claude-code");
    for (const args of [
      ["marketplace", "add", join(home, ".sideband", "claude-code")],
      ["install", "sideband@sideband"],
    ]) {
      const { status, output } = await finished(CLAUDE, ["plugin", ...args], home, env);
      assert.equal(status, 0, output);
    }
    for (const name of ["loom", "mill", "notes"]) {
      mkdirSync(at(name));
      git(at(name), "init", "-q");
      git(at(name), "commit", "-q", "--allow-empty", "-m", "Start");
    }
    git(at("loom"), "remote", "add", "origin", "git@example.com:ada/loom.git");
    git(at("mill"), "remote", "add", "origin", "https://example.com/ada/mill.git");
    for (const name of ["spike", "fix"]) git(at("loom"), "worktree", "add", "-q", "-b", name, at(name));

    step("three repositories: each session has the person's facts and those of its own repository");
    const first = await work("loom", ["KEEP USER.name=Ada Lovelace", "KEEP PROJ.goal=weave the loom"]);
    assert.deepEqual(factsIn(first.turns[0][0]), [], "nothing is known on the first morning");
    await work("mill", ["KEEP PROJ.goal=grind the corn"]);
    await work("notes", ["KEEP PROJ.goal=write a letter"]);
    const expected = { loom: "weave the loom", mill: "grind the corn", notes: "write a letter" };
    for (const [name, goal] of Object.entries(expected))
      assert.deepEqual(factsIn(await start(name)), ["USER.name=Ada Lovelace", `PROJ.goal=${goal}`], name);

    step("two worktrees: the goal is the repository's, a task and a branch the worktree's own");
    await work("spike", ["KEEP TASK.current=try silk", "KEEP PROJ.branch=spike"]);
    await work("fix", ["KEEP TASK.current=mend the shuttle"]);
    const shared = ["USER.name=Ada Lovelace", "PROJ.goal=weave the loom"];
    assert.deepEqual(
      factsIn(await start("spike")).sort(),
      [...shared, "PROJ.branch=spike", "TASK.current=try silk"].sort(),
    );
    assert.deepEqual(factsIn(await start("fix")).sort(), [...shared, "TASK.current=mend the shuttle"].sort());
    assert.deepEqual(factsIn(await start("loom")), shared);

    step("a sub-agent has the facts");
    const delegating = await work("loom", ["DELEGATE"]);
    const [own] = delegating.turns
      .flat()
      .filter(({ text }) => text.includes(DELEGATED) && !text.includes('"DELEGATE'));
    assert.deepEqual(factsIn(own), shared);

    step(
      "a resumed session is told the facts again only if they have changed, and that they replace the others",
    );
    const session = await work("loom", ["Hello"]);
    const same = await work("loom", ["Again"], { resume: session.id });
    assert.equal(sectionsIn(same.turns[0][0]).length, 1);
    await sideband(at("loom"), "remember", "PREF.tone", "dry");
    const changed = await work("loom", ["And again"], { resume: session.id });
    const [earlier, present] = sectionsIn(changed.turns[0][0]);
    assert.doesNotMatch(earlier, /PREF\.tone/);
    assert.match(present, /replaces every earlier one/);
    const told = [...shared.slice(0, 1), "PREF.tone=dry", ...shared.slice(1)];
    assert.deepEqual(factLines(present), told);

    step("a cleared session begins with the facts");
    const cleared = await work("loom", ["Hello", "/clear", "Hello again"]);
    assert.deepEqual(factsIn(lastOf(cleared)), told);
    assert.equal(sectionsIn(lastOf(cleared)).length, 1);

    step(
      "both compactions: the summary lists what is not stored, it is stored, and the facts are there again",
    );
    for (const [name, prompts] of Object.entries({
      manual: ["Hello", "/compact", "GO ON"],
      automatic: ["Hello", "TIRE yourself", "Now compact", "GO ON"],
    })) {
      const compacted = await work("mill", prompts);
      const requests = compacted.turns.flat();
      assert.ok(
        requests.some(({ text }) => text.includes("TEXT ONLY") && text.includes(`headed \\"${LIST_HEADING}`)),
        `${name}: the summary is asked for the list`,
      );
      const after = lastOf(compacted);
      assert.ok(after.text.includes(STORE_AFTER_COMPACTION.slice(0, 40)), `${name}: it is asked to store`);
      assert.equal(factsIn(after).includes("PROJ.goal=grind the corn"), true, name);
      assert.match(await sideband(at("mill"), "recall", SUMMED_UP.label), /oil the loom/, name);
      await sideband(at("mill"), "forget", SUMMED_UP.label);
    }

    step("a crash: Claude Code and the owner are killed in the middle of a turn");
    const owner = () => OwnerClient.of(data).owner(10_000);
    const before = await owner();
    const crashed = await work("loom", ["KEEP TASK.current=beat the weft", "HANG"], { isKilled: true });
    process.kill(before!.pid, "SIGKILL");
    const recovered = await work("loom", ["What now?"], { resume: crashed.id });
    assert.ok(factsIn(lastOf(recovered)).includes("TASK.current=beat the weft"));
    assert.notEqual((await owner())?.pid, before?.pid);

    step("the machine restarts: no process is left, temporary files are gone, the socket is stale");
    process.kill((await owner())!.pid, "SIGKILL");
    rmSync(temporary, { recursive: true });
    mkdirSync(temporary);
    assert.ok(existsSync(join(data, "door.sock")));
    const everything = [...told, "TASK.current=beat the weft"].sort();
    assert.deepEqual(factsIn(await start("loom")).sort(), everything);

    step("the package is upgraded in place: the owner of the old release hands over");
    const old = await owner();
    const manifest = join(packed.script, "..", "..", "package.json");
    writeFileSync(
      manifest,
      JSON.stringify({ ...JSON.parse(readFileSync(manifest, "utf8")), version: UPGRADED }),
    );
    assert.deepEqual(factsIn(await start("loom")).sort(), everything);
    const upgraded = await owner();
    assert.deepEqual([upgraded?.version, upgraded?.pid === old?.pid], [UPGRADED, false]);

    step("a clone, and a repository that gets a remote and is moved, are the same projects");
    git(home, "clone", "-q", at("loom"), at("clone"));
    git(at("clone"), "remote", "set-url", "origin", "https://ada:s3cret@example.com/ada/loom");
    assert.deepEqual(factsIn(await start("clone")).sort(), everything);
    git(at("notes"), "remote", "add", "origin", "git@example.com:ada/notes.git");
    assert.ok(factsIn(await start("notes")).includes("PROJ.goal=write a letter"));
    execFileSync("mv", [at("notes"), at("letters")]);
    assert.ok(factsIn(await start("letters")).includes("PROJ.goal=write a letter"));
    assert.doesNotMatch(await sideband(at("clone"), "facts"), /s3cret/);
    step("the day is over");
  } finally {
    await model.end();
    await endOwner(data);
    packed.end();
    rmSync(home, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
  }

  /** The first request of a new session. */
  async function start(folder: string): Promise<ModelRequest> {
    return (await work(folder, ["Hello"])).turns[0][0];
  }
}

function lastOf({ turns }: Session): ModelRequest {
  const last = turns.at(-1)?.at(0);
  if (last === undefined) throw new Error("the last prompt reached no model");
  return last;
}

/** The sections in a request, the oldest first. */
function sectionsIn({ text }: ModelRequest): string[] {
  return [...text.matchAll(/<sideband-memory>\\n(.*?)<\/sideband-memory>/g)].map(([, section]) =>
    String(JSON.parse(`"${section}"`)),
  );
}

function factsIn(request: ModelRequest): string[] {
  return factLines(sectionsIn(request).at(-1) ?? "");
}

function factLines(section: string): string[] {
  return section.split("\n").filter((line) => /^[A-Z]+\.\w+=/.test(line));
}
