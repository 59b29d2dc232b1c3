/** Faults in the seal, in the reader and in block work. */

import type { Mutant } from "./mutant.ts";

export const CODEC_MUTANTS: readonly Mutant[] = [
  {
    name: "tag-compared-in-part",
    fault: "Only the first half of the seal's tag is compared.",
    file: "src/codec/seal.ts",
    find: "return equalBytesConstantTime(tagOf(plain, key, context), tag);",
    replace: "return equalBytesConstantTime(tagOf(plain, key, context).subarray(0, 8), tag.subarray(0, 8));",
    tests: ["test/unit/codec/seal.test.ts"],
    quick: true,
  },
  {
    name: "cursor-after-another-value",
    fault: "A cursor goes on in the state of another value that was written in between.",
    file: "src/reader/predictor.ts",
    find: `    this.#current = own;
    this.#forward.restart();
    for (let first = 0; first < symbols.length; first += BATCH_MAX) {
      assert(this.#current === own, "one value is written at a time");`,
    replace: `    this.#forward.restart();
    for (let first = 0; first < symbols.length; first += BATCH_MAX) {`,
    tests: ["test/unit/reader/predictor.test.ts"],
    only: "written in between",
  },
  {
    name: "task-without-time-limit",
    fault: "A thread that hangs in a task is never given up.",
    file: "src/blockwork/block-threads.ts",
    find: "member.stopClock = this.#clock.after(TASK_BUDGET_MS, () => this.#lose(member));",
    replace: "member.stopClock = () => {};",
    tests: ["test/unit/blockwork/block-threads.test.ts"],
    only: "over their budget",
  },
  {
    name: "interrupted-for-ever",
    fault: "After an interruption a thread stops each background task that follows.",
    file: "src/blockwork/block-worker.ts",
    find: "Atomics.load(stopped, 0) === current",
    replace: "Atomics.load(stopped, 0) > 0",
    tests: ["test/unit/blockwork/block-worker.test.ts"],
  },
  {
    name: "flush-shared-across-stamps",
    fault: "Who flushes after a write gets the block that was being flushed for the state before it.",
    file: "src/memory/flush.ts",
    find: "sealOwner(view), state.stamp, state.nextEndMs,",
    replace: "sealOwner(view), state.nextEndMs,",
    tests: ["test/unit/memory/flush.test.ts"],
    only: "state before it",
  },
];
