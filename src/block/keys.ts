/**
 * Keys of an application, as text for a setting: "sbk_", then 33 bytes in base64url. The first byte is the id that a
 * block shows in the clear, so that the right one of several keys is tried; the rest is secret.
 */

import { assert } from "../base/assert.ts";
import { type BlockKey, deriveBlockKey, MASTER_KEY_BYTES } from "../codec/seal.ts";
import { BlockError } from "./errors.ts";

const PREFIX = "sbk_";
const KEY_FORM = /^sbk_[\w-]{44}$/;
/** Blocks of an application are not those of any account of a service, even under the same bytes. */
const ACCOUNT = "\0application";

/** A new secret key: keep it where the application keeps its other secrets. */
export function newKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(1 + MASTER_KEY_BYTES));
  const text = btoa(String.fromCharCode(...bytes))
    .replaceAll("+", "-")
    .replaceAll("/", "_");
  assert(KEY_FORM.test(PREFIX + text), "33 bytes take 44 characters");
  return PREFIX + text;
}

export function blockKeyOf(text: string): BlockKey {
  if (typeof text !== "string" || !KEY_FORM.test(text))
    throw new BlockError("invalid_key", "the key must be a text that newKey() made: sbk_ and 44 characters");
  const encoded = text.slice(PREFIX.length).replaceAll("-", "+").replaceAll("_", "/");
  const bytes = Uint8Array.from(atob(encoded), (character) => character.charCodeAt(0));
  return deriveBlockKey(bytes.subarray(1), bytes[0], ACCOUNT);
}

/** The keys in as few rings as possible: in a ring each id is there once. */
export function keyRings(texts: readonly string[]): Map<number, BlockKey>[] {
  const rings: Map<number, BlockKey>[] = [];
  for (const text of new Set(texts)) {
    const key = blockKeyOf(text);
    let ring = rings.find((ring) => !ring.has(key.id));
    if (ring === undefined) {
      ring = new Map();
      rings.push(ring);
    }
    ring.set(key.id, key);
  }
  return rings;
}
