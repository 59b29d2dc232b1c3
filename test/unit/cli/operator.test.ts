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
import { doorPath } from "../../../src/door-client/private-folder.ts";
import { openCore } from "../../../src/main/core.ts";
import { damage } from "../../fixtures/behind-the-store.ts";
import { blockOf, FILLED_USERS, fill, runBesideOwner } from "./filled-data.ts";
import { besideOwner, run, withData } from "./run-command.ts";

/** A folder with an empty store. */
async function begin(data: string): Promise<void> {
  await (await openCore(readConfig({ SIDEBAND_DATA: data }), { create: true })).close();
}

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
    const expiring = (...when: string[]) =>
      run("keys", "create", "--account", "acme", "--expires", ...when, "--data", data, "--json");
    const refused = await expiring("soon");
    assert.equal(refused.status, 2);
    assert.match(refused.err, /--expires takes a moment such as friday, .*, not "soon"/);
    assert.equal(
      JSON.parse((await expiring("31 Jan 2999")).out).expires_at,
      new Date(2999, 0, 31, 23, 59, 59).toISOString(),
    );
  }));

test("keys: one is bound to a user, or reads only, and the list says so", () =>
  withData(async (data) => {
    await begin(data);
    const create = (...args: string[]) => run("keys", "create", "--account", "acme", ...args, "--data", data);
    const bound = await create("--user", "ada lovelace", "--access", "read");
    assert.match(
      bound.out,
      /^key for account "acme" \(unlimited: .*; user "ada lovelace", reads only\), shown/,
    );
    const { user, access } = JSON.parse((await create("--json", "--user", "bob")).out);
    assert.deepEqual({ user, access }, { user: "bob", access: "write" });
    await create();
    const { out } = await run("keys", "list", "--data", data);
    for (const text of [/user "ada lovelace", reads only {2}/, /user "bob" {2}/, /all users {2}/])
      assert.match(out, text);
    for (const wrong of ["--access=admin", "--user=a\nb"]) assert.notEqual((await create(wrong)).status, 0);
  }));

test("backup, restore, verify, compact, read", () =>
  withData(async (data, folder) => {
    await fill(data);
    const block = await blockOf(data, "user-2");
    const backup = join(folder, "backup");
    assert.equal((await run("backup", "create", backup, "--data", data)).status, 0);
    assert.equal(
      (await run("backup", "create", backup, "--data", data)).status,
      1,
      "a backup overwrites nothing",
    );
    const restored = join(folder, "restored");
    assert.equal((await run("backup", "restore", backup, "--data", restored)).status, 0);
    assert.equal((await run("backup", "restore", backup, "--data", restored)).status, 1);
    const verified = JSON.parse((await runBesideOwner(restored, "verify", "--deep", "--json")).out);
    assert.deepEqual(verified, { users: FILLED_USERS, facts: 3 * FILLED_USERS, overflowed: 0, findings: [] });
    const ofBackup = await besideOwner(backup, () => run("backup", "verify", backup, "--deep", "--json"));
    assert.deepEqual([ofBackup.status, JSON.parse(ofBackup.out)], [0, verified]);
    const quick = await besideOwner(backup, () => run("backup", "verify", backup, "--json"));
    assert.deepEqual([quick.status, JSON.parse(quick.out)], [0, { ...verified, overflowed: null }]);
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
    await run("backup", "create", join(folder, "with"), "--data", data);
    assert.equal(readFileSync(join(folder, "with", "master.key"), "utf8"), key);
    assert.equal(
      (await run("backup", "create", join(folder, "without"), "--without-master-key", "--data", data)).status,
      0,
    );
    assert.ok(existsSync(join(folder, "without", "sideband.json")));
    assert.equal(existsSync(join(folder, "without", "master.key")), false);
    const restore = (backup: string) =>
      run("backup", "restore", join(folder, backup), "--data", join(folder, `${backup}-restored`));
    assert.doesNotMatch((await restore("with")).out, /master\.key/);
    const { status, out } = await restore("without");
    assert.equal(status, 0);
    assert.match(
      out,
      /^\S+-restored holds no master\.key, .* cannot be read: put the file back, or set SIDEBAND_MASTER_KEY, or .*$/m,
    );
  }));

test("a backup of a newer release is neither verified nor restored, with the same line", () =>
  withData(async (data, folder) => {
    await begin(data);
    const [backup, restored] = ["backup", "restored"].map((name) => join(folder, name));
    await run("backup", "create", backup, "--data", data);
    const note = join(backup, "sideband.json");
    writeFileSync(note, readFileSync(note, "utf8").replace('"format":1', '"format":2'));
    const line = `${backup} has data format 2, this release knows formats up to 1: a newer release wrote it; run that release or a later one. Nothing was changed\n`;
    for (const [verb, ...more] of [["verify"], ["restore", "--data", restored]]) {
      const { status, out, err } = await run("backup", verb, backup, ...more);
      assert.deepEqual([status, out, err], [1, "", `sideband backup ${verb}: ${line}`]);
    }
    assert.ok(!existsSync(restored), "nothing is written");
  }));

test("a backup is verified in its own folder, which gets no secret for that; another folder is none", () =>
  withData(async (data, folder) => {
    await run("keys", "create", "--account", "acme", "--data", data);
    const backup = join(folder, "backup");
    await run("backup", "create", backup, "--data", data);
    const { status, out } = await run("backup", "verify", backup);
    assert.deepEqual([status, out], [0, "0 users, 0 facts: every record holds its checksum\n"]);
    assert.equal(existsSync(join(backup, "admin.token")), false);
    const none = await run("backup", "verify", folder);
    assert.deepEqual([none.status, none.err], [1, `sideband backup verify: ${folder} holds no backup\n`]);
    await damage(backup, "accounts", "acme");
    const damaged = await run("backup", "verify", backup);
    assert.equal(damaged.status, 1);
    assert.match(damaged.out, /: 1 fault\n$/);
  }));

test("verify names a damaged record and ends with status 1", () =>
  withData(async (data) => {
    await begin(data);
    await run("keys", "create", "--account", "acme", "--data", data);
    await damage(data, "accounts", "acme");
    const { status, out } = await run("verify", "--data", data);
    assert.equal(status, 1);
    assert.match(out, /^the record accounts "acme" fails its checksum$/m);
    assert.match(out, /^0 users, 0 facts: 1 fault$/m);
    const deep = await run("verify", "--deep", "--data", data);
    assert.match(deep.out, /^0 users, 0 facts, 0 did not fit into their block: 1 fault$/m);
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
      const { status, err } = await run("accounts", "export", "--out", file, "--data", data);
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
    assert.equal((await run("accounts", "export", "--out", link, "--data", data)).status, 0);
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
    assert.equal((await run("accounts", "export", "--out", pipe, "--data", data)).status, 0);
    assert.ok(lstatSync(pipe).isFIFO());
    assert.equal((await read).split("\n").length, FILLED_USERS + 1);
  }));

test("every command has help, refuses unknown options with status 2, and says when there is no store", () =>
  withData(async (data) => {
    const { out } = await run("help", "all");
    const names = [...out.matchAll(/^ {2}([a-z]+(?: [a-z]+)?) {2}/gm)].map((match) => match[1]);
    for (const name of [
      "serve",
      "keys create",
      "keys list",
      "keys revoke",
      "usage",
      "accounts export",
      "accounts import",
      "backup create",
      "backup verify",
      "backup restore",
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
    for (const name of ["verify", "compact", "accounts export", "usage", "keys list", "keys revoke x"]) {
      const refused = await run(...name.split(" "), "--data", data);
      assert.equal(refused.status, 1);
      assert.match(
        refused.err,
        /there is no store in [^\n]*; "sideband open" or "sideband serve" begins one, and so does a first fact\n$/,
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
      ["accounts", "import", join(folder, "missing.jsonl"), "--data", data],
      ["read", "--account", "a", "--user", "u", join(folder, "missing.txt"), "--data", data],
      ["backup", "create", join(file, "backup"), "--data", data],
      ["accounts", "export", "--out", join(folder, "no", "such", "folder"), "--data", data],
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

test("operators are added with a token that is shown once, listed with their rights, and removed", () =>
  withData(async (data) => {
    const added = await run("operators", "add", "ada", "--access", "read", "--data", data);
    assert.match(
      added.out,
      /^operator "ada" \(looks at everything, changes nothing\), token .* once:\nsbo_[\w-]{43}\n$/,
    );
    const { out } = await run("operators", "list", "--data", data);
    assert.match(out, /^operator +may +since\nada +looks at everything, changes nothing +\d{4}-\d\d-\d\d\n$/);
    assert.equal(
      (await run("operators", "remove", "ada", "--data", data)).out,
      'removed the operator "ada"\n',
    );
    const missing = await run("operators", "remove", "ada", "--data", data);
    assert.deepEqual([missing.status, /There is no operator ada/.test(missing.err)], [1, true]);
  }));

test("the audit tells what commands have changed, the newest first, as lines or as JSON, and an import with its beginning", () =>
  withData(async (data) => {
    const file = join(data, "all.jsonl");
    await run("keys", "create", "--account", "acme", "--user", "ada", "--data", data);
    await run("accounts", "export", "--out", file, "--data", data);
    await run("accounts", "import", file, "--data", data);
    const told = await run("audit", "--data", data);
    const [imported, created] = told.out.trim().split("\n");
    assert.match(imported!, /^[\dT:.+-]+ {2}import {2}by operator owner {2}from this machine$/);
    assert.match(
      created!,
      /adminCreateKey {2}account=acme {2}user_id="ada" {2}key_id="\w+" {2}by operator owner/,
    );
    const json = await run("audit", "--json", "--account", "acme", "--user", "ada", "--data", data);
    const entries = json.out
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    assert.deepEqual(
      entries.map(({ operation, of }) => [operation, of.user_id]),
      [["adminCreateKey", "ada"]],
    );
    assert.equal((await run("audit", "--since", "in 3 days", "--data", data)).out, "");
    assert.equal((await run("audit", "--user", "ada", "--data", data)).status, 2);
  }));

test("the tier of a key and the limit of an account are changed", () =>
  withData(async (data) => {
    const created = await run("keys", "create", "--account", "acme", "--json", "--data", data);
    const { id } = JSON.parse(created.out);
    const changed = await run("keys", "change", id, "--tier", "builder", "--data", data);
    assert.match(changed.out, /of account "acme" is builder: 500,000 facts a month\n$/);
    assert.match((await run("keys", "list", "--data", data)).out, /builder/);
    assert.equal((await run("keys", "change", id, "--data", data)).status, 2);
    const limited = await run("accounts", "limit", "acme", "100000", "--data", data);
    assert.equal(limited.out, 'all keys of account "acme" together: 100,000 facts a month\n');
    const usage = await run("usage", "--data", data);
    assert.match(usage.out, / {2}builder {2}0 {11}100,000 for all keys, 0 used\n$/);
    const none = await run("accounts", "limit", "acme", "none", "--data", data);
    assert.equal(none.out, 'all keys of account "acme" together: what their tiers allow\n');
    assert.match((await run("usage", "--data", data)).out, / {2}builder {2}0 {11}500,000\n$/);
    assert.equal((await run("accounts", "limit", "acme", "many", "--data", data)).status, 2);
    assert.equal((await run("accounts", "limit", "nobody", "5", "--data", data)).status, 1);
  }));
