/** What a store tells of its commits. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { Metrics } from "../../../src/base/metrics.ts";
import { CommitMetrics } from "../../../src/memory/commit-metrics.ts";
import { FakeClock } from "../blockwork/fake-workers.ts";

test("a commit is counted with its size and its time, a failed one as failed; the queue is read when collected", () => {
  const metrics = new Metrics();
  const clock = new FakeClock(5_000);
  let waiting = 0;
  const commits = new CommitMetrics(metrics, clock, () => waiting);
  const ended = commits.begin();
  clock.advance(250);
  ended(3);
  commits.failed();
  waiting = 7;
  const text = metrics.render();
  for (const line of [
    "sideband_commit_size_sum 3",
    "sideband_commit_size_count 1",
    "sideband_commit_seconds_sum 0.25",
    "sideband_commit_failures_total 1",
    "sideband_write_queue_depth 7",
  ])
    assert.ok(text.includes(`${line}\n`), line);
});
