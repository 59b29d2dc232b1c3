/**
 * From format 1 to 2: the users' records move from a table of their own to their facts. Page by page, each in one
 * transaction, so that it goes on where it was broken off, and several processes may come first at once. No process
 * of an older release may have the folder open.
 */

import { USERS } from "./entry-keys.ts";
import type { Environment } from "./environment.ts";
import { packNumber, unpackNumber } from "./records.ts";

const PAGE = 2_000;
const COUNT = Buffer.from(USERS);

export async function upgrade(
  environment: Environment,
  upgraded: (users: number) => void = () => {},
): Promise<void> {
  for (let moved = PAGE; moved === PAGE; ) {
    moved = await environment.transact((transaction) => {
      const entries = [...environment.table("users").getRange({ start: Buffer.of(0), limit: PAGE })];
      for (const { key, value } of entries) {
        transaction.put("facts", key, value);
        transaction.remove("users", key);
      }
      const users = unpackNumber(transaction.get("counters", COUNT)) + entries.length;
      transaction.put("counters", COUNT, packNumber(users));
      upgraded(users);
      return entries.length;
    });
  }
}
