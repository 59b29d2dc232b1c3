/** What is recorded, and then loses power at every point. */

import { appendFileSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Metrics } from "../../../src/base/metrics.ts";
import { noStep } from "../../../src/base/steps.ts";
import type { Config } from "../../../src/config.ts";
import { createBackup, restoreBackup } from "../../../src/main/backup.ts";
import type { Core } from "../../../src/main/core.ts";
import { writeWhole } from "../../../src/main/export-file.ts";
import { ADMIN_TOKEN_FILE, adminTokens, MASTER_KEY_FILE, masterKeys } from "../../../src/main/secrets.ts";
import { exportLines, importLines } from "../../../src/memory/transfer.ts";
import { makeFolder } from "../../../src/store/lmdb/durable-files.ts";
import { LmdbStore } from "../../../src/store/lmdb/lmdb-store.ts";
import { ACCOUNT, type Mark } from "./promises.ts";

export interface Room {
  /** The recorded folder. */
  readonly home: string;
  /** A folder that is not recorded, for what is there before. */
  readonly outside: string;
  mark(mark: Mark): void;
}

export interface Scenario {
  /** Makes what must be there before the recording begins. */
  readonly prepare?: (outside: string) => Promise<void>;
  readonly run: (room: Room) => Promise<void>;
  /** It is also killed after the last record that matches, and in random places; a start follows, and the power fails later. */
  readonly kills?: readonly RegExp[];
}

/** Several folders that are missing. */
const DATA = "new/home/data";
const USERS = Array.from({ length: 12 }, (_, i) => `user-${i}`);

export const SCENARIOS: Readonly<Record<string, Scenario>> = {
  start: {
    run: start,
    kills: [/^mkdir .*\/data$/, /^rename .*\/sideband\.json$/, /^link .*\/node\/admin\.token$/],
  },
  group: {
    run: (room) =>
      withStore(room, async (store) => {
        for (let round = 0; round < 3; round++) {
          await Promise.all(USERS.map((user) => write(room, store, user, `value ${round} of ${user}`)));
          await forget(room, store, USERS[round]);
        }
        // As a commit leaves it that failed: the file is longer, and nothing of that was synced.
        appendFileSync(findDataFile(join(room.home, DATA)), Buffer.alloc(4_096));
      }),
  },
  compaction: {
    run: (room) =>
      withStore(room, async (store) => {
        await writeAll(room, store, "old");
        await forget(room, store, USERS[0]);
        const compacted = store.compact();
        await writeAll(room, store, "new");
        await compacted;
        room.mark({ oneStore: DATA });
        await writeAll(room, store, "last");
      }),
    kills: [/^rename .*\/sideband\.json$/],
  },
  backup: {
    run: (room) =>
      withStore(room, async (store) => {
        const backup = "copies/backup";
        await writeAll(room, store, "old");
        for (const user of USERS) {
          room.mark({ sent: backup, user, value: `old of ${user}` });
          room.mark({ whole: backup, user, value: `old of ${user}` });
          room.mark({ sent: backup, user, value: `new of ${user}` });
        }
        makeSecrets(room);
        const config = { dataFolder: join(room.home, DATA) } as Config;
        const core = { embedded: store, clock: store.clock, erasing: new Set() } as unknown as Core;
        const backedUp = createBackup(core, config, join(room.home, backup), true, () => {});
        await writeAll(room, store, "new");
        await backedUp;
        room.mark({ kept: backup });
        markFile(room, join(backup, MASTER_KEY_FILE));
        await writeAll(room, store, "last");
      }),
  },
  restore: {
    prepare: async (outside) => {
      const room = { home: outside, outside, mark: () => {} };
      await withStore(room, async (store) => {
        await writeAll(room, store, "old");
        makeSecrets(room);
        await createBackup(
          { embedded: store, clock: store.clock, erasing: new Set() } as unknown as Core,
          { dataFolder: join(outside, DATA) } as Config,
          join(outside, "backup"),
          true,
          () => {},
        );
      });
    },
    run: async (room) => {
      for (const user of USERS) {
        room.mark({ sent: DATA, user, value: `old of ${user}` });
        room.mark({ whole: DATA, user, value: `old of ${user}` });
      }
      restoreBackup(join(room.outside, "backup"), join(room.home, DATA));
      room.mark({ kept: DATA });
      markFile(room, join(DATA, MASTER_KEY_FILE));
      for (const user of USERS) room.mark({ stored: DATA, user, value: `old of ${user}` });
      await withStore(room, (store) => writeAll(room, store, "new"));
    },
  },
  "import and export": {
    run: (room) =>
      withStore(room, async (store) => {
        for (const word of ["old", "new"]) {
          for (const user of USERS) room.mark({ sent: DATA, user, value: `${word} of ${user}` });
          await importLines(store, importText(word), { nowMs: 0, atStep: noStep, withKeys: true });
          for (const user of USERS) room.mark({ stored: DATA, user, value: `${word} of ${user}` });
          await writeWhole(exportText(store), join(room.home, "facts.jsonl"));
          markFile(room, "facts.jsonl");
        }
      }),
  },
};

/** A start of the service, and writes: on a new folder, or after whatever a killed process has left there. */
export async function start(room: Room): Promise<void> {
  await withStore(room, async (store) => {
    makeSecrets(room);
    await writeAll(room, store, "after the start");
  });
  // A node of PostgreSQL has only this one.
  const node = join(room.home, "node");
  makeFolder(node);
  adminTokens(node, undefined);
  markFile(room, join("node", ADMIN_TOKEN_FILE));
}

function findDataFile(folder: string): string {
  const store = readdirSync(folder).find((name) => name.startsWith("store-")) as string;
  return join(folder, store, "data.mdb");
}

async function withStore(room: Room, work: (store: LmdbStore) => Promise<void>): Promise<void> {
  const folder = join(room.home, DATA);
  const store = await LmdbStore.open({ folder, create: true, queueMax: 1_000, metrics: new Metrics() });
  room.mark({ kept: DATA });
  await work(store);
  await store.close();
}

function makeSecrets(room: Room): void {
  const dataFolder = join(room.home, DATA);
  masterKeys({ dataFolder, masterKey: undefined, databaseUrl: undefined });
  markFile(room, join(DATA, MASTER_KEY_FILE));
  adminTokens(dataFolder, undefined);
  markFile(room, join(DATA, ADMIN_TOKEN_FILE));
}

function markFile({ home, mark }: Room, file: string): void {
  mark({ file, text: readFileSync(join(home, file), "utf8") });
}

async function writeAll(room: Room, store: LmdbStore, word: string): Promise<void> {
  for (const user of USERS) await write(room, store, user, `${word} of ${user}`);
}

async function write({ mark }: Room, store: LmdbStore, user: string, value: string): Promise<void> {
  mark({ sent: DATA, user, value });
  await store.write({
    account: ACCOUNT,
    userId: user,
    nowMs: 0,
    changes: [{ place: "", label: "USER.name", value }],
    places: [""],
  });
  mark({ stored: DATA, user, value });
}

async function forget({ mark }: Room, store: LmdbStore, user: string): Promise<void> {
  mark({ sent: DATA, user, value: null });
  await store.forgetUser(ACCOUNT, user);
  mark({ stored: DATA, user, value: null });
}

async function* importText(word: string): AsyncGenerator<string> {
  const updated_at = "2026-11-01T00:00:00.000Z";
  for (const user_id of USERS) {
    const facts = [{ label: "USER.name", value: `${word} of ${user_id}`, revision: 1, updated_at }];
    yield JSON.stringify({ kind: "user", account: ACCOUNT, user_id, facts });
  }
}

async function* exportText(store: LmdbStore): AsyncGenerator<string> {
  for await (const line of exportLines(store, { nowMs: 0 })) yield `${JSON.stringify(line)}\n`;
}
