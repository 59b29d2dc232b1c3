/** The figures of a store's group commit: the same names for every store. */

import type { Metrics } from "../base/metrics.ts";

export function defineCommitMetrics(metrics: Metrics, waiting: () => number): void {
  metrics.define({
    name: "sideband_commit_size",
    help: "Writes in one group commit.",
    type: "histogram",
    buckets: [1, 2, 4, 8, 16, 32, 64, 128, 256, 512],
  });
  metrics.define({
    name: "sideband_commit_seconds",
    help: "Time of one group commit, the disk included.",
    type: "histogram",
    buckets: [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5],
  });
  metrics.define({
    name: "sideband_commit_failures_total",
    help: "Group commits that failed.",
    type: "counter",
  });
  metrics.define({
    name: "sideband_write_queue_depth",
    help: "Writes that wait for a commit.",
    type: "gauge",
  });
  metrics.onCollect(() => metrics.set("sideband_write_queue_depth", waiting()));
}
