/** Faults of the world under the built command: each is one line and an exit status, and a reader that goes is none. */

import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { builtSideband } from "../agents/built.ts";
import { send } from "../http/plain-client.ts";
import { startServerProcess } from "./server-process.ts";

const folder = mkdtempSync(join(tmpdir(), "sideband-command-"));
const data = join(folder, "data");
const lines = join(folder, "lines.jsonl");
after(() => rmSync(folder, { recursive: true, force: true }));

/** More than a pipe holds. */
const USERS = 2_000;

before(async () => {
  const facts = [
    { label: "USER.name", value: "x".repeat(100), revision: 1, updated_at: "2026-11-15T12:00:00Z" },
  ];
  const users = Array.from({ length: USERS }, (_, i) =>
    JSON.stringify({ kind: "user", account: "acme", user_id: `user-${i}`, facts }),
  );
  writeFileSync(lines, `${users.join("\n")}\n`);
  const { status, error } = await finish(
    start("accounts", "import", lines, "--with-keys", "--new-master-key", "--data", data),
  );
  assert.equal(status, 0, error);
});

function start(...args: string[]): ChildProcess {
  return spawn(process.execPath, [builtSideband(), ...args], {
    env: { PATH: process.env.PATH, HOME: folder, SIDEBAND_TIMEOUT_MS: "30000" },
    stdio: "pipe",
  });
}

async function finish(child: ChildProcess): Promise<{ status: number | null; error: string }> {
  let error = "";
  child.stderr?.on("data", (chunk) => {
    error += chunk;
  });
  child.stdin?.end();
  child.stdout?.resume();
  const [status] = await once(child, "close");
  return { status, error };
}

test("whatever file or folder is wrong, a command ends with one line that names the cause", async () => {
  const missing = join(folder, "missing");
  const file = join(folder, "file");
  writeFileSync(file, "");
  for (const [cause, ...args] of [
    ...(existsSync("/dev/full")
      ? [["ENOSPC", "accounts", "export", "--out", "/dev/full", "--data", data]]
      : []),
    ["ENOENT", "accounts", "import", missing, "--data", data],
    ["EISDIR", "accounts", "import", folder, "--data", data],
    ["EISDIR", "accounts", "export", "--out", folder, "--data", data],
    ["ENOENT", "read", "--account", "acme", "--user", "u", missing, "--data", data],
    ["EISDIR", "read", "--account", "acme", "--user", "u", folder, "--data", data],
    ["ENOENT", "measure", missing],
    ["EISDIR", "measure", folder],
    ["ENOTDIR", "backup", "create", file, "--data", data],
    ["ENOTDIR", "backup", "create", join(file, "x"), "--data", data],
    ["holds no backup", "backup", "restore", missing, "--data", join(folder, "restored")],
    ["there is no store", "keys", "list", "--data", missing],
    ["is a file, or inside of one", "keys", "create", "--account", "acme", "--data", join(file, "x")],
    ["is a file, or inside of one", "verify", "--data", file],
    ["is a file, or inside of one", "facts", "--data", file],
    ["there is no store", "usage", "--data", missing],
    ["there is no store", "verify", "--data", missing],
    ["there is no store", "compact", "--data", missing],
    ["ENOTDIR", "agents", "install", "codex", "--dir", file],
    ["ENOTDIR", "owner", "--data", join(file, "x")],
    ["is a file, or inside of one", "mcp", "--data", join(file, "x")],
  ]) {
    const { status, error } = await finish(start(...args));
    const said = `${args.join(" ")}: ${error}`;
    assert.equal(status, 1, said);
    assert.match(error, /^sideband [^\n]*\n$/, said);
    assert.ok(error.includes(cause), said);
  }
});

test("an export whose reader has enough ends quietly, and leaves the folder to the next command", async () => {
  const child = start("accounts", "export", "--data", data);
  child.stdout?.once("data", () => child.stdout?.destroy());
  const [, { status, error }] = await Promise.all([once(child.stdout!, "close"), finish(child)]);
  assert.deepEqual([status, error], [0, ""]);
  const whole = join(folder, "whole.jsonl");
  assert.equal((await finish(start("accounts", "export", "--out", whole, "--data", data))).status, 0);
  assert.equal(readFileSync(whole, "utf8").split("\n").length, USERS + 1);
});

test("commands that print what nobody reads end quietly", async () => {
  for (const args of [["--help"], ["keys", "list", "--data", data], ["usage", "--json", "--data", data]]) {
    const child = start(...args);
    child.stdout?.destroy();
    const { status, error } = await finish(child);
    assert.deepEqual([status, error], [0, ""], args.join(" "));
  }
});

test("a hook whose host has gone ends with 0, and so does an MCP server", async () => {
  const own = join(folder, "agent");
  mkdirSync(own);
  const server = await startServerProcess({ SIDEBAND_DATA: own });
  try {
    const hook = spawn(process.execPath, [builtSideband(), "hook"], {
      env: { PATH: process.env.PATH, SIDEBAND_API_URL: server.url, SIDEBAND_API_KEY: "none" },
    });
    hook.stdout.destroy();
    hook.stdin.write(JSON.stringify({ hook_event_name: "SessionStart" }));
    assert.equal((await finish(hook)).status, 0);
    const mcp = start("mcp", "--url", server.url);
    mcp.stdout?.destroy();
    const params = {
      protocolVersion: "2025-06-18",
      capabilities: {},
      clientInfo: { name: "x", version: "1" },
    };
    mcp.stdin?.write(`${JSON.stringify({ jsonrpc: "2.0", id: 1, method: "initialize", params })}\n`);
    // Its input stays open: only the answer tells it that nobody is there.
    mcp.stderr?.resume();
    const [status] = await once(mcp, "close");
    assert.equal(status, 0);
  } finally {
    server.process.kill("SIGTERM");
    await server.ended;
  }
});

test("a service goes on when nobody reads what it prints or logs any more", async () => {
  const own = join(folder, "served");
  mkdirSync(own);
  const server = await startServerProcess({ SIDEBAND_DATA: own });
  server.process.stdout?.destroy();
  server.process.stderr?.destroy();
  for (let i = 0; i < 20; i++)
    assert.equal((await send(server.url, "GET", "/nowhere", { key: null })).status, 404);
  server.process.kill("SIGTERM");
  assert.equal(await server.ended, 0);
});

test("a host that cannot be listened on is told in one line", async () => {
  for (const host of ["256.1.1.1", "a b", "no.such.host.invalid"]) {
    const settings = { SIDEBAND_DATA: join(folder, "host"), SIDEBAND_HOST: host };
    await assert.rejects(startServerProcess(settings), ({ message }: Error) => {
      assert.match(message, /^ended with 1: sideband serve: [^\n]*\n$/, host);
      return true;
    });
  }
});
