/** The metrics of a store's group commit: the same for every store. */

import { assert } from "../base/assert.ts";
import type { MonotonicClock } from "../base/clock.ts";
import type { Metrics } from "../base/metrics.ts";

const SIZE = "sideband_commit_size";
const SECONDS = "sideband_commit_seconds";
const FAILURES = "sideband_commit_failures_total";
const DEPTH = "sideband_write_queue_depth";

export class CommitMetrics {
  readonly #metrics: Metrics;
  readonly #clock: MonotonicClock;

  /** @param waiting the number of writes in the queue */
  constructor(metrics: Metrics, clock: MonotonicClock, waiting: () => number) {
    this.#metrics = metrics;
    this.#clock = clock;
    metrics.define({
      name: SIZE,
      help: "Writes in one group commit.",
      type: "histogram",
      buckets: [1, 2, 4, 8, 16, 32, 64, 128, 256, 512],
    });
    metrics.define({
      name: SECONDS,
      help: "Time of one group commit, the disk included.",
      type: "histogram",
      buckets: [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5],
    });
    metrics.define({ name: FAILURES, help: "Group commits that failed.", type: "counter" });
    metrics.add(FAILURES, "", 0);
    metrics.define({ name: DEPTH, help: "Writes that wait for a commit.", type: "gauge" });
    metrics.onCollect(() => metrics.set(DEPTH, waiting()));
  }

  /** A commit begins. Call the result with the number of its writes when they are on disk. */
  begin(): (count: number) => void {
    const startedMs = this.#clock.now();
    return (count) => {
      assert(count >= 1, "a commit has a write");
      this.#metrics.observe(SIZE, count);
      this.#metrics.observe(SECONDS, (this.#clock.now() - startedMs) / 1000);
    };
  }

  failed(): void {
    this.#metrics.add(FAILURES);
  }
}
