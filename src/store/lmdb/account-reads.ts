/** The reads of what belongs to an account: its labels, and what its keys have used. */

import type { LabelRecord } from "../../memory/records.ts";
import { counterKey, rangeBelow } from "./entry-keys.ts";
import type { Environment } from "./environment.ts";
import { unpackJson, unpackNumber } from "./records.ts";

/** In channel order. */
export function readLabels(environment: Environment, account: string): LabelRecord[] {
  return environment
    .entries("labels", rangeBelow(Buffer.from(account)))
    .map(({ value }) => unpackJson<LabelRecord>(value))
    .sort((a, b) => a.channel - b.channel);
}

/** Days with use, both ends included. */
export function readDailyUsage(environment: Environment, keyId: string, fromDay: string, toDay: string) {
  const start = counterKey(keyId, fromDay);
  const end = counterKey(keyId, `${toDay}~`);
  return environment
    .entries("counters", { start, end })
    .map(({ key, value }) => ({ day: key.toString("utf8", keyId.length + 1), count: unpackNumber(value) }))
    .filter(({ day }) => day.length === 10);
}
