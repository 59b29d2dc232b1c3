/**
 * What a listener names to go on after an event. The number of an event counts those of others too, so it is sealed: one
 * block of AES under a key of the account and its log, which all nodes derive from their master keys. The same event has
 * the same id for all listeners of its account, until another master key writes. Half of the block is zero, by which an id that was made up, or that is
 * of another account or log, is found.
 */

import { createCipheriv, createDecipheriv, createHmac } from "node:crypto";
import { assertInteger, elementAt } from "../base/assert.ts";

/** The ids of the events of an account's log. */
export interface EventIds {
  idOf(number: number): string;
  /** The number of an event; undefined where the id is not one of this log. */
  numberOf(id: string): number | undefined;
}

export type EventIdsOf = (account: string, log: string) => EventIds;

const CIPHER = "aes-256-ecb";
const BLOCK_BYTES = 16;
const ID = /^[A-Za-z0-9_-]{22}$/;

/** @param secrets the last one makes ids, and those of all are known */
export function sealedIds(secrets: readonly Uint8Array[]): EventIdsOf {
  return (account, log) => {
    const keys = secrets.map((secret) => createHmac("sha256", secret).update(`${account}\0${log}`).digest());
    const cipher = createCipheriv(CIPHER, elementAt(keys, keys.length - 1), null).setAutoPadding(false);
    const deciphers = keys.map((key) => createDecipheriv(CIPHER, key, null).setAutoPadding(false));
    return {
      idOf(number) {
        assertInteger(number, 0, Number.MAX_SAFE_INTEGER, "the number of an event");
        const block = Buffer.alloc(BLOCK_BYTES);
        block.writeBigUInt64BE(BigInt(number));
        return cipher.update(block).toString("base64url");
      },
      numberOf(id) {
        if (!ID.test(id)) return undefined;
        for (const decipher of deciphers) {
          const block = decipher.update(Buffer.from(id, "base64url"));
          const number = Number(block.readBigUInt64BE());
          if (block.readBigUInt64BE(8) === 0n && Number.isSafeInteger(number)) return number;
        }
        return undefined;
      },
    };
  };
}
