/** Faults in the one writer of the embedded store: when it answers, what it answers, how much may wait. */

import type { Mutant } from "./mutant.ts";

const LMDB_TESTS = ["test/unit/store/lmdb.test.ts"];
const GROUP_TESTS = ["test/unit/store/group-commit.test.ts"];

export const STORE_COMMIT_MUTANTS: readonly Mutant[] = [
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
    find: "        this.#refuse(answers, commitFailure(error));\n        if (error instanceof CommitError && !error.nothingStored) onPanic(error);\n        return;\n",
    replace: "        this.#metrics.failed();\n",
    tests: GROUP_TESTS,
    only: "a failed commit is store_unavailable",
    quick: true,
  },
  {
    name: "lmdb-unknown-as-unavailable",
    fault: "A commit that may be on disk is reported as not stored.",
    file: "src/store/lmdb/group-commit.ts",
    find: "error instanceof CommitError && error.nothingStored",
    replace: "error instanceof CommitError",
    tests: GROUP_TESTS,
    only: "a failed commit is store_unavailable",
  },
  {
    name: "lmdb-queue-unlimited",
    fault: "Any number of writes may wait for a commit.",
    file: "src/store/lmdb/group-commit.ts",
    find: "this.#queue.length >= this.#options.queueMax",
    replace: "this.#queue.length === Number.MAX_SAFE_INTEGER",
    tests: GROUP_TESTS,
    only: "a full queue refuses, and takes",
  },
  {
    name: "lmdb-failure-for-ever",
    fault: "After one failed commit the store is not ready for ever.",
    file: "src/store/lmdb/group-commit.ts",
    find: "this.#options.monotonic.now() - this.#failedAtMs < RETRY_AFTER_S * 1000",
    replace: "this.#failedAtMs > Number.NEGATIVE_INFINITY",
    tests: GROUP_TESTS,
    only: "recent for five seconds",
  },
  {
    name: "lmdb-stuck-for-ever",
    fault: "After a disk that was slow once, every write is refused.",
    file: "src/store/lmdb/group-commit.ts",
    find: "      this.#stuck = false;\n",
    replace: "",
    tests: GROUP_TESTS,
    only: "does not confirm in time",
  },
  {
    name: "lmdb-group-not-seen",
    fault: "A write does not see what its group has written before it.",
    file: "src/store/lmdb/group-commit.ts",
    find: "return change === undefined ? this.environment.get(table, key) : change.value;",
    replace: "return this.environment.get(table, key);",
    tests: GROUP_TESTS,
    only: "sees what came before it",
  },
  {
    name: "lmdb-own-write-unseen",
    fault: "A process does not see its own acknowledged write.",
    file: "src/store/lmdb/environment.ts",
    find: "await this.#root.batch(work);",
    replace: "void this.#root.batch(work);",
    tests: LMDB_TESTS,
    only: "lmdb: (a fact is read back|overwriting keeps)",
  },
  {
    name: "lmdb-owner-not-checked",
    fault: "Writes to a data folder that was removed or replaced are acknowledged.",
    file: "src/store/lmdb/group-commit.ts",
    find: "if (!isOwner()) return this.#refuse(answers, storeUnavailable(LOST));",
    replace: "",
    tests: LMDB_TESTS,
    only: "removed or replaced nothing is acknowledged",
  },
];
