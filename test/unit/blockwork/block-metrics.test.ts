/** What block tasks are expected to take, and the gauges of the queue. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { Metrics } from "../../../src/base/metrics.ts";
import { BlockMetrics } from "../../../src/blockwork/block-metrics.ts";

function setUp() {
  const metrics = new Metrics();
  const state = { batches: [{ kind: "background", waiting: { size: 3 } }] as const, healthy: true };
  const blockMetrics = new BlockMetrics(metrics, () => state);
  const ended = (size: number, ms: number, outcome: "ok" | "lost" = "ok") =>
    blockMetrics.ended({ kind: "code", taskKind: "code", size, tier: "free" }, { outcome, ms });
  return { metrics, state, blockMetrics, ended };
}

test("the expected time is the measured time of a unit, times the size", () => {
  const { blockMetrics, ended } = setUp();
  const guessMs = blockMetrics.expectedMs("code", 10);
  ended(10, 50);
  assert.notEqual(guessMs, 50);
  assert.equal(blockMetrics.expectedMs("code", 10), 50);
  assert.equal(blockMetrics.expectedMs("code", 2), 10);
});

test("recent tasks count more than those long ago", () => {
  const { blockMetrics, ended } = setUp();
  for (let i = 0; i < 10; i++) ended(1, 100);
  for (let i = 0; i < 100; i++) ended(1, 1);
  assert.ok(blockMetrics.expectedMs("code", 1) < 2);
});

test("each measurement counts a twentieth less with the next one", () => {
  const { blockMetrics, ended } = setUp();
  ended(2, 100);
  ended(1, 1);
  assert.equal(blockMetrics.expectedMs("code", 1), (100 * 0.95 + 1) / (2 * 0.95 + 1));
});

test("what runs and how long it took is counted, in seconds", () => {
  const { metrics, blockMetrics, ended } = setUp();
  const running = () => metrics.value("sideband_block_running", 'kind="code"');
  blockMetrics.began("code", 250);
  assert.equal(running(), 1);
  ended(1, 500);
  assert.equal(running(), 0);
  assert.match(metrics.render(), /^sideband_block_task_seconds_sum\{kind="code"\} 0\.5$/m);
  assert.match(metrics.render(), /^sideband_block_wait_seconds_sum\{kind="code"\} 0\.25$/m);
});

test("a task that was lost says nothing about the expected time", () => {
  const { blockMetrics, ended } = setUp();
  ended(1, 4);
  ended(1, 5000, "lost");
  assert.equal(blockMetrics.expectedMs("code", 1), 4);
});

test("what waits and whether threads start is read at each collection", () => {
  const { metrics, state } = setUp();
  assert.equal(metrics.value("sideband_block_queue_depth", 'kind="background"'), 3);
  assert.equal(metrics.value("sideband_reader_healthy"), 1);
  state.healthy = false;
  assert.equal(metrics.value("sideband_reader_healthy"), 0);
});
