/** The random bytes that tell one life of a user from the next. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { LifeSource } from "../../../src/store/lmdb/records.ts";

test("every random byte is used once, and new ones are fetched when all are used", () => {
  const fetched: Buffer[] = [];
  const lives = new LifeSource((length) => {
    const bytes = Buffer.alloc(length, fetched.length + 1);
    for (let i = 0; i < length; i += 6) bytes.writeUInt32BE(i, i);
    fetched.push(bytes);
    return bytes;
  });
  const used = Array.from({ length: 1000 }, () => lives.next());
  assert.equal(fetched.length, 2);
  assert.deepEqual(Buffer.concat(used), Buffer.concat(fetched).subarray(0, 6000));
});
