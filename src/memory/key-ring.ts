/**
 * Master keys by id, and what is derived from them: the block keys of each account, and secrets of the service's own. The
 * last master key writes, and all of them read, so that nothing is refused while one takes the place of another, whichever
 * node it comes to.
 */

import { assert, assertInteger, elementAt } from "../base/assert.ts";
import { BoundedCache } from "../base/bounded-cache.ts";
import { type BlockKey, deriveBlockKey } from "../codec/seal.ts";

export interface MasterKey {
  readonly id: number;
  readonly material: Uint8Array;
  /** It opens blocks that were sealed with it, and counts for nothing else. */
  readonly opensOnly?: boolean;
}

export class KeyRing {
  readonly #masters: readonly MasterKey[];
  readonly #derived = new BoundedCache<BlockKey[]>({ entriesMax: 10_000 });

  /** The last of the keys writes. */
  constructor(masters: readonly MasterKey[]) {
    assert(masters.length >= 1, "a key ring has a key");
    assert(new Set(masters.map(({ id }) => id)).size === masters.length, "key ids differ");
    assert(!masters.at(-1)?.opensOnly, "the last key writes");
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
    return elementAt(keys, keys.length - 1);
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

  /** For keyed digests. */
  get digestSecrets(): readonly Uint8Array[] {
    return this.#secrets("@digests");
  }

  /** For the ids of events. */
  get eventSecrets(): readonly Uint8Array[] {
    return this.#secrets("@events");
  }

  /** For the hashes of persons in the audit: the last makes them, and all find those that were made. */
  get auditSecrets(): readonly Uint8Array[] {
    return this.#masters.map(({ id, material }) => deriveBlockKey(material, id, "@audit").material);
  }

  /** For what applications are given. */
  get grantSecrets(): readonly Uint8Array[] {
    return this.#secrets("@grants");
  }

  /**
   * For the list of erasures, with the numbers of their master keys. Also those that only open blocks: what was moved before
   * may be noted with no other, and old backups may have no other.
   */
  get erasureKeys(): readonly { readonly id: number; readonly key: Uint8Array }[] {
    return this.#masters.map(({ id }) => this.erasureKeyOf(id)!);
  }

  /** Undefined where that master key is not here. */
  erasureKeyOf(id: number): { readonly id: number; readonly key: Uint8Array } | undefined {
    const master = this.#masters.find((one) => one.id === id);
    return master && { id, key: deriveBlockKey(master.material, id, "@erasures").material };
  }

  /** For receipts, with the number of its master key: the last one signs. */
  get receiptKey(): { readonly id: number; readonly key: Uint8Array } {
    return this.receiptKeyOf(elementAt(this.#masters, this.#masters.length - 1).id)!;
  }

  /** Undefined where that master key is not here. */
  receiptKeyOf(id: number): { readonly id: number; readonly key: Uint8Array } | undefined {
    const master = this.#masters.find((one) => one.id === id);
    return master && { id, key: deriveBlockKey(master.material, id, "@receipts").material };
  }

  /** For short-lived tokens. */
  get tokenSecrets(): readonly Uint8Array[] {
    return this.#secrets("@tokens");
  }

  /** For the sessions of the console. */
  get consoleSecrets(): readonly Uint8Array[] {
    return this.#secrets("@console");
  }

  /** The last makes, and all are taken. They are apart from every block key: account names have no "@". */
  #secrets(purpose: `@${string}`): readonly Uint8Array[] {
    const masters = this.#masters.filter(({ opensOnly }) => !opensOnly);
    return masters.map(({ id, material }) => deriveBlockKey(material, id, purpose).material);
  }
}
