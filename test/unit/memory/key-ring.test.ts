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

test("the digest key is none of the block keys", () => {
  const ring = new KeyRing([older, newer]);
  const digestKey = Buffer.from(ring.digestKey);
  for (const account of ["acme", "digests"])
    for (const { material } of ring.reading(account)) assert.notDeepEqual(digestKey, Buffer.from(material));
});

test("a new master key changes neither the digest key nor the secret of event ids, which is another one", () => {
  const ring = new KeyRing([older, newer]);
  assert.deepEqual(ring.digestKey, new KeyRing([older]).digestKey);
  assert.deepEqual(ring.eventKey, new KeyRing([older]).eventKey);
  assert.notDeepEqual(ring.eventKey, ring.digestKey);
});

test("the secret of tokens is that of the newest master key alone, and none of the others", () => {
  const ring = new KeyRing([older, newer]);
  assert.deepEqual(ring.tokenKey, new KeyRing([newer]).tokenKey);
  assert.notDeepEqual(ring.tokenKey, new KeyRing([older]).tokenKey);
  assert.notDeepEqual(ring.tokenKey, new KeyRing([newer]).digestKey);
  assert.notDeepEqual(Buffer.from(ring.tokenKey), Buffer.from(ring.writing("tokens").material));
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
