/** The secrets of a data folder: which master key writes, who can read the files, and what errors do not tell. */

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import fs, { fstatSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { join } from "node:path";
import { test } from "node:test";
import { adminTokens, masterKeys, removeLeftSecrets } from "../../../src/main/secrets.ts";
import { KeyRing } from "../../../src/memory/key-ring.ts";
import { temporaryFolder } from "../../fixtures/ends.ts";
import { fieldsOf } from "../../fixtures/fields.ts";

const OLD = "0a".repeat(32);
const NEW = "0b".repeat(32);

const configOf = (dataFolder: string, masterKey?: string) => ({
  dataFolder,
  masterKey,
  databaseUrl: undefined,
});

test("after a rotation the master key that stands last writes, and those before it still read", (context) => {
  const folder = temporaryFolder(context);
  writeFileSync(join(folder, "master.key"), `# rotated\n3 ${OLD}\n1 ${NEW}\n`);
  for (const setting of [undefined, `3:${OLD},1:${NEW}`]) {
    const ring = new KeyRing(masterKeys(configOf(folder, setting)));
    const alone = new KeyRing(masterKeys(configOf(folder, `1:${NEW}`)));
    assert.deepEqual(ring.writing("acme"), alone.writing("acme"));
    assert.deepEqual(fieldsOf(ring.reading("acme"), "id"), [3, 1]);
  }
});

test("secrets are made once, and only their owner can read them", (context) => {
  const folder = temporaryFolder(context);
  const first = [masterKeys(configOf(folder)), adminTokens(folder, undefined)];
  assert.deepEqual([masterKeys(configOf(folder)), adminTokens(folder, undefined)], first);
  for (const name of ["master.key", "admin.token"])
    assert.equal(statSync(join(folder, name)).mode & 0o777, 0o600, name);
});

test("a secret is on disk before it has its name, and its name before it is used, whoever made it", (context) => {
  const folder = temporaryFolder(context);
  const { fsyncSync, linkSync } = fs;
  const steps: (number | "link")[] = [];
  context.mock.method(fs, "fsyncSync", (descriptor: number) => {
    steps.push(fstatSync(descriptor).ino);
    fsyncSync(descriptor);
  });
  context.mock.method(fs, "linkSync", (from: string, to: string) => {
    steps.push("link");
    linkSync(from, to);
  });
  syncBuiltinESMExports();
  try {
    masterKeys(configOf(folder));
    masterKeys(configOf(folder));
  } finally {
    context.mock.restoreAll();
    syncBuiltinESMExports();
  }
  const file = statSync(join(folder, "master.key")).ino;
  const above = statSync(folder).ino;
  assert.deepEqual(steps, [file, "link", file, above, file, above]);
});

test("the drafts that killed processes left are removed, and no other file", (context) => {
  const folder = temporaryFolder(context);
  const { pid: ended } = spawnSync(process.execPath, ["-e", ""]);
  const left = [`master.key.${ended}.new`, `admin.token.${ended}.new`, `admin.token.${process.pid}.new`];
  // Of a living process, and what is not a draft of ours.
  const others = [`master.key.${process.ppid}.new`, `notes.${ended}.new`, `master.key.${ended}.new.old`];
  for (const name of [...left, ...others, "master.key"]) writeFileSync(join(folder, name), "");
  removeLeftSecrets(folder);
  assert.deepEqual(readdirSync(folder).sort(), [...others, "master.key"].sort());
});

test("a master key that is refused is not part of the message", (context) => {
  const folder = temporaryFolder(context);
  for (const setting of [`${OLD}ff`, `300:${OLD}`, `1:${OLD},1:${NEW}`]) {
    assert.throws(
      () => masterKeys(configOf(folder, setting)),
      ({ name, message }: Error) => name === "ConfigError" && !/0a0a|0b0b/.test(message),
    );
  }
});
