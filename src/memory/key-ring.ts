/**
 * Master keys by id, and the block keys derived from them for each account. The newest master key writes;
 * all of them read, so that blocks from before a rotation stay readable.
 */

import { assert, assertInteger } from "../base/assert.ts";
import { BoundedCache } from "../base/bounded-cache.ts";
import { type BlockKey, deriveBlockKey } from "../codec/seal.ts";

export interface MasterKey {
  readonly id: number;
  readonly material: Uint8Array;
}

export class KeyRing {
  readonly #masters: readonly MasterKey[];
  readonly #derived = new BoundedCache<BlockKey[]>({ entriesMax: 10_000 });

  /** The last of the keys is the newest. */
  constructor(masters: readonly MasterKey[]) {
    assert(masters.length >= 1, "a key ring has a key");
    assert(new Set(masters.map(({ id }) => id)).size === masters.length, "key ids differ");
    for (const { id, material } of masters) {
      assertInteger(id, 0, 255, "key id");
      assert(material.length === 32, "a master key has 32 bytes");
    }
    this.#masters = masters;
  }

  /** The key that an account's blocks are written with. */
  writing(account: string): BlockKey {
    const keys = this.reading(account);
    assert(keys.length === this.#masters.length, "an account has a key for each master key");
    return keys[keys.length - 1];
  }

  /** All keys that an account's blocks may have been written with. */
  reading(account: string): readonly BlockKey[] {
    let keys = this.#derived.get(account);
    if (keys === undefined) {
      keys = this.#masters.map(({ id, material }) => deriveBlockKey(material, id, account));
      this.#derived.set(account, keys);
    }
    return keys;
  }

  /** A secret of this service for keyed digests, apart from every block key: account names have no "@". */
  get digestKey(): Uint8Array {
    return deriveBlockKey(this.#masters[0].material, this.#masters[0].id, "@digests").material;
  }

  /** The secret of event ids. It stays with a new master key, so that listeners go on. */
  get eventKey(): Uint8Array {
    return deriveBlockKey(this.#masters[0].material, this.#masters[0].id, "@events").material;
  }

  /** The secret of short-lived tokens. It changes with a new master key. */
  get tokenKey(): Uint8Array {
    const { id, material } = this.#masters[this.#masters.length - 1];
    return deriveBlockKey(material, id, "@tokens").material;
  }
}
