/** What /metrics says of the process itself: which build it is, since when, its processor time, its memory, and its disk. */

import { monitorEventLoopDelay } from "node:perf_hooks";
import type { MetricDefinition, Metrics } from "../base/metrics.ts";
import { freeBytesOf } from "../store/lmdb/data-folder.ts";
import { packageVersion } from "./package.ts";

const DELAY_RESOLUTION_MS = 20;

const FIGURES: readonly MetricDefinition[] = [
  { name: "sideband_build_info", help: "1, with the version and that of Node.js.", type: "gauge" },
  {
    name: "sideband_start_time_seconds",
    help: "When the process began, in seconds since 1970.",
    type: "gauge",
  },
  { name: "sideband_processor_seconds_total", help: "Processor time of the process.", type: "counter" },
  { name: "sideband_resident_bytes", help: "Resident memory of the process.", type: "gauge" },
  { name: "sideband_heap_bytes", help: "JavaScript heap in use.", type: "gauge" },
  {
    name: "sideband_event_loop_delay_seconds",
    help: "The longest delay of the event loop since the last collection.",
    type: "gauge",
  },
];

/** @param dataFolder that of the embedded store; undefined on a database */
export function defineProcessMetrics(metrics: Metrics, dataFolder: string | undefined): void {
  for (const figure of FIGURES) metrics.define(figure);
  metrics.set("sideband_build_info", 1, `version="${packageVersion()}",node="${process.versions.node}"`);
  metrics.set("sideband_start_time_seconds", Math.round(performance.timeOrigin) / 1000);
  if (dataFolder !== undefined)
    metrics.define({
      name: "sideband_disk_free_bytes",
      help: "Free bytes of the disk that the data folder is on.",
      type: "gauge",
    });
  const delay = monitorEventLoopDelay({ resolution: DELAY_RESOLUTION_MS });
  delay.enable();
  metrics.onCollect(() => {
    const { user, system } = process.cpuUsage();
    metrics.set("sideband_processor_seconds_total", (user + system) / 1e6);
    const { rss, heapUsed } = process.memoryUsage();
    metrics.set("sideband_resident_bytes", rss);
    metrics.set("sideband_heap_bytes", heapUsed);
    // Before the first measurement this is 0. The resolution of the timer is not counted as delay.
    const delayS = Math.max(0, delay.max / 1e9 - DELAY_RESOLUTION_MS / 1000);
    metrics.set("sideband_event_loop_delay_seconds", delayS);
    delay.reset();
    if (dataFolder !== undefined) metrics.set("sideband_disk_free_bytes", freeBytes(dataFolder));
  });
}

/** -1 where the folder is gone: the figures are asked for all the same. */
function freeBytes(folder: string): number {
  try {
    return freeBytesOf(folder);
  } catch {
    return -1;
  }
}
