/** Agents and commands on a data folder without a service: they share one owner, which nobody has to look after. */

import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { OwnerClient } from "../../src/door-client/owner-client.ts";
import { builtSideband } from "./built.ts";
import { endOwner, inputOf, PATIENCE_MS } from "./host.ts";
import { callCommand } from "./loaded-command.ts";

interface Finished {
  readonly status: number | null;
  readonly out: string;
  readonly err: string;
}

/** A folder whose owner is ended with the test, whoever started it. */
async function withFolder(run: (folder: string) => Promise<void>): Promise<void> {
  const home = mkdtempSync(join(tmpdir(), "sideband-owner-"));
  const folder = join(home, "data");
  try {
    await run(folder);
  } finally {
    await endOwner(folder);
    rmSync(home, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
  }
}

const start = (folder: string, ...args: string[]) => startWith({}, folder, args);

const environment = (folder: string) => ({
  PATH: process.env.PATH ?? "",
  HOME: folder,
  SIDEBAND_DATA: folder,
  SIDEBAND_PORT: "0",
  SIDEBAND_PROJECT: "off",
});

function startWith(
  settings: Record<string, string>,
  folder: string,
  args: readonly string[],
  stdin: "pipe" | number = "pipe",
): ChildProcess {
  const env = { ...environment(folder), ...settings };
  return spawn(process.execPath, [builtSideband(), ...args], { env, stdio: [stdin, "pipe", "pipe"] });
}

/** A fact by the terminal's command, without a process of its own. It starts an owner where there is none. */
async function write(folder: string, label: string, value: string): Promise<void> {
  const args = ["remember", label, value, "--user", "ada"];
  const { status, err } = await callCommand({ args, env: environment(folder), cwd: tmpdir() });
  assert.equal(status, 0, err);
}

async function finish(child: ChildProcess, input = ""): Promise<Finished> {
  const text = { out: "", err: "" };
  child.stdout!.on("data", (chunk) => {
    text.out += chunk;
  });
  child.stderr!.on("data", (chunk) => {
    text.err += chunk;
  });
  child.stdin?.on("error", () => {}).end(input);
  const [status] = await once(child, "close");
  return { status, ...text };
}

/** On a busy machine processes that start at once take longer than an agent waits. */
const PATIENT = { SIDEBAND_TIMEOUT_MS: PATIENCE_MS };

async function hook(folder: string, event: string, settings = PATIENT): Promise<Finished> {
  const stdin = inputOf(JSON.stringify({ hook_event_name: event }));
  const finished = finish(startWith(settings, folder, ["hook", "--user", "ada"], stdin));
  closeSync(stdin);
  return finished;
}

/** An agent that remembers one value after the other under one label; resolves with what the tools answered. */
async function remember(folder: string, label: string, values: readonly string[]): Promise<string[]> {
  const child = startWith(PATIENT, folder, ["mcp", "--user", "ada"]);
  const answers: string[] = [];
  const say = (message: object) => child.stdin!.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  const clientInfo = { name: "test", version: "1" };
  say({
    id: 0,
    method: "initialize",
    params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo },
  });
  let text = "";
  let next = 0;
  child.stderr!.on("data", (chunk) => answers.push(`stderr: ${chunk}`));
  child.stdout!.on("data", (chunk) => {
    text += chunk;
    const lines = text.split("\n");
    text = lines.pop()!;
    for (const line of lines) {
      const { id, result } = JSON.parse(line);
      if (id === 0) say({ method: "notifications/initialized" });
      else answers.push(result.isError ? result.content[0].text : "ok");
      if (next === values.length) child.stdin!.end();
      else {
        const args = { name: "remember", arguments: { label, value: values[next] } };
        next += 1;
        say({ id: next, method: "tools/call", params: args });
      }
    }
  });
  await once(child, "close");
  return answers;
}

async function facts(folder: string): Promise<Record<string, string>> {
  const answer = await OwnerClient.of(folder).json<{ facts: { label: string; value: string }[] }>(
    "GET",
    "/facts?user_id=ada",
  );
  return Object.fromEntries(answer.facts.map(({ label, value }) => [label, value]));
}

const ownerPid = (folder: string) =>
  OwnerClient.of(folder)
    .json<{ pid: number }>("GET", "/operator/owner")
    .then(({ pid }) => pid);

test("agents that start at once on an empty folder share one owner; another one ends at once; after kill -9 the next call starts one", () =>
  withFolder(async (folder) => {
    const labels = ["USER.name", "USER.os"];
    const [hooks, told] = await Promise.all([
      Promise.all(
        Array.from({ length: 4 }, (_, i) => hook(folder, i % 2 === 0 ? "SessionStart" : "PreCompact")),
      ),
      Promise.all(labels.map((label) => remember(folder, label, ["first", "second"]))),
    ]);
    for (const { status, err } of hooks) assert.deepEqual([status, err], [0, ""]);
    for (const answers of told) assert.deepEqual(answers, ["ok", "ok"]);
    assert.deepEqual(await facts(folder), Object.fromEntries(labels.map((label) => [label, "second"])));
    const pid = await ownerPid(folder);
    assert.equal(readFileSync(join(folder, "owner.log"), "utf8"), "", "no second owner, no error");

    const second = await finish(start(folder, "owner"));
    assert.deepEqual([second.status, second.err], [0, ""]);
    assert.equal(await ownerPid(folder), pid);

    process.kill(pid, "SIGKILL");
    assert.deepEqual(await remember(folder, "USER.name", ["third"]), ["ok"]);
    assert.notEqual(await ownerPid(folder), pid);
    const { out, err } = await hook(folder, "SessionStart");
    assert.equal(err, "");
    assert.match(JSON.parse(out).hookSpecificOutput.additionalContext, /USER\.name=third/);
  }));

test("a service takes the folder over from an owner in the background, and agents go on", () =>
  withFolder(async (folder) => {
    await write(folder, "USER.name", "Ada");
    const service = start(folder, "serve");
    const ended = finish(service);
    let text = "";
    await new Promise<void>((resolve) => {
      service.stdout!.on("data", (chunk) => {
        text += chunk;
        if (text.includes("admin token")) resolve();
      });
    });
    assert.match(text, /listening on http:\/\/127\.0\.0\.1:\d+\nadmin token in .*admin\.token; a new key: /);
    assert.equal(await ownerPid(folder), service.pid);
    assert.deepEqual(await remember(folder, "USER.os", ["Plan 9"]), ["ok"]);
    assert.deepEqual(await facts(folder), { "USER.name": "Ada", "USER.os": "Plan 9" });
    service.kill("SIGTERM");
    assert.equal((await ended).status, 0);
  }));

test("an owner that nobody uses ends itself, and leaves the folder free", () =>
  withFolder(async (folder) => {
    const { status, err } = await finish(start(folder, "owner", "--idle-s", "1"));
    assert.deepEqual([status, err], [0, ""]);
    const created = await finish(start(folder, "keys", "create", "--account", "acme", "--json"));
    assert.deepEqual([created.status, JSON.parse(created.out).account], [0, "acme"]);
  }));

test("a command that is stopped or killed harms nothing: the owner does the work", () =>
  withFolder(async (folder) => {
    await write(folder, "USER.name", "Ada");
    const pid = await ownerPid(folder);
    for (const signal of ["SIGKILL", "SIGSTOP", "SIGTERM"] as const) {
      for (const delayMs of [80, 160]) {
        const command = start(folder, "compact");
        const done = finish(command);
        await new Promise((resolve) => setTimeout(resolve, delayMs));
        command.kill(signal);
        if (signal === "SIGSTOP") {
          await write(folder, "USER.os", `${delayMs}`);
          command.kill("SIGCONT");
        }
        await done;
      }
    }
    const whole = await finish(start(folder, "compact"));
    assert.deepEqual([whole.status, whole.err], [0, ""]);
    assert.deepEqual(await facts(folder), { "USER.name": "Ada", "USER.os": "160" });
    assert.equal(await ownerPid(folder), pid);
    assert.equal(readFileSync(join(folder, "owner.log"), "utf8"), "");
  }));

test("an owner that cannot start: a hook says why in one line and does not stop its agent", () =>
  withFolder(async (folder) => {
    mkdirSync(folder);
    writeFileSync(join(folder, "sideband.json"), '{"format":2,"generation":1}');
    const { status, out, err } = await hook(folder, "SessionStart");
    assert.equal(status, 0);
    assert.match(JSON.parse(out).systemMessage, /^Sideband: going on without memory: .* has data format 2/);
    assert.match(err, /^sideband: going on without memory: .* has data format 2, .*\n$/);
  }));

test("a hook never blocks its agent: a wrong call, a host that never closes its input, an owner that is stopped", () =>
  withFolder(async (folder) => {
    for (const input of ['{"hook_event_name":"Stop"}', "{", '{"hook_event_name":5}']) {
      const idle = await finish(start(folder, "hook"), input);
      assert.deepEqual([idle.status, idle.out], [0, ""], input);
      assert.ok(!existsSync(folder), "no owner was started for it");
    }
    const wrong = await finish(start(folder, "hook", "--bogus"));
    assert.deepEqual([wrong.status, wrong.out], [0, ""]);
    assert.match(wrong.err, /^sideband: going on without memory: .*--bogus.*\n$/);

    const silent = start(folder, "hook");
    const [status] = await once(silent, "exit");
    assert.equal(status, 0);

    await write(folder, "USER.name", "Ada");
    const pid = await ownerPid(folder);
    process.kill(pid, "SIGSTOP");
    const stopped = await hook(folder, "SessionStart", { SIDEBAND_TIMEOUT_MS: "2000" });
    process.kill(pid, "SIGCONT");
    assert.equal(stopped.status, 0);
    assert.match(JSON.parse(stopped.out).systemMessage, /does not answer within 2000 ms$/);
    assert.match(stopped.err, /^sideband: going on without memory: .* does not answer within 2000 ms\n$/);
    assert.equal((await hook(folder, "SessionStart")).err, "");
  }));

test("a data folder with a long path has a door too", () =>
  withFolder(async (folder) => {
    const deep = join(folder, "d".repeat(60), "e".repeat(60));
    await write(deep, "USER.name", "Ada");
    assert.deepEqual(await facts(deep), { "USER.name": "Ada" });
    await endOwner(deep);
  }));
