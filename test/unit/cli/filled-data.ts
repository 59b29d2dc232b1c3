/** A data folder with facts, for tests of commands. */

import { readConfig } from "../../../src/config.ts";
import { openCore } from "../../../src/main/core.ts";
import { blockWorkerBundle } from "../../fixtures/block-worker-bundle.ts";
import { changesOf, viewOf } from "../../fixtures/views.ts";
import { besideOwner, run } from "./run-command.ts";

/** Runs a command that needs block work: it uses an owner of the folder whose threads run the sources. */
export async function runBesideOwner(data: string, ...args: string[]): ReturnType<typeof run> {
  return besideOwner(data, () => run(...args, "--data", data));
}

/** With three facts each. Few, because verifying builds and reads the block of each. */
export const FILLED_USERS = 3;

export async function fill(data: string): Promise<void> {
  const core = await openCore(readConfig({ SIDEBAND_DATA: data }), { create: true });
  try {
    for (let i = 0; i < FILLED_USERS; i++) {
      const facts = [0, 3, 20].map((channel) => [channel, `value ${i} of channel ${channel}`] as const);
      const nowMs = Date.now() - 1000;
      await core.store.write({ ...viewOf(`user-${i}`, "acme", { nowMs }), changes: changesOf(facts) });
    }
  } finally {
    await core.close();
  }
}

/** The block of a user of a folder. */
export async function blockOf(data: string, userId: string): Promise<string> {
  const config = readConfig({ SIDEBAND_DATA: data });
  const core = await openCore(config, { create: false, blockWorker: blockWorkerBundle() });
  try {
    return (await core.memory.blocks.of({ account: "acme", tier: "owner" }, viewOf(userId)))!.text;
  } finally {
    await core.close();
  }
}
