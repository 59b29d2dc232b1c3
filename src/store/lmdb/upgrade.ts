/**
 * A data folder of format 4, which knew no places, becomes one of this format: its entries are copied into a new store
 * in the new form, and the new store is named in its place. Until then the old store is untouched and in use; killed at
 * any step, the next start begins again.
 *
 * Facts that our clients kept for a person in a project, under the user_id `PERSON/PROJECT`, move to the person, at the
 * place PROJECT. Only ids of exactly the form that the clients made are taken for such.
 */

import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { type AtStep, noStep } from "../../base/steps.ts";
import type { FactRecord, KeyRecord } from "../../memory/ports.ts";
import { DataFolderError, FORMAT_VERSION, makeStoreFolder, STORE_BYTES_MIN } from "./data-folder.ts";
import { factKey, PLACES, rangeBelow, splitUserKey, USERS, userOfKey } from "./entry-keys.ts";
import {
  type Change,
  type Entry,
  Environment,
  FIRST_KEY,
  isSound,
  TABLES,
  type TableName,
} from "./environment.ts";
import type { FolderLock } from "./folder-lock.ts";
import { Writer } from "./group-commit.ts";
import { LifeSource, newUser, packFact, packIdempotency, packJson, packUser, unpackJson } from "./records.ts";
import { UserWrites } from "./user-facts.ts";

/** Of that format. */
const TABLES_BEFORE: readonly TableName[] = TABLES.slice(0, TABLES.indexOf("history"));
const PROJECT_USER = /^(.+)\/([A-Za-z0-9_-]{0,40}-[0-9a-f]{12})$/s;
const PAGE = 1_000;
const RECORD_CHECKSUM_BYTES = 4;
const COPY_SHARE = 2;

export interface UpgradeOptions {
  readonly freeBytes: number;
  readonly atStep?: AtStep;
}

export interface UpgradeReport {
  readonly name: string;
  readonly users: number;
  readonly facts: number;
  /** Users who became a project of a person. */
  readonly moved: number;
}

/** Fills a new store from the old one; the caller names it. */
export async function upgradeStore(
  lock: FolderLock,
  oldName: string,
  { freeBytes, atStep = noStep }: UpgradeOptions,
): Promise<UpgradeReport> {
  const old = new Environment(join(lock.folder, oldName));
  try {
    const bytesMin = Math.ceil(old.liveBytes * COPY_SHARE) + STORE_BYTES_MIN;
    if (freeBytes < bytesMin) {
      throw new DataFolderError(
        `${lock.folder} has data format ${FORMAT_VERSION - 1}, and bringing it to format ${FORMAT_VERSION} takes up to ` +
          `${(bytesMin / 2 ** 20).toFixed(1)} MiB; its disk has ${(freeBytes / 2 ** 20).toFixed(1)} MiB free: make room. Nothing was changed`,
      );
    }
    const name = makeStoreFolder(lock);
    atStep("upgrade: begun");
    const fresh = new Environment(join(lock.folder, name));
    try {
      const upgrade = new Upgrade(old, fresh, atStep);
      for (const table of TABLES_BEFORE) await upgrade.copyTable(table);
      await upgrade.movePeople();
      atStep("upgrade: copied");
      return { name, ...upgrade.counts };
    } finally {
      await fresh.close();
    }
  } finally {
    await old.close();
  }
}

class Upgrade {
  readonly #old: Environment;
  readonly #fresh: Environment;
  readonly #atStep: AtStep;
  readonly #movedUsers: Buffer[] = [];
  #users = 0;
  #facts = 0;

  constructor(old: Environment, fresh: Environment, atStep: AtStep) {
    this.#old = old;
    this.#fresh = fresh;
    this.#atStep = atStep;
  }

  get counts(): Omit<UpgradeReport, "name"> {
    return { users: this.#users, facts: this.#facts, moved: this.#movedUsers.length };
  }

  async copyTable(table: TableName): Promise<void> {
    for (let start = FIRST_KEY; ; ) {
      const page = this.#old.records(table, { start, limit: PAGE });
      const changes: Change[] = [];
      const damaged: Change[] = [];
      for (const entry of page) {
        // A damaged record stays one: it is copied as it is.
        if (isSound(table, entry.key, entry.value)) changes.push(...this.#changesOf(table, entry));
        else damaged.push({ table, key: this.#keyOf(table, entry.key), value: entry.value });
      }
      await this.#fresh.commit(changes);
      if (damaged.length > 0) await this.#fresh.copy(damaged);
      this.#atStep("upgrade: page written");
      if (page.length < PAGE) return;
      start = Buffer.concat([page[page.length - 1].key, Buffer.of(0)]);
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  #changesOf(table: TableName, { key, value: record }: Entry): Change[] {
    const value = record.subarray(0, record.length - RECORD_CHECKSUM_BYTES);
    const put = (changed: Buffer) => [{ table, key: this.#keyOf(table, key), value: changed }];
    if (table === "idempotency") return put(upgradedRecord(value));
    if (table === "keys") {
      const bound: Pick<KeyRecord, "user" | "access"> = { user: null, access: "write" };
      return put(packJson({ ...unpackJson<KeyRecord>(value), ...bound }));
    }
    if (table !== "facts") return put(value);
    const user = userOfKey(key);
    const isUser = key.length === user.length;
    if (personOf(user) !== undefined) {
      if (isUser) this.#movedUsers.push(key);
      return [];
    }
    if (isUser) {
      this.#users += 1;
      return put(upgradedUser(value));
    }
    this.#facts += 1;
    return put(packFact(upgradedFact(value)));
  }

  /** Where an entry goes. Only facts get another key. */
  #keyOf(table: TableName, key: Buffer): Buffer {
    const user = userOfKey(key);
    if (table !== "facts" || key.length === user.length) return key;
    const { account, userId } = splitUserKey(user);
    return factKey(account, userId, "", key[key.length - 1]);
  }

  /** The users who become projects: after all the others, since the person may be one of them. */
  async movePeople(): Promise<void> {
    const lives = new LifeSource(randomBytes);
    for (const key of this.#movedUsers) {
      const { account, userId, project } = personOf(key)!;
      const writer = new Writer(this.#fresh);
      const facts = new UserWrites(writer, account, userId, { nowMs: 0, historyMax: 0 });
      const isNew = !facts.isKnown;
      const entries = this.#old
        .entries("facts", rangeBelow(key))
        .map((entry) => ({ channel: entry.key[entry.key.length - 1], ...upgradedFact(entry.value) }));
      for (const { channel, value, updatedAtMs } of entries.sort((a, b) => a.revision - b.revision)) {
        facts.set(
          { place: project, channel, value, updatedAtMs },
          { writtenBy: null, sessionId: null },
          lives,
        );
        this.#facts += 1;
      }
      facts.save();
      if (isNew) this.#users += 1;
      // The counters are written at the end, from what was counted.
      await this.#fresh.commit(writer.changes().filter(({ table }) => table === "facts"));
      this.#atStep("upgrade: project moved");
    }
    const writer = new Writer(this.#fresh);
    writer.setCount(USERS, this.#users);
    writer.setCount(PLACES, this.#movedUsers.length);
    await this.#fresh.commit(writer.changes());
  }
}

/** The person and the project of a user_id that our clients made for both. */
function personOf(user: Buffer): { account: string; userId: string; project: string } | undefined {
  const { account, userId } = splitUserKey(user);
  const [, person, project] = PROJECT_USER.exec(userId) ?? [];
  return person === undefined || PROJECT_USER.test(person) ? undefined : { account, userId: person, project };
}

/** life 6 · revision 6 · channels 5 */
function upgradedUser(value: Buffer): Buffer {
  const user = newUser(Buffer.from(value.subarray(0, 6)));
  user.revision = value.readUIntBE(6, 6);
  user.own.channels.set(value.subarray(12, 17));
  for (let bits of value.subarray(12, 17)) for (; bits !== 0; bits &= bits - 1) user.facts += 1;
  return packUser(user);
}

/**
 * revision 6 · time of writing 6 · time of expiry 6 (always 0) · codebook version 1 (0: no code) · code length in bits
 * 2 · with a code: its checksum 4, its bits · value
 */
function upgradedFact(bytes: Buffer): Omit<FactRecord, "channel" | "place"> {
  const version = bytes[18];
  const length = bytes.readUInt16BE(19);
  const codeStart = 21 + (version === 0 ? 0 : 4);
  const codeEnd = codeStart + Math.ceil(length / 8);
  const updatedAtMs = bytes.readUIntBE(6, 6);
  const code = () => ({
    version,
    bits: { length, bytes: Uint8Array.from(bytes.subarray(codeStart, codeEnd)) },
    checksum: bytes.readUInt32BE(21),
  });
  return {
    value: bytes.toString("utf8", codeEnd),
    revision: bytes.readUIntBE(0, 6),
    updatedAtMs,
    sinceMs: updatedAtMs,
    expiresAtMs: null,
    writtenBy: null,
    sessionId: null,
    ordinal: 1,
    ...(version === 0 ? {} : { code: code() }),
  };
}

/** fingerprint 32 · channel count 1 · expiry 6. Which revision was written is not known. */
function upgradedRecord(value: Buffer): Buffer {
  return packIdempotency({
    fingerprint: value.subarray(0, 32),
    channelCount: value[32],
    expiresAtMs: value.readUIntBE(33, 6),
    revision: 0,
  });
}
