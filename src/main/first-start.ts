/** The first start on an empty data folder: an account, a key that is shown once, and a line to try it with. */

import { randomUUID } from "node:crypto";
import type { Config } from "../config.ts";
import type { Core } from "./core.ts";
import { adminToken } from "./secrets.ts";

const FIRST_ACCOUNT = "default";

/** Makes what is missing; the new key where this was the first start. */
export async function prepareDataFolder(core: Core, config: Config): Promise<string | undefined> {
  adminToken(config.dataFolder, config.adminToken);
  if ((await core.store.listAccounts()).length > 0) return undefined;
  // Of several nodes that start on one empty database, one makes the key.
  const ticket = randomUUID();
  if (((await core.settle?.("first-start", ticket)) ?? ticket) !== ticket) return undefined;
  const note = "made on the first start";
  return (await core.desk.create({ account: FIRST_ACCOUNT, tier: "unlimited", note })).key;
}

export function firstStartText(url: string, key: string, dataFolder: string): string {
  return [
    "",
    `This is the first start on ${dataFolder}. The account "${FIRST_ACCOUNT}" has this key, shown once:`,
    "",
    `  ${key}`,
    "",
    "Write a first fact:",
    "",
    `  curl -s ${url}/encode -H 'Authorization: Bearer ${key}' -H 'Content-Type: application/json' -d '{"user_id":"ada","label":"USER.name","value":"Ada Lovelace"}'`,
    "",
  ].join("\n");
}
