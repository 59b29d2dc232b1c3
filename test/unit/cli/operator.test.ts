/** The operator's commands on a real data folder: what they print, what they change, how they end. */

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { once } from "node:events";
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { join } from "node:path";
import { test } from "node:test";
import { readConfig } from "../../../src/config.ts";
import { doorPath } from "../../../src/door-client/door-path.ts";
import { openCore } from "../../../src/main/core.ts";
import { damage } from "../../fixtures/behind-the-store.ts";
import { blockWorkerBundle } from "../../fixtures/block-worker-bundle.ts";
import { changesOf, viewOf } from "../../fixtures/views.ts";
import { besideOwner, run, withData } from "./run-command.ts";

/** Runs a command that needs block work: it uses an owner of the folder whose threads run the sources. */
async function runBesideOwner(data: string, ...args: string[]): ReturnType<typeof run> {
  return besideOwner(data, () => run(...args, "--data", data));
}

/** With three facts each. Few, because verifying builds and reads the block of each. */
const FILLED_USERS = 3;

async function fill(data: string): Promise<void> {
  const core = await openCore(readConfig({ SIDEBAND_DATA: data }), { create: true });
  try {
    for (let i = 0; i < FILLED_USERS; i++) {
      const facts = [0, 3, 20].map((channel) => [channel, `value ${i} of channel ${channel}`] as const);
      const nowMs = Date.now() - 1000;
      await core.store.write({ ...viewOf(`user-${i}`, "acme", { nowMs }), changes: changesOf(facts) });
    }
  } finally {
    await core.close();
  }
}

/** The block of a user of a folder. */
async function blockOf(data: string, userId: string): Promise<string> {
  const config = readConfig({ SIDEBAND_DATA: data });
  const core = await openCore(config, { create: false, blockWorker: blockWorkerBundle() });
  try {
    return (await core.memory.blocks.of({ account: "acme", tier: "owner" }, viewOf(userId)))!.text;
  } finally {
    await core.close();
  }
}

/** A folder with an empty store. */
async function begin(data: string): Promise<void> {
  await (await openCore(readConfig({ SIDEBAND_DATA: data }), { create: true })).close();
}

const ONE_FACT = JSON.stringify([
  { label: "USER.name", value: "Ada", channel: 0, revision: 1, updated_at: "2026-01-01T00:00:00.000Z" },
]);

test("keys: create prints the key once, list shows its prefix, revoke is final, usage counts", () =>
  withData(async (data) => {
    const created = await run("keys", "create", "--account", "acme", "--tier", "pro", "--data", data);
    assert.equal(created.status, 0);
    const key = /sb_live_\w{36}/.exec(created.out)![0];
    const listed = JSON.parse((await run("keys", "list", "--json", "--data", data)).out);
    assert.equal(listed.keys[0].prefix, key.slice(0, 12));
    assert.equal(listed.keys[0].tier, "pro");
    assert.ok(!JSON.stringify(listed).includes(key) && !JSON.stringify(listed).includes("hash"));
    assert.match(created.out, /^key for account "acme" \(pro: 50,000 facts a month\), shown this once:\n/);
    await run("keys", "create", "--account", "zenith-industries", "--tier", "unlimited", "--data", data);
    const { out } = await run("usage", "--data", data);
    const [head, ...rows] = out.trim().split("\n");
    assert.deepEqual(head.split(/ {2,}/), ["account", "key", "tier", "this month", "limit"]);
    assert.deepEqual(rows.map((row) => row.split(/ {2,}/)[4]).sort(), ["50,000", "none"]);
    for (const row of rows) assert.equal(row.indexOf("sb_live_"), head.indexOf("key"), out);
    const short = await run("keys", "revoke", listed.keys[0].id.slice(0, 11), "--data", data);
    assert.match(short.err, /there is no key/);
    assert.equal((await run("keys", "revoke", listed.keys[0].id.slice(0, 12), "--data", data)).status, 0);
    assert.match((await run("keys", "list", "--data", data)).out, /revoked/);
    const missing = await run("keys", "revoke", "nobody", "--data", data);
    assert.equal(missing.status, 1);
    assert.match(missing.err, /there is no key nobody/);
    const zoneless = ["--expires", "2999-01-31T12:00:00"];
    const refused = await run("keys", "create", "--account", "acme", ...zoneless, "--data", data);
    assert.equal(refused.status, 2);
    assert.match(refused.err, /a time with its zone/);
  }));

test("keys: one is bound to a user, or reads only, and the list says so", () =>
  withData(async (data) => {
    await begin(data);
    const create = (...args: string[]) => run("keys", "create", "--account", "acme", ...args, "--data", data);
    const bound = await create("--user", "ada lovelace", "--access", "read");
    assert.match(bound.out, /^key for account "acme" \(free: .*; user "ada lovelace", reads only\), shown/);
    const { user, access } = JSON.parse((await create("--json", "--user", "bob")).out);
    assert.deepEqual({ user, access }, { user: "bob", access: "write" });
    await create();
    const { out } = await run("keys", "list", "--data", data);
    for (const text of [/user "ada lovelace", reads only {2}/, /user "bob" {2}/, /all users {2}/])
      assert.match(out, text);
    for (const wrong of ["--access=admin", "--user=a\nb"]) assert.notEqual((await create(wrong)).status, 0);
  }));

test("export and import: a second folder holds the same facts with their times, and the same keys", () =>
  withData(async (data, folder) => {
    await fill(data);
    await run("keys", "create", "--account", "acme", "--data", data);
    const file = join(folder, "facts.jsonl");
    const { status, out } = await run("export", "--out", file, "--data", data);
    assert.deepEqual(
      [status, out],
      [0, `wrote 1 key and ${FILLED_USERS} users with ${3 * FILLED_USERS} facts to ${file}\n`],
    );
    const lines = readFileSync(file, "utf8").trim().split("\n");
    assert.equal(lines.length, FILLED_USERS + 1);
    const other = join(folder, "other");
    const imported = await run("import", file, "--with-keys", "--new-master-key", "--json", "--data", other);
    assert.deepEqual(JSON.parse(imported.out), {
      lines: FILLED_USERS + 1,
      facts: 3 * FILLED_USERS,
      keys: 1,
      requests: 0,
      labels_added: [],
      left_out: [],
      not_taken: { keys: 0, requests: 0, settings: 0, users: 0 },
    });
    assert.match(imported.err, /^with keys: 1 key\nACCOUNT +TIER +KEY +ACCESS/);
    const again = join(folder, "again.jsonl");
    await run("export", "--out", again, "--data", other);
    assert.equal(readFileSync(again, "utf8"), readFileSync(file, "utf8"));
    writeFileSync(
      file,
      `${lines[1]}\n{"kind":"user","account":"acme","user_id":"x","facts":[{"label":"NO.such"}]}\n`,
    );
    const bad = await run("import", file, "--data", other);
    assert.equal(bad.status, 1);
    assert.match(bad.err, /line 2: /);
    writeFileSync(file, `{"kind":"user","account":"acme","user_id":"one","facts":${ONE_FACT}}\n`);
    assert.equal((await run("import", file, "--data", other)).out, "imported 1 fact from 1 line\n");
  }));

test("import takes keys only where it is asked to, and lists them before", () =>
  withData(async (data, folder) => {
    await fill(data);
    const made = await run(
      "keys",
      "create",
      "--account",
      "acme",
      "--tier",
      "unlimited",
      "--json",
      "--data",
      data,
    );
    const { prefix, id } = JSON.parse(made.out);
    const [file, other] = ["facts.jsonl", "other"].map((name) => join(folder, name));
    await run("export", "--out", file, "--data", data);
    // As a user's file with a key in it that the operator does not expect.
    writeFileSync(
      file,
      readFileSync(file, "utf8").replaceAll('"account":"acme","user_id"', '"account":"default","user_id"'),
    );
    const facts = 3 * FILLED_USERS;
    const bare = await run("import", file, "--new-master-key", "--data", other);
    assert.deepEqual(
      [bare.status, bare.out, bare.err],
      [
        0,
        `not taken: 1 key; "sideband import FILE --with-keys" lists and takes them, too\n` +
          `imported ${facts} facts from ${FILLED_USERS + 1} lines\n`,
        "",
      ],
    );
    assert.deepEqual(JSON.parse((await run("keys", "list", "--json", "--data", other)).out).keys, []);
    const asked = await run("import", file, "--with-keys", "--data", other);
    assert.equal(
      asked.out,
      `with keys: 1 key\nACCOUNT  TIER       KEY            ACCESS                      NOTE\n` +
        `acme     unlimited  ${prefix}…  reads and writes all users\naccounts: acme, default\n` +
        `imported ${facts} facts, 1 key from ${FILLED_USERS + 1} lines\n`,
    );
    assert.equal(JSON.parse((await run("keys", "list", "--json", "--data", other)).out).keys[0].id, id);

    // A key that breaks a rule is refused before anything is written.
    const third = join(folder, "third");
    writeFileSync(file, `${readFileSync(file, "utf8").replace(prefix, "\\u001b[2J")}`);
    const refused = await run("import", file, "--with-keys", "--new-master-key", "--data", third);
    assert.deepEqual(
      [refused.status, refused.err],
      [
        1,
        "sideband import: line 1: This line cannot be imported: the key's prefix is not how a key begins.\n",
      ],
    );
    assert.ok(!existsSync(third));
    const piped = await run("import", "--with-keys", "--data", other);
    assert.equal(piped.status, 2);
    assert.match(piped.err, /--with-keys needs FILE/);
  }));

test("import: a folder without a master key is given one by the operator, and blocks stay readable under the old one", () =>
  withData(async (data, folder) => {
    await fill(data);
    const block = await blockOf(data, "user-2");
    const [file, other, wrong] = ["facts.jsonl", "other", "wrong.key"].map((name) => join(folder, name));
    const exported = await run("export", "--out", file, "--data", data);
    assert.match(
      exported.err,
      /not exported: master\.key and admin\.token \(copy them yourself\), records of Idempo/,
    );
    assert.doesNotMatch(readFileSync(file, "utf8"), /master|[0-9a-f]{64}/);
    const ownKey = join(data, "master.key");
    const asked = await run("import", file, "--data", other);
    assert.notEqual(asked.status, 0);
    assert.match(asked.err, /has no master\.key.*--master-key FILE.*--new-master-key/);
    assert.ok(!existsSync(other), "a refused import leaves nothing behind");
    assert.equal(
      (await run("import", file, "--master-key", ownKey, "--new-master-key", "--data", other)).status,
      2,
    );
    assert.equal(
      (await run("import", file, "--with-keys", "--master-key", ownKey, "--data", other)).status,
      0,
    );
    const copied = join(other, "master.key");
    assert.equal(readFileSync(copied, "utf8"), readFileSync(ownKey, "utf8"));
    assert.equal(statSync(copied).mode & 0o777, 0o600);
    const account = ["--account", "acme", "--user", "user-2"];
    const blockFile = join(folder, "block.txt");
    writeFileSync(blockFile, block);
    assert.equal((await runBesideOwner(other, "read", blockFile, ...account)).status, 0);
    // A folder with a key needs none, and does not take another one.
    assert.equal((await run("import", file, "--data", other)).status, 0);
    writeFileSync(wrong, `1 ${"0a".repeat(32)}\n`);
    const refused = await run("import", file, "--master-key", wrong, "--data", other);
    assert.equal(refused.status, 1);
    assert.match(refused.err, /has other master keys than .*wrong\.key/);
    assert.equal(readFileSync(copied, "utf8"), readFileSync(ownKey, "utf8"));
  }));

test("import: a line that is refused is named, however much of the file comes after it", () =>
  withData(async (data, folder) => {
    const file = join(folder, "facts.jsonl");
    for (const [text, refusal] of [
      [`\n{bad\n${"{}\n".repeat(500_000)}`, "line 2: This line cannot be imported: it is not JSON."],
      [`\n{${"x".repeat(12_000_000)}`, "line 2: A line has at most 4194304 characters."],
    ]) {
      writeFileSync(file, text);
      const { status, err } = await run("import", file, "--new-master-key", "--data", data);
      assert.deepEqual([status, err], [1, `sideband import: ${refusal}\n`]);
    }
    const notes = join(folder, "CLAUDE.md");
    writeFileSync(notes, "# Notes\n");
    const { status, err } = await run("import", notes, "--data", data);
    assert.deepEqual(
      [status, err],
      [
        1,
        `sideband import: ${notes} is no export of Sideband; "sideband import --from ${notes}" shows what it would take from another file\n`,
      ],
    );
  }));

test("backup, restore, verify, compact, read", () =>
  withData(async (data, folder) => {
    await fill(data);
    const block = await blockOf(data, "user-2");
    const backup = join(folder, "backup");
    assert.equal((await run("backup", backup, "--data", data)).status, 0);
    assert.equal((await run("backup", backup, "--data", data)).status, 1, "a backup overwrites nothing");
    const restored = join(folder, "restored");
    assert.equal((await run("restore", backup, "--data", restored)).status, 0);
    assert.equal((await run("restore", backup, "--data", restored)).status, 1);
    const verified = JSON.parse((await runBesideOwner(restored, "verify", "--json")).out);
    assert.deepEqual(verified, { users: FILLED_USERS, facts: 3 * FILLED_USERS, overflowed: 0, findings: [] });
    const compacted = JSON.parse((await run("compact", "--json", "--data", restored)).out);
    assert.ok(compacted.entries >= 4 * FILLED_USERS && compacted.after_bytes > 0);
    const file = join(folder, "block.txt");
    writeFileSync(file, `Some prompt.\n${block.split(" ").slice(0, 200).join(" ")}`);
    const readAs = (account: string) =>
      run("read", "--account", account, "--user", "user-2", file, "--data", restored);
    const [read, foreign] = await besideOwner(restored, async () => [
      await readAs("acme"),
      await readAs("other"),
    ]);
    assert.equal(read.status, 0);
    assert.match(read.out, /^USER\.name=value 2 of channel 0\nUSER\.gpu=value 2 of channel 3\n/);
    assert.equal(foreign.status, 1);
    assert.match(foreign.err, /cannot be read/);
  }));

test("a backup has the master key unless it is asked for without it", () =>
  withData(async (data, folder) => {
    await begin(data);
    await run("keys", "create", "--account", "acme", "--data", data);
    const key = readFileSync(join(data, "master.key"), "utf8");
    await run("backup", join(folder, "with"), "--data", data);
    assert.equal(readFileSync(join(folder, "with", "master.key"), "utf8"), key);
    assert.equal(
      (await run("backup", join(folder, "without"), "--without-master-key", "--data", data)).status,
      0,
    );
    assert.ok(existsSync(join(folder, "without", "sideband.json")));
    assert.equal(existsSync(join(folder, "without", "master.key")), false);
  }));

test("verify names a damaged record and ends with status 1", () =>
  withData(async (data) => {
    await begin(data);
    await run("keys", "create", "--account", "acme", "--data", data);
    await damage(data, "accounts", "acme");
    const { status, out } = await run("verify", "--data", data);
    assert.equal(status, 1);
    assert.match(out, /^the record accounts "acme" fails its checksum$/m);
    assert.match(out, /^0 users, 0 facts, 0 did not fit into their block: 1 fault$/m);
  }));

test("a damaged counter stops no command: verify names the record", () =>
  withData(async (data) => {
    await fill(data);
    await damage(data, "counters", "users");
    const { status, out } = await runBesideOwner(data, "verify");
    assert.equal(status, 1);
    assert.match(out, /^the record counters "users" fails its checksum$/m);
  }));

test("a folder with facts and without its master key is not opened, and gets no new key", () =>
  withData(async (data) => {
    await fill(data);
    const path = join(data, "master.key");
    const key = readFileSync(path, "utf8");
    rmSync(path);
    const { status, err } = await run("verify", "--data", data);
    assert.equal(status, 1);
    assert.match(err, /holds facts but no master\.key.*openssl rand -hex 32 > /);
    assert.equal(existsSync(path), false);
    writeFileSync(path, key);
    assert.equal((await runBesideOwner(data, "verify")).status, 0);
  }));

for (const [what, answer, message] of [
  ["breaks off", '{"kind":"user","user_id":"ada"}', /ended before the export was whole/],
  [
    "cannot finish",
    '{"problem":{"code":"store_corrupt","detail":"A record is damaged."}}',
    /A record is damaged/,
  ],
] as const) {
  test(`an export that the owner ${what} is a failure`, () =>
    withData(async (data, folder) => {
      mkdirSync(data);
      const file = join(folder, "facts.jsonl");
      writeFileSync(file, "the last good export");
      const owner = createServer((request, response) => {
        response.end(request.url === "/operator/owner" ? "{}" : `${answer}\n`);
      }).listen(doorPath(data));
      await once(owner, "listening");
      const { status, err } = await run("export", "--out", file, "--data", data);
      owner.close();
      assert.equal(status, 1);
      assert.match(err, message);
      assert.equal(readFileSync(file, "utf8"), "the last good export");
      assert.deepEqual(readdirSync(folder).sort(), ["data", "facts.jsonl"]);
    }));
}

test("a command whose owner is killed in the middle ends with one line", () =>
  withData(async (data) => {
    mkdirSync(data);
    const owner = createServer((request, response) => {
      if (request.url === "/operator/owner") return response.end("{}");
      response.write('{"progress":{"done":1,"total":2}}\n', () => response.destroy());
    }).listen(doorPath(data));
    await once(owner, "listening");
    const { status, err } = await run("compact", "--data", data);
    owner.close();
    assert.equal(status, 1);
    assert.match(err, /^sideband compact: .*ended before the work was finished\.?\n$/m);
  }));

test("an export whose owner has just ended is made by the next one, and a link stays a link", () =>
  withData(async (data, folder) => {
    await fill(data);
    const [file, link] = [join(folder, "facts.jsonl"), join(folder, "link")];
    writeFileSync(file, "the last good export");
    symlinkSync(file, link);
    const owner = createServer((_request, response) => {
      owner.close();
      response.end("{}");
    }).listen(doorPath(data));
    await once(owner, "listening");
    assert.equal((await run("export", "--out", link, "--data", data)).status, 0);
    assert.ok(lstatSync(link).isSymbolicLink());
    assert.equal(readFileSync(file, "utf8").split("\n").length, FILLED_USERS + 1);
    assert.equal(statSync(file).mode & 0o777, 0o600);
  }));

test("an export into a pipe does not replace it", () =>
  withData(async (data, folder) => {
    await fill(data);
    const pipe = join(folder, "pipe");
    execFileSync("mkfifo", [pipe]);
    const read = readFile(pipe, "utf8");
    assert.equal((await run("export", "--out", pipe, "--data", data)).status, 0);
    assert.ok(lstatSync(pipe).isFIFO());
    assert.equal((await read).split("\n").length, FILLED_USERS + 1);
  }));

test("every command has help, refuses unknown options with status 2, and says when there is no store", () =>
  withData(async (data) => {
    const { out } = await run("--help");
    const names = [...out.matchAll(/^ {2}([a-z]+(?: [a-z]+)?) {2}/gm)].map((match) => match[1]);
    for (const name of [
      "serve",
      "keys create",
      "keys list",
      "keys revoke",
      "usage",
      "export",
      "import",
      "backup",
      "restore",
      "verify",
      "compact",
      "read",
    ]) {
      assert.ok(names.includes(name), name);
      const help = await run(...name.split(" "), "--help");
      assert.equal(help.status, 0);
      assert.match(help.out, new RegExp(`^usage: sideband ${name}`));
      assert.match(help.out, /Exit status: /);
      assert.equal((await run(...name.split(" "), "--no-such-option")).status, 2, name);
    }
    for (const name of ["verify", "compact", "export", "usage", "keys list", "keys revoke x"]) {
      const refused = await run(...name.split(" "), "--data", data);
      assert.equal(refused.status, 1);
      assert.match(
        refused.err,
        /there is no store in [^\n]*; "sideband remember" or "sideband serve" begins one\n$/,
      );
      assert.ok(!existsSync(data), name);
    }
  }));

test("a wrong value of an option is a wrong call that names the option, not its setting", async () => {
  for (const [text, ...call] of [
    ["--port takes a whole number from 0 to 65535", "serve", "--port", "abc"],
    ["--port takes a whole number from 0 to 65535", "serve", "--port", "99999"],
    ["--host takes an address or a name", "serve", "--host", "a b"],
    ["--data must not be empty", "serve", "--data", ""],
    ["--data must not be empty", "owner", "--data", ""],
    ["--data must not be empty", "verify", "--data", ""],
  ]) {
    const { status, err } = await run(...call);
    assert.equal(status, 2, call.join(" "));
    assert.match(err, new RegExp(`^sideband [a-z]+: ${text} \\(`));
  }
});

test("what the system refuses is one line, not a stack trace", () =>
  withData(async (data, folder) => {
    const file = join(folder, "a-file");
    writeFileSync(file, "");
    for (const args of [
      ["keys", "list", "--data", file],
      ["import", join(folder, "missing.jsonl"), "--data", data],
      ["read", "--account", "a", "--user", "u", join(folder, "missing.txt"), "--data", data],
      ["backup", join(file, "backup"), "--data", data],
      ["export", "--out", join(folder, "no", "such", "folder"), "--data", data],
    ]) {
      const { status, err } = await run(...args);
      assert.equal(status, 1, args.join(" "));
      assert.match(err, /^sideband [a-z ]+: [^\n]+\n$/, args.join(" "));
    }
  }));

test("an owner that is gone each time it is needed is one line that says what to do", (context) =>
  withData(async (data) => {
    mkdirSync(data);
    const owner = createServer((_request, response) => {
      owner.close();
      response.end("{}");
    }).listen(doorPath(data));
    await once(owner, "listening");
    let nowMs = 0;
    context.mock.method(performance, "now", () => {
      nowMs += 20_000;
      return nowMs;
    });
    const { status, err } = await run("usage", "--data", data);
    assert.equal(status, 1);
    assert.match(err, /^sideband usage: nobody has the data folder open: run the command again\n$/);
  }));
