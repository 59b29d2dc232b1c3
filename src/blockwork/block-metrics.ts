/** The metrics of block tasks. The measured times also give the expected time of a task. */

import type { Requester } from "../base/accounts.ts";
import { assert } from "../base/assert.ts";
import type { Metrics } from "../base/metrics.ts";
import type { BlockTaskKind } from "./block-tasks.ts";
import type { Reply } from "./block-threads.ts";

/** Background work is a kind of its own here. */
export type MetricKind = BlockTaskKind | "background";
export type TaskOutcome = Reply["outcome"] | "refused" | "late" | "cancelled" | "dropped";

/** Milliseconds for a unit of each kind, until one was measured. */
const FIRST_GUESS_MS: Readonly<Record<BlockTaskKind, number>> = {
  code: 0.1,
  assemble: 2,
  open: 2,
  value: 0.1,
};
const KINDS = [...Object.keys(FIRST_GUESS_MS), "background"] as MetricKind[];
/** The weight of earlier measurements falls by this factor with each new one. */
const DECAY = 0.95;
const SECONDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

const DEFINITIONS = [
  ["sideband_block_tasks_total", "counter", "Block tasks by kind and what became of them."],
  ["sideband_block_task_seconds", "histogram", "Time of a block task in its thread, by kind."],
  ["sideband_block_wait_seconds", "histogram", "Time that a block task waited for a thread, by kind."],
  ["sideband_block_queue_depth", "gauge", "Block tasks that wait, by kind."],
  ["sideband_block_running", "gauge", "Block tasks that run, by kind."],
  ["sideband_block_processor_seconds_total", "counter", "Time of block tasks, by tier of the account."],
  ["sideband_reader_healthy", "gauge", "1 while threads for block work can be started, else 0."],
] as const;

interface SchedulerState {
  readonly batches: Iterable<{ readonly kind: MetricKind; readonly waiting: { readonly size: number } }>;
  readonly healthy: boolean;
}

export class BlockMetrics {
  readonly #metrics: Metrics;
  readonly #measured = new Map<BlockTaskKind, { ms: number; units: number }>();

  constructor(metrics: Metrics, state: () => SchedulerState) {
    this.#metrics = metrics;
    for (const [name, type, help] of DEFINITIONS)
      metrics.define({ name, help, type, ...(type === "histogram" ? { buckets: SECONDS } : {}) });
    for (const kind of KINDS) metrics.set("sideband_block_running", 0, metricLabel(kind));
    metrics.onCollect(() => {
      const { batches, healthy } = state();
      const depths = new Map(KINDS.map((kind) => [kind, 0]));
      for (const { kind, waiting } of batches) depths.set(kind, depths.get(kind)! + waiting.size);
      for (const [kind, depth] of depths) metrics.set("sideband_block_queue_depth", depth, metricLabel(kind));
      metrics.set("sideband_reader_healthy", healthy ? 1 : 0);
    });
  }

  expectedMs(kind: BlockTaskKind, size: number): number {
    assert(size >= 0, "the size of a task is not negative");
    const measured = this.#measured.get(kind);
    return size * (measured === undefined ? FIRST_GUESS_MS[kind] : measured.ms / measured.units);
  }

  began(kind: MetricKind, waitedMs: number): void {
    this.#metrics.add("sideband_block_running", metricLabel(kind));
    this.#metrics.observe("sideband_block_wait_seconds", waitedMs / 1000, metricLabel(kind));
  }

  ended(
    task: { kind: MetricKind; taskKind: BlockTaskKind; size: number; tier: Requester["tier"] },
    { outcome, ms }: Reply,
  ): void {
    const { kind, taskKind, size, tier } = task;
    this.count(kind, outcome);
    this.#metrics.add("sideband_block_running", metricLabel(kind), -1);
    this.#metrics.observe("sideband_block_task_seconds", ms / 1000, metricLabel(kind));
    this.#metrics.add("sideband_block_processor_seconds_total", `tier="${tier}"`, ms / 1000);
    if (outcome !== "ok") return;
    const before = this.#measured.get(taskKind) ?? { ms: 0, units: 0 };
    this.#measured.set(taskKind, { ms: before.ms * DECAY + ms, units: before.units * DECAY + size });
  }

  count(kind: MetricKind, outcome: TaskOutcome, count = 1): void {
    assert(count >= 0, "a number of tasks is not negative");
    if (count === 0) return;
    this.#metrics.add("sideband_block_tasks_total", `${metricLabel(kind)},result="${outcome}"`, count);
  }
}

function metricLabel(kind: MetricKind): string {
  return `kind="${kind}"`;
}
