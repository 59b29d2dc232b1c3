/** sideband accounts export and import between two data folders: what comes along, what must be asked for, what is refused. */

import assert from "node:assert/strict";
import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { sidebandCommand } from "../../../src/cli/printed-commands.ts";
import { blockOf, FILLED_USERS, fill, runBesideOwner } from "./filled-data.ts";
import { run, withData } from "./run-command.ts";

const ONE_FACT = JSON.stringify([
  { label: "USER.name", value: "Ada", channel: 0, revision: 1, updated_at: "2026-01-01T00:00:00.000Z" },
]);

test("export and import: a second folder holds the same facts with their times, and the same keys", () =>
  withData(async (data, folder) => {
    await fill(data);
    await run("keys", "create", "--account", "acme", "--data", data);
    const file = join(folder, "facts.jsonl");
    const { status, out } = await run("accounts", "export", "--out", file, "--data", data);
    assert.deepEqual(
      [status, out],
      [0, `wrote 1 key and ${FILLED_USERS} users with ${3 * FILLED_USERS} facts to ${file}\n`],
    );
    const lines = readFileSync(file, "utf8").trim().split("\n");
    assert.equal(lines.length, FILLED_USERS + 1);
    const other = join(folder, "other");
    const imported = await run(
      "accounts",
      "import",
      file,
      "--with-keys",
      "--new-master-key",
      "--json",
      "--data",
      other,
    );
    assert.deepEqual(JSON.parse(imported.out), {
      lines: FILLED_USERS + 1,
      facts: 3 * FILLED_USERS,
      keys: 1,
      requests: 0,
      labels_added: [],
      left_out: [],
      not_taken: { keys: 0, requests: 0, settings: 0, users: 0 },
    });
    assert.match(imported.err, /^with keys: 1 key\nACCOUNT +TIER +KEY +FOR/);
    const again = join(folder, "again.jsonl");
    await run("accounts", "export", "--out", again, "--data", other);
    assert.equal(readFileSync(again, "utf8"), readFileSync(file, "utf8"));
    writeFileSync(
      file,
      `${lines[1]}\n{"kind":"user","account":"acme","user_id":"x","facts":[{"label":"NO.such"}]}\n`,
    );
    const bad = await run("accounts", "import", file, "--data", other);
    assert.equal(bad.status, 1);
    assert.match(bad.err, /line 2: /);
    writeFileSync(file, `{"kind":"user","account":"acme","user_id":"one","facts":${ONE_FACT}}\n`);
    assert.equal(
      (await run("accounts", "import", file, "--data", other)).out,
      "imported 1 fact from 1 line\n",
    );
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
    await run("accounts", "export", "--out", file, "--data", data);
    // As a user's file with a key in it that the operator does not expect.
    writeFileSync(
      file,
      readFileSync(file, "utf8").replaceAll('"account":"acme","user_id"', '"account":"default","user_id"'),
    );
    const facts = 3 * FILLED_USERS;
    const bare = await run("accounts", "import", file, "--new-master-key", "--data", other);
    assert.deepEqual(
      [bare.status, bare.out, bare.err],
      [
        0,
        `not taken: 1 key; to list and take them, too: ${sidebandCommand()} accounts import ${file} --with-keys --data ${other}\n` +
          `imported ${facts} facts from ${FILLED_USERS + 1} lines\n`,
        "",
      ],
    );
    assert.deepEqual(JSON.parse((await run("keys", "list", "--json", "--data", other)).out).keys, []);
    const asked = await run("accounts", "import", file, "--with-keys", "--data", other);
    assert.equal(
      asked.out,
      `with keys: 1 key\nACCOUNT  TIER       KEY            FOR        NOTE\n` +
        `acme     unlimited  ${prefix}…  all users\naccounts: acme, default\n` +
        `imported ${facts} facts, 1 key from ${FILLED_USERS + 1} lines\n`,
    );
    assert.equal(JSON.parse((await run("keys", "list", "--json", "--data", other)).out).keys[0].id, id);

    // A key that breaks a rule is refused before anything is written.
    const third = join(folder, "third");
    writeFileSync(file, `${readFileSync(file, "utf8").replace(prefix, "\\u001b[2J")}`);
    const refused = await run("accounts", "import", file, "--with-keys", "--new-master-key", "--data", third);
    assert.deepEqual(
      [refused.status, refused.err],
      [
        1,
        "sideband accounts import: line 1: This line cannot be imported: the key's prefix is not how a key begins.\n",
      ],
    );
    assert.ok(!existsSync(third));
    const piped = await run("accounts", "import", "--with-keys", "--data", other);
    assert.equal(piped.status, 2);
    assert.match(piped.err, /--with-keys needs FILE/);
  }));

test("import lists the limits of keys in the words of keys list", () =>
  withData(async (data, folder) => {
    for (const limits of [
      ["--groups", "USER,PREF"],
      ["--groups=-HEALTH"],
      ["--write", "PREF.tone,LANG.*"],
      ["--user", "ada", "--access", "read"],
    ])
      await run("keys", "create", "--account", "acme", ...limits, "--data", data);
    const [file, other] = ["facts.jsonl", "other"].map((name) => join(folder, name));
    await run("accounts", "export", "--out", file, "--data", data);
    const asked = ["accounts", "import", file, "--with-keys", "--new-master-key", "--data", other];
    const imported = (await run(...asked)).out;
    const listed = (await run("keys", "list", "--data", data)).out;
    for (const words of [
      "all users, PREF,USER",
      "all users, -HEALTH",
      "all users, writes LANG.* PREF.tone",
      'user "ada", reads only',
    ]) {
      assert.ok(listed.includes(`  ${words}  `), listed);
      assert.ok(imported.includes(`…  ${words}\n`), imported);
    }
  }));

test("import: a folder without a master key is given one by the operator, and blocks stay readable under the old one", () =>
  withData(async (data, folder) => {
    await fill(data);
    const block = await blockOf(data, "user-2");
    const [file, other, wrong] = ["facts.jsonl", "other", "wrong.key"].map((name) => join(folder, name));
    const exported = await run("accounts", "export", "--out", file, "--data", data);
    assert.match(
      exported.err,
      /not exported: master\.key and admin\.token \(copy them yourself\), operators, records of Idempo/,
    );
    assert.doesNotMatch(readFileSync(file, "utf8"), /master|[0-9a-f]{64}/);
    const ownKey = join(data, "master.key");
    const asked = await run("accounts", "import", file, "--data", other);
    assert.notEqual(asked.status, 0);
    assert.match(asked.err, /has no master\.key.*--master-key FILE.*--new-master-key/);
    assert.ok(!existsSync(other), "a refused import leaves nothing behind");
    assert.equal(
      (await run("accounts", "import", file, "--master-key", ownKey, "--new-master-key", "--data", other))
        .status,
      2,
    );
    assert.equal(
      (await run("accounts", "import", file, "--with-keys", "--master-key", ownKey, "--data", other)).status,
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
    assert.equal((await run("accounts", "import", file, "--data", other)).status, 0);
    writeFileSync(wrong, `1 ${"0a".repeat(32)}\n`);
    const refused = await run("accounts", "import", file, "--master-key", wrong, "--data", other);
    assert.equal(refused.status, 1);
    assert.match(refused.err, /has other master keys than .*wrong\.key/);
    assert.equal(readFileSync(copied, "utf8"), readFileSync(ownKey, "utf8"));
  }));

test("import: a line that is refused is named, however much of the file comes after it", () =>
  withData(async (data, folder) => {
    const file = join(folder, "facts.jsonl");
    for (const [text, refusal] of [
      [`\n{bad\n${"{}\n".repeat(500_000)}`, "line 2: This line cannot be imported: it is not JSON."],
      [`\n{${"x".repeat(12_000_000)}`, "line 2: A line has at most 1048576 characters."],
    ]) {
      writeFileSync(file, text);
      const { status, err } = await run("accounts", "import", file, "--new-master-key", "--data", data);
      assert.deepEqual([status, err], [1, `sideband accounts import: ${refusal}\n`]);
    }
    const notes = join(folder, "CLAUDE.md");
    writeFileSync(notes, "# Notes\n");
    const { status, err } = await run("accounts", "import", notes, "--data", data);
    assert.deepEqual(
      [status, err],
      [
        1,
        `sideband accounts import: ${notes} is no export of Sideband; what it would take from another file: ${sidebandCommand()} import ${notes}\n`,
      ],
    );
  }));
