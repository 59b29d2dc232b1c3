/** Faults in the embedded store: when its writer answers, its data folder and lock, what it syncs, counts and forgets. */

import type { Mutant } from "./mutant.ts";

const GROUP_TESTS = ["test/unit/store/group-commit.test.ts"];
const LMDB_TESTS = ["test/unit/store/lmdb.test.ts"];
const LOST_TESTS = ["test/unit/store/lmdb-lost-folder.test.ts"];
const POWER_TESTS = ["test/fault/power.test.ts"];
const COMPACTION_TESTS = ["test/unit/store/lmdb-compaction.test.ts"];

export const STORE_MUTANTS: readonly Mutant[] = [
  {
    name: "lmdb-answer-before-disk",
    fault: "A write is answered before the disk has confirmed its commit.",
    file: "src/store/lmdb/group-commit.ts",
    find: "await this.#confirmed(committed, answers);",
    replace: "void this.#confirmed(committed, answers).catch(() => {});",
    tests: GROUP_TESTS,
    only: "before the disk has confirmed",
    quick: true,
  },
  {
    name: "lmdb-disk-not-synced",
    fault: "A commit's promise resolves when the system has the bytes, and the disk follows later.",
    file: "src/store/lmdb/environment.ts",
    find: "overlappingSync: false",
    replace: "overlappingSync: true",
    tests: LMDB_TESTS,
    only: "after closing and opening",
    unnoticed:
      "only a loss of power shows it: the operating system keeps the bytes when the process is killed",
  },
  {
    name: "lmdb-failed-commit-stored",
    fault: "A commit that failed is answered as stored.",
    file: "src/store/lmdb/group-commit.ts",
    find: "        this.#refuse(answers, commitFailure(error));\n        if (error instanceof CommitError && !error.nothingStored) onPanic(error);\n        return false;\n",
    replace: "        this.#metrics.failed();\n",
    tests: GROUP_TESTS,
    only: "a failed commit is store_unavailable",
    quick: true,
  },
  {
    name: "lmdb-own-write-unseen",
    fault: "A process does not see its own acknowledged write.",
    file: "src/store/lmdb/environment.ts",
    find: "      await work();\n",
    replace: "      void work();\n",
    tests: LMDB_TESTS,
    only: "lmdb: (a fact is read back|overwriting keeps)",
  },
  {
    name: "lmdb-compaction-half-moved",
    fault: "After a failed sync of the new store's name, writes go to the store that the next start removes.",
    file: "src/store/lmdb/store-copies.ts",
    find: "if (readStoreName(lock.folder) === fresh.name) moveTo(fresh);\n      }",
    replace: "}\n      moveTo(fresh);",
    tests: COMPACTION_TESTS,
    only: "fails to sync the new store's name",
  },
  {
    name: "lmdb-jump-believed",
    fault: "A clock that is wrong at the start ends facts and forgets requests.",
    file: "src/main/upkeep.ts",
    find: "core.store.sweep(core.clock.settledMs())",
    replace: "core.store.sweep(core.clock.now())",
    tests: ["test/unit/main/upkeep.test.ts"],
    only: "a clock that is wrong at the start",
  },
  {
    name: "store-named-before-it-is-on-disk",
    fault: "After a loss of power sideband.json may name a store that is not there.",
    file: "src/store/lmdb/data-folder.ts",
    find: "for (const path of [draft, join(folder, store), folder]) syncPath(path);",
    replace: "syncPath(draft);",
    tests: POWER_TESTS,
  },
  {
    name: "new-name-not-on-disk",
    fault: "After a loss of power a file that was put in place may be missing.",
    file: "src/store/lmdb/durable-files.ts",
    find: "  renameOver(from, to);\n  syncPath(dirname(to));",
    replace: "  renameOver(from, to);",
    tests: POWER_TESTS,
  },
  {
    name: "found-store-not-on-disk",
    fault:
      "After a kill and a later loss of power, what was written since may be in a store that nothing names.",
    file: "src/store/lmdb/open-folder.ts",
    find: "      syncNamed(folder, note.store);\n",
    replace: "",
    tests: POWER_TESTS,
  },
  {
    name: "lmdb-checksum-without-key",
    fault: "The checksum does not depend on the key: a record in another one's place is taken for a value.",
    file: "src/store/lmdb/environment.ts",
    find: "crc32(value, crc32(key, TABLE_NUMBERS[table]))",
    replace: "crc32(value, TABLE_NUMBERS[table])",
    tests: LMDB_TESTS,
    only: "in another one's place",
  },
  {
    name: "lmdb-compaction-revives",
    fault: "What was forgotten during a compaction is back after it.",
    file: "src/store/lmdb/live-copy.ts",
    find: "    return changes;",
    replace: "    return changes.filter(({ value }) => value !== undefined);",
    tests: COMPACTION_TESTS,
    only: "behind the copy's back",
  },
  {
    name: "lmdb-leftovers-without-lock",
    fault: "Who opens a folder removes leftovers before it has the lock, and with them a compaction's copy.",
    file: "src/store/lmdb/open-folder.ts",
    find: "  const lock = await lockFolder(folder, lockWaitMs);",
    replace:
      "  await removeLeftovers({ folder, requireHeld() {} } as FolderLock, readStoreName(folder));\n" +
      "  const lock = await lockFolder(folder, lockWaitMs);",
    tests: COMPACTION_TESTS,
    only: "during a compaction is refused",
  },
  {
    name: "lmdb-lock-shared",
    fault: "The lock of a data folder lets a second owner in.",
    file: "src/store/lmdb/folder-lock.ts",
    find: "tryLock(lockFile, { shared })",
    replace: "tryLock(descriptors[0], { shared: true })",
    tests: LMDB_TESTS,
    only: "exactly one owns it",
    quick: true,
  },
  {
    name: "lmdb-lost-store-removed",
    fault: "A compaction removes the old store from a folder that another process has by now.",
    file: "src/store/lmdb/store-copies.ts",
    find: "if (lock.isHeld() && environment.isInPlace) removeStore(lock, name);",
    replace: "removeStore({ folder: lock.folder, requireHeld() {} } as FolderLock, name);",
    tests: LOST_TESTS,
    only: "swapped for a copy during a compaction .compaction: moved over",
  },
  {
    name: "lmdb-limit-outside-transaction",
    fault: "The monthly limit is checked against what is on disk, not against the writes of the same group.",
    file: "src/store/lmdb/fact-writes.ts",
    find: "return quota === undefined ? 0 : writer.count(counterName(quota.counter ?? quota.keyId, quota.month));",
    replace:
      'if (quota === undefined) return 0;\n  const stored = writer.environment.get("counters", Buffer.from(counterName(quota.keyId, quota.month)));\n  return stored?.readUIntBE(0, 6) ?? 0;',
    tests: LMDB_TESTS,
    only: "lets exactly its number through",
  },
  {
    name: "lmdb-sweep-takes-used",
    fault: "A sweep removes an idempotency record that is in use again.",
    file: "src/store/lmdb/replays.ts",
    find: "const end = dayPrefix(expiryDayOf(nowMs));",
    replace: "const end = dayPrefix(expiryDayOf(nowMs) + 1);",
    tests: LMDB_TESTS,
    only: "in use again",
  },
  {
    name: "lmdb-revision-of-a-user-who-is-gone",
    fault: "A user who was removed and comes back has revisions that were used before.",
    file: "src/store/lmdb/user-facts.ts",
    find: "    if (!isUsed)\n      noteRevision(this.#writer, counts.revision, this.#isOfProject ? PROJECT_REVISIONS : REVISIONS);\n",
    replace: "",
    tests: LMDB_TESTS,
    only: "no revision comes twice",
  },
];
