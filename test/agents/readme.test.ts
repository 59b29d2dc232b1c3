/**
 * Every code sample of README.md is run: its commands here or in scripts/first-hour.sh, its program as a user's file
 * that imports the package, and what it shows as output is what comes out.
 */

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { CHANNELS } from "../../src/base/channels.ts";
import { sidebandCommand } from "../../src/cli/printed-commands.ts";
import { endAfter } from "../fixtures/ends.ts";
import { startRunning } from "../http/running-service.ts";
import { builtSideband, packageFolder } from "./built.ts";
import { makeHost } from "./host.ts";

const README = readFileSync(join(packageFolder, "README.md"), "utf8");
/** What runs commands as a new user does, and what runs before a merge. */
const ELSEWHERE = ["scripts/first-hour.sh", ".ci/run"]
  .map((path) => readFileSync(join(packageFolder, path), "utf8"))
  .join("\n");
const ADDRESS = "http://127.0.0.1:8787";

/** The samples of a language, in order. */
function samples(language: string): string[] {
  return [...README.matchAll(/^```(\w*)\n([\s\S]*?)^```$/gm)]
    .filter((match) => match[1] === language)
    .map((match) => match[2]);
}

const COMMANDS = samples("sh").flatMap((sample) =>
  sample
    .split("\n")
    .map((line) => line.replace(/ +# .*$/, ""))
    .filter((line) => line !== ""),
);

test("README.md has samples of known kinds only, and no command takes a package from a registry", () => {
  assert.deepEqual(
    [samples("").length, samples("sh").length, samples("ts").length, samples("text").length],
    [0, 5, 1, 2],
  );
  for (const command of COMMANDS)
    assert.doesNotMatch(command, /^npx|npm (i|install|exec)( -g| --global)? [^./-]/);
});

test("the first screen of README.md has the two commands: one runs the service, one runs the tests", () => {
  const [first, second] = samples("sh");
  assert.deepEqual([first, second], ["npm ci && npm start\n", "npm ci && npm test\n"]);
  assert.ok(README.slice(0, README.indexOf(second)).split("\n").length <= 24, "within the first screen");
});

test("every command of README.md runs, here, in scripts/first-hour.sh or in .ci/run", async (t) => {
  const host = makeHost(t);
  const said: string[] = [];
  // What a person writes and reads first is read here too: the first hour has a fact of its own.
  const isHere = (line: string) => line === "sideband facts" || !ELSEWHERE.includes(line);
  for (const command of COMMANDS.filter(isHere)) {
    const { status, stdout, stderr } = await host.shell(command);
    assert.deepEqual([status, stderr], [0, ""], command);
    said.push(stdout);
  }
  const [remembered, listed, history] = said;
  assert.equal(remembered, 'PREF.tone: now "short and formal"; undo: sideband forget PREF.tone --person\n');
  assert.equal(listed, "PREF.tone=short and formal\n");
  assert.match(history, /^1 .* cli +short and formal$/m);
  assert.equal(said.length, 3, "the other commands are in scripts/first-hour.sh and .ci/run");
});

test("the program of README.md puts the fact into the prompt", async (t) => {
  builtSideband();
  const running = endAfter(t, await startRunning());
  const { home, program: run } = makeHost(t);
  mkdirSync(join(home, "node_modules"));
  symlinkSync(packageFolder, join(home, "node_modules", "sideband"));
  // The program waits 2 seconds for its memory, as agents do: the first block is built before it runs.
  await running.call("POST", "/encode", { body: { user_id: "warm", label: "USER.name", value: "x" } });
  await running.call("POST", "/flush", { body: { user_id: "warm" } });
  const [program] = samples("ts");
  assert.ok(program.includes(ADDRESS));
  writeFileSync(join(home, "agent.mjs"), `${program.replace(ADDRESS, running.url)}\nconsole.log(system);\n`);
  const { status, stdout, stderr } = await run(`"${process.execPath}" agent.mjs`, {
    env: { SIDEBAND_API_KEY: running.key },
  });
  assert.deepEqual([status, stderr], [0, ""], program);
  assert.match(stdout, /^You are [a-z ]+\.\n\n<sideband-memory>\n.*\nTASK\.deadline=2026-12-01\n/);
});

test("README.md shows what the first start prints at a terminal", async (t) => {
  const { home } = makeHost(t);
  const own = { SIDEBAND_PORT: "0", SIDEBAND_USER_ID: "ada", SIDEBAND_LOG_LEVEL: "silent" };
  const env = { PATH: process.env.PATH ?? "", HOME: home, ...own };
  const command = `exec ${JSON.stringify(process.execPath)} ${JSON.stringify(builtSideband())} serve`;
  const service = spawn("script", ["-qec", command, "/dev/null"], {
    env,
    stdio: ["ignore", "pipe", "ignore"],
  });
  let said = "";
  for await (const chunk of service.stdout) {
    said += String(chunk).replaceAll("\r\n", "\n");
    if (/ facts --data .*\n\n$/.test(said)) break;
  }
  service.kill("SIGTERM");
  await once(service, "exit");
  const [, url] = /^listening on (\S+)/.exec(said) ?? [];
  const shown = said
    .replaceAll(url ?? "", ADDRESS)
    .replace(/sb_live_\w+/g, "sb_live_…")
    .replaceAll(sidebandCommand(env.PATH), "sideband")
    .replaceAll(home, "/home/ada");
  assert.equal(samples("text")[0].trim(), shown.trim());
});

test("README.md has a table of all labels, in the order of their channels", () => {
  const rows = README.split("\n").filter((line) => line.startsWith("| `USER."));
  const cells = rows.map((row) => [...row.matchAll(/`([A-Z]+\.\w+)`/g)].map((match) => match[1]));
  const byColumn = [0, 1, 2, 3].flatMap((column) => cells.map((row) => row[column]));
  assert.deepEqual(
    byColumn,
    CHANNELS.map(({ label }) => label),
  );
});
