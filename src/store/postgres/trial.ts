/**
 * A read and a write of the service's own kind, for /readyz: a node whose statements do not fit the tables, or that may
 * not write to them, fails here as it would fail for its callers. The write goes the whole way of a group of writes, and is
 * taken back in the end. Its user and its key exist nowhere: their account has a name that no account can have.
 */

import { randomInt, randomUUID } from "node:crypto";
import type { WriteRequest } from "../../memory/ports.ts";
import { quotaWindow } from "../../memory/quota.ts";
import type { Database } from "./connection/database.ts";
import { type GroupOptions, groupTransaction } from "./group-transaction.ts";
import * as facts from "./queries/fact-queries.ts";
import { findKey } from "./queries/key-queries.ts";

const PROBE = "@probe";
/** Two nodes at once, and two probes, have different users: none waits for another. */
const USERS = 1_000_000;

/** @param isCluster then users are on other machines, of which one may be away for its users alone */
export async function tryRead(database: Database, nowMs: number, isCluster: boolean): Promise<void> {
  await database.read(findKey(PROBE));
  if (isCluster) return;
  const view = { account: PROBE, userId: PROBE, places: [""], nowMs };
  await database.read(facts.readUser(view, async () => {}));
}

export async function tryWrite(database: Database, nowMs: number, options: GroupOptions): Promise<void> {
  const { month } = quotaWindow(nowMs);
  const request: WriteRequest = {
    account: PROBE,
    userId: `${PROBE}-${randomInt(USERS)}`,
    changes: [{ place: "", label: "USER.name", value: PROBE }],
    places: [""],
    nowMs,
    quota: { keyId: `${PROBE}-${randomInt(USERS)}`, month, day: `${month}-01`, limit: 1 },
    idempotency: {
      keyId: PROBE,
      key: randomUUID(),
      fingerprint: new Uint8Array(32),
      expiresAtMs: nowMs,
    },
  };
  const [outcome] = await database.commit(groupTransaction([request], { ...options, isTrial: true }));
  if (outcome instanceof Error) throw outcome;
}
