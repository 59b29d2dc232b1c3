/**
 * The commands of docs/OPERATIONS.md run as they stand there, and every page of the repository with samples has a test
 * that runs them.
 */

import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { packageFolder } from "./built.ts";
import { makeHost } from "./host.ts";

/** Where the samples of a page are run. */
const RUN_BY: Readonly<Record<string, string>> = {
  "README.md": "test/agents/readme.test.ts",
  "CONTRIBUTING.md": "checked below: the commands are those that run the tests",
  "docs/QUICKSTART.md": "test/agents/quickstart.test.ts",
  "docs/MEMORY-PAGE.md": "this test; sideband open: test/agents/open.test.ts",
  "docs/OPERATIONS.md": "this test; npm ci and the start: scripts/first-hour.sh",
  "docs/CLUSTER.md": "test/postgres/cluster-guide.test.ts",
  "docs/TEAM.md": "test/agents/team-page.test.ts",
  "docs/agents": "test/agents/snippets.test.ts",
  "agents/openclaw": "test/agents/openclaw.test.ts",
  "examples/support-chat": "test/agents/support-chat.test.ts",
  "training/README.md": "checked below: the training takes a GPU and hours",
};

function commandsOf(page: string): string[] {
  const text = readFileSync(join(packageFolder, page), "utf8");
  return [...text.matchAll(/^```sh\n([\s\S]*?)^```$/gm)].flatMap(([, sample]) => sample.trim().split("\n"));
}

test("a page with samples is one whose samples a test runs", () => {
  const pages = ["agents", "docs", "examples", "training"].flatMap((folder) =>
    readdirSync(join(packageFolder, folder), { recursive: true, encoding: "utf8" }).map((name) =>
      join(folder, name),
    ),
  );
  const sampled = [...pages, ...readdirSync(packageFolder)].filter(
    (name) => name.endsWith(".md") && /^```\w+$/m.test(readFileSync(join(packageFolder, name), "utf8")),
  );
  const known = Object.keys(RUN_BY);
  const isOf = (page: string, entry: string) => page === entry || page.startsWith(`${entry}/`);
  assert.deepEqual(
    sampled.filter((page) => !known.some((entry) => isOf(page, entry))),
    [],
  );
  assert.deepEqual(
    known.filter((entry) => !sampled.some((page) => isOf(page, entry))),
    [],
  );
});

test("the commands of CONTRIBUTING.md exist", () => {
  const { scripts } = JSON.parse(readFileSync(join(packageFolder, "package.json"), "utf8"));
  for (const command of commandsOf("CONTRIBUTING.md")) {
    const [, script] = /^npm (?:run )?([\w:]+)/.exec(command) ?? [];
    if (script === undefined) assert.ok(existsSync(join(packageFolder, command.split(" ")[0])), command);
    else assert.ok(script === "ci" || script in scripts, command);
  }
});

test("the programs of training/README.md exist and take the options that it gives them", () => {
  const commands = commandsOf("training/README.md");
  assert.equal(commands.length, 4);
  for (const command of commands) {
    const program = readFileSync(join(packageFolder, command.split(" ")[1]), "utf8");
    for (const [option] of command.matchAll(/--\w+/g)) assert.ok(program.includes(`"${option}"`), command);
  }
});

test("the keys of docs/MEMORY-PAGE.md are made as it has them", async (t) => {
  const { shell } = makeHost(t);
  const commands = commandsOf("docs/MEMORY-PAGE.md");
  assert.deepEqual(commands.splice(2), ["sideband open"]);
  for (const command of commands) {
    const { status, stderr } = await shell(command);
    assert.equal(status, 0, `${command}: ${stderr}`);
  }
});

test("the operator's commands run as docs/OPERATIONS.md has them", async (t) => {
  const { home, shell } = makeHost(t);
  const said: Record<string, string> = {};
  let id = "";
  const commands = commandsOf("docs/OPERATIONS.md").filter((command) => command.startsWith("sideband "));
  assert.equal(commands.length, 16);
  for (const command of commands) {
    const line = command
      .replace(/\bID\b/, id)
      .replaceAll("/backups/", `${home}/backup-`)
      .replace(" old/", ` ${home}/.sideband/data/`);
    const { status, stdout, stderr } = await shell(line);
    assert.equal(status, 0, `${line}: ${stderr}`);
    said[command.split(" ").slice(0, 3).join(" ")] = stdout;
    if (command.includes("keys list"))
      id = /^\S+/m.exec(stdout.split("\n").find((row) => row.includes("acme")) ?? "")?.[0] ?? "";
  }
  assert.match(said["sideband keys create"], /sb_live_/);
  assert.match(said["sideband keys list"], /acme/);
  assert.match(
    said["sideband audit"],
    /adminCreateKey {2}account=acme {2}key_id="\w+" {2}by operator owner {2}from this machine$/m,
  );
  const entries = said["sideband audit --account"]!.trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  assert.ok(entries.some(({ operation, by }) => operation === "adminRevokeKey" && by.operator === "owner"));
});
