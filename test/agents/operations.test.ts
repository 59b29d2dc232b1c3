/**
 * The commands of docs/OPERATIONS.md run as they stand there, and every sample of a guide has a test that runs it. The
 * guides of agents have a test of their own.
 */

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { packageFolder } from "./built.ts";
import { makeHost } from "./host.ts";

const DOCS = join(packageFolder, "docs");

/** Where the samples of a guide are run. */
const RUN_BY: Readonly<Record<string, string>> = {
  "QUICKSTART.md": "test/agents/quickstart.test.ts",
  "OPERATIONS.md": "this test; npm ci and the start: scripts/first-hour.sh",
  "CLUSTER.md": "test/postgres has a database of its own: the start there, and sideband db",
};

function commandsOf(guide: string): string[] {
  const text = readFileSync(join(DOCS, guide), "utf8");
  return [...text.matchAll(/^```sh\n([\s\S]*?)^```$/gm)].flatMap(([, sample]) => sample.trim().split("\n"));
}

test("a guide with samples is one whose samples a test runs", () => {
  const guides = readdirSync(DOCS).filter((name) => name.endsWith(".md"));
  const sampled = guides.filter((name) =>
    /^```(sh|ts|python|json)$/m.test(readFileSync(join(DOCS, name), "utf8")),
  );
  assert.deepEqual(sampled.sort(), Object.keys(RUN_BY).sort());
});

test("the operator's commands run as docs/OPERATIONS.md has them", async (t) => {
  const { home, shell } = makeHost(t);
  const said: Record<string, string> = {};
  let id = "";
  const commands = commandsOf("OPERATIONS.md").filter((command) => command.startsWith("sideband "));
  assert.equal(commands.length, 6);
  for (const command of commands) {
    const line = command.replace(/\bID\b/, id).replaceAll("/backups/", `${home}/backup-`);
    const { status, stdout, stderr } = await shell(line);
    assert.equal(status, 0, `${line}: ${stderr}`);
    said[command.split(" ").slice(0, 3).join(" ")] = stdout;
    if (command.includes("keys list"))
      id = /^\S+/m.exec(stdout.split("\n").find((row) => row.includes("acme")) ?? "")?.[0] ?? "";
  }
  assert.match(said["sideband keys create"], /sb_live_/);
  assert.match(said["sideband keys list"], /acme/);
});
