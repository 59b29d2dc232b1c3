/** Which master key writes, which read, and what is derived from them. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { deriveBlockKey } from "../../../src/codec/seal.ts";
import { KeyRing } from "../../../src/memory/key-ring.ts";

/** The newest is the last, whatever its id. */
const older = { id: 7, material: new Uint8Array(32).fill(1) };
const newer = { id: 2, material: new Uint8Array(32).fill(2) };

test("the newest master key writes", () => {
  const { id, material } = newer;
  assert.deepEqual(new KeyRing([older, newer]).writing("acme"), deriveBlockKey(material, id, "acme"));
});

test("every master key reads", () => {
  const expected = [older, newer].map(({ id, material }) => deriveBlockKey(material, id, "acme"));
  assert.deepEqual(new KeyRing([older, newer]).reading("acme"), expected);
});

test("the block keys of two accounts differ, also when they are asked for again", () => {
  const ring = new KeyRing([older, newer]);
  const materials = ["acme", "globex", "acme", "globex"].map((account) =>
    Buffer.from(ring.writing(account).material).toString("hex"),
  );
  assert.equal(new Set(materials).size, 2);
  assert.notEqual(materials[0], materials[1]);
});

const SECRETS = ["digestSecrets", "eventSecrets", "tokenSecrets", "consoleSecrets"] as const;

test("the service's own secrets are none of the block keys, and none is that of another purpose", () => {
  const ring = new KeyRing([older, newer]);
  const all = SECRETS.flatMap((name) => ring[name].map((secret) => Buffer.from(secret).toString("hex")));
  assert.equal(new Set(all).size, 2 * SECRETS.length);
  for (const account of ["acme", "digests", "tokens"])
    for (const { material } of ring.reading(account))
      assert.ok(!all.includes(Buffer.from(material).toString("hex")), account);
});

test("a ring has the secrets of each of its master keys, in their order: that of the last one makes", () => {
  for (const name of SECRETS)
    assert.deepEqual(new KeyRing([older, newer])[name], [
      ...new KeyRing([older])[name],
      ...new KeyRing([newer])[name],
    ]);
});

test("a master key that only opens blocks opens them, and has no other secret", () => {
  const ring = new KeyRing([{ ...older, opensOnly: true }, newer]);
  assert.equal(ring.reading("acme").length, 2);
  for (const name of SECRETS) assert.deepEqual(ring[name], new KeyRing([newer])[name]);
  assert.throws(() => new KeyRing([older, { ...newer, opensOnly: true }]));
});

test("a ring without a key, with an id twice, or with a key of another length is not made", () => {
  const material = new Uint8Array(32);
  for (const masters of [
    [],
    [older, { ...newer, id: 7 }],
    [{ id: 1, material: material.subarray(1) }],
    [{ id: 256, material }],
    [{ id: -1, material }],
  ])
    assert.throws(() => new KeyRing(masters));
});
