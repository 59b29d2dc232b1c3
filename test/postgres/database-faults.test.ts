/** A database that is away when a node starts is waited for; every other fault of it ends a command with one line. */

import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, type TestContext, test } from "node:test";
import postgres from "postgres";
import { freePort } from "../../bench/store/free-port.ts";
import { PostgresServer } from "../../bench/store/postgres-server.ts";
import { builtSideband } from "../agents/built.ts";
import { callCommand } from "../agents/loaded-command.ts";
import { problemCode, send } from "../http/plain-client.ts";
import { newEmptyDatabase } from "./server.ts";

const folder = mkdtempSync(join(tmpdir(), "sideband-faults-"));
after(() => rmSync(folder, { recursive: true, force: true }));

interface Command {
  readonly process: ChildProcess;
  readonly ended: Promise<number | null>;
  /** Resolves once its output has this text. */
  says(text: string): Promise<string>;
}

const environment = (url: string) => ({
  PATH: process.env.PATH,
  SIDEBAND_DATA: folder,
  SIDEBAND_PORT: "0",
  SIDEBAND_DATABASE_URL: url,
  SIDEBAND_MASTER_KEY: "ab".repeat(32),
});

/** A command that ends by itself: its exit status, and all that it printed. */
async function ended(url: string, args: string[]): Promise<[status: number, output: string]> {
  const { status, out, err } = await callCommand({ args, env: environment(url), cwd: folder });
  return [status, out + err];
}

function serve(t: TestContext, url: string, settings: Record<string, string> = {}): Command {
  const child = spawn(process.execPath, [builtSideband(), "serve"], {
    env: { ...environment(url), ...settings },
    stdio: ["ignore", "pipe", "pipe"],
  });
  t.after(() => child.kill("SIGKILL"));
  let output = "";
  for (const stream of [child.stdout, child.stderr])
    stream.on("data", (chunk) => {
      output += chunk;
      child.emit("output");
    });
  const ended = once(child, "close").then(([status]) => {
    child.emit("output");
    return status as number | null;
  });
  const says = async (text: string) => {
    while (!output.includes(text)) {
      assert.equal(child.exitCode, null, output);
      await once(child, "output");
    }
    return output;
  };
  return { process: child, ended, says };
}

test("a node whose database is away at the start waits, is alive and not ready, and serves once it is there", async (t) => {
  const server = await PostgresServer.start();
  t.after(() => server.remove());
  const url = await server.createDatabase("late");
  await server.pause();
  const port = String(await freePort());
  const node = serve(t, url, { SIDEBAND_PORT: port });
  const output = await node.says("trying again in 2 s");
  assert.match(output, /ECONNREFUSED.*; trying again in 1 s/);
  const address = `http://127.0.0.1:${port}`;
  const ask = (path: string) => send(address, "GET", path, { key: null });
  assert.deepEqual(
    [(await ask("/healthz")).status, (await ask("/v1/healthz")).json],
    [200, { status: "ok" }],
  );
  for (const path of ["/readyz", "/context?user_id=ada", "/"]) {
    const { status, json, headers } = await ask(path);
    assert.deepEqual([status, json.code, headers.get("retry-after")], [503, "store_unavailable", "2"], path);
  }
  const post = { key: null, body: { value: "x".repeat(10_000) } };
  assert.equal((await send(address, "POST", "/encode", post)).status, 503);
  await server.resume();
  await node.says(`listening on ${address}`);
  assert.equal((await ask("/readyz")).status, 200);
  assert.equal(problemCode(await ask("/context?user_id=ada")), "401 missing_key");
  node.process.kill("SIGTERM");
  assert.equal(await node.ended, 0);
});

test("a signal ends the wait at once, between attempts and during one", async (t) => {
  // It takes connections and never says a word, as a machine that hangs.
  const silent = createServer(() => {}).listen(0, "127.0.0.1");
  await once(silent, "listening");
  t.after(() => silent.close());
  const { port } = silent.address() as AddressInfo;
  for (const [target, text] of [
    [await freePort(), "trying again in 2 s"],
    [port, "trying again in 1 s"],
  ] as const) {
    const node = serve(t, `postgres://sideband@127.0.0.1:${target}/x`);
    await node.says(text);
    // The silent one is being tried again by then.
    if (target === port) await Promise.race([once(silent, "connection"), node.ended]);
    const failed = async () => (await node.says(text)).split("trying again").length - 1;
    const before = await failed();
    node.process.kill("SIGTERM");
    assert.equal(await node.ended, 0);
    assert.equal(await failed(), before, "no attempt has failed since");
  }
});

test("a port in use is told at once, not when the database has come", async (t) => {
  const other = createServer().listen(0, "127.0.0.1");
  await once(other, "listening");
  t.after(() => other.close());
  const { port } = other.address() as AddressInfo;
  const away = `postgres://sideband@127.0.0.1:${await freePort()}/x`;
  const node = serve(t, away, { SIDEBAND_PORT: String(port) });
  await node.says("is in use: choose another with --port or SIDEBAND_PORT");
  assert.equal(await node.ended, 1);
});

test("every other fault of the database ends every command with one line that says what to do", async (t) => {
  const url = await newEmptyDatabase();
  const sql = postgres(url, { max: 1, onnotice: () => {} });
  await sql`CREATE ROLE plain LOGIN`;
  await sql.end();
  const faults: [string, RegExp][] = [
    [`${url}_none`, /does not exist; create it/],
    [url.replace("sideband@", "nobody:secret-word@"), /does not exist; check the user and the password/],
    // What only reads needs no right to make tables, but the tables.
    [url.replace("sideband@", "plain@"), /permission denied .*; the role must own|run sideband db migrate/],
    [`${url}?no_such_setting=1`, /no_such_setting.*; check the parameters/],
    [`${url}?sslmode=require`, /; check sslmode/],
    ["postgres://a:secret-word@127.0.0.1:99999/x", /SIDEBAND_DATABASE_URL/],
  ];
  for (const [address, cause] of faults) {
    const node = serve(t, address);
    const nodeEnded: [number | null, string] = [await node.ended, await node.says("")];
    const outcomes: [string, [number | null, string]][] = [["serve", nodeEnded]];
    for (const args of [
      ["db", "migrate"],
      ["keys", "list"],
      ["db", "export"],
    ])
      outcomes.push([args.join(" "), await ended(address, args)]);
    for (const [command, [status, output]] of outcomes) {
      assert.equal(status, 1, `${command}: ${cause}`);
      assert.match(output, /^sideband [^\n]*\n$/, command);
      assert.match(output, cause, command);
      assert.doesNotMatch(output, /secret-word/, command);
    }
  }
});

test("where the database is away, a command other than serve ends soon, with one line", async () => {
  const url = `postgres://sideband@127.0.0.1:${await freePort()}/x`;
  for (const args of [
    ["db", "status"],
    ["db", "import"],
    ["keys", "list"],
    ["usage"],
    ["accounts", "export"],
    ["verify"],
    ["compact"],
  ]) {
    const [status, output] = await ended(url, args);
    assert.equal(status, 1, args.join(" "));
    assert.match(output, /^sideband [^\n]*(ECONNREFUSED|no store)[^\n]*\n$/, args.join(" "));
  }
});
