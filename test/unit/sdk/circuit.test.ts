/** When a service counts as away, who is refused then and for how long, and that one user's trouble is no other's. */

import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { Circuits } from "../../../src/sdk/circuit.ts";
import { type Fetch, Sideband, SidebandError } from "../../../src/sdk/index.ts";

const away = new SidebandError("away", { code: "connection_failed", status: 0 });
const REST_MS = 2_000;

test("an open circuit is probed by one call at a time, after a rest that doubles up to half a minute", () => {
  const circuits = new Circuits();
  for (let i = 0; i < 3; i++) circuits.failed("a", away, 0);
  let nowMs = 0;
  for (const restMs of [2_000, 4_000, 8_000, 16_000, 30_000, 30_000]) {
    assert.equal(circuits.enter(["a"], nowMs + restMs - 1), away, `a rest of ${restMs}`);
    nowMs += restMs;
    assert.equal(circuits.enter(["a"], nowMs), true);
    assert.equal(circuits.enter(["a"], nowMs), away, "a probe is under way");
    circuits.failed("a", away, nowMs);
  }
  assert.equal(circuits.enter(["a"], nowMs + 30_000), true);
  // The probe's caller aborted it.
  circuits.released(["a"]);
  assert.equal(circuits.enter(["a"], nowMs + 30_000), true);
  circuits.answered(["a"]);
  assert.equal(circuits.enter(["a"], nowMs + 30_000), false);
});

test("calls that fail together count as they come, and do not make the first rest longer", () => {
  const circuits = new Circuits();
  for (let i = 0; i < 100; i++) circuits.failed("a", away, 0);
  assert.equal(circuits.enter(["a"], REST_MS), true);
});

test("a thousand failing users are kept, and of more those that failed last", () => {
  const circuits = new Circuits();
  for (const user of ["first", ...Array.from({ length: 1_000 }, (_, i) => `user ${i}`)])
    for (let i = 0; i < 3; i++) circuits.failed(user, away, 0);
  assert.equal(circuits.enter(["first"], 0), false);
  assert.equal(circuits.enter(["user 0"], 0), away);
});

test("a user that fails again has failed last", () => {
  const circuits = new Circuits();
  const users = Array.from({ length: 1_000 }, (_, i) => `user ${i}`);
  for (const user of users) for (let i = 0; i < 3; i++) circuits.failed(user, away, 0);
  assert.equal(circuits.enter(["user 0"], REST_MS), true);
  circuits.failed("user 0", away, REST_MS);
  circuits.failed("one more", away, REST_MS);
  assert.equal(circuits.enter(["user 1"], 0), false);
  assert.equal(circuits.enter(["user 0"], REST_MS), away);
});

/** A clock that stands still until the test moves it. */
function clock(t: TestContext): { move(ms: number): void } {
  let nowMs = Date.now();
  t.mock.method(Date, "now", () => nowMs);
  return {
    move: (ms) => {
      nowMs += ms;
    },
  };
}

/** A fetch that does with each call what is next: it fails, answers, or hangs until it is aborted. */
function inTurn(...turns: ("fail" | "hang" | number)[]) {
  const sent: string[] = [];
  const fetch: Fetch = async (url, { signal }) => {
    sent.push(url);
    const turn = turns[sent.length - 1] ?? 200;
    if (turn === "fail") throw new Error("no connection");
    if (typeof turn === "number") return new Response(JSON.stringify({ code: "x" }), { status: turn });
    return new Promise((_resolve, reject) => {
      signal?.addEventListener("abort", () => reject(signal.reason));
    });
  };
  return { sent, client: new Sideband({ fetch, retries: 0 }) };
}
const failFast = { failFast: true };
const refused = { message: /asked again soon/ };

test("a call that its caller aborts is no failure, and a probe that was aborted leaves its turn to the next", async (t) => {
  const time = clock(t);
  const { client, sent } = inTurn("hang", "hang", "hang", 200, "fail", "fail", "fail", "hang");
  const abortOne = async () => {
    const controller = new AbortController();
    const call = client.facts("u", { ...failFast, signal: controller.signal });
    controller.abort("enough");
    await assert.rejects(call, (reason) => reason === "enough");
  };
  // Of three calls without an answer, two were aborted.
  for (let i = 0; i < 2; i++) await abortOne();
  await assert.rejects(client.facts("u", { ...failFast, timeoutMs: 20 }), { code: "timeout" });
  await client.facts("u", failFast);
  for (let i = 0; i < 3; i++) await assert.rejects(client.facts("u", failFast));
  time.move(REST_MS);
  await abortOne();
  await client.facts("u", failFast);
  assert.equal(sent.length, 9);
});

test("a call that does not probe leaves the probe of another its turn", async (t) => {
  const time = clock(t);
  const { client, sent } = inTurn("fail", "fail", "fail", "hang", "fail");
  for (let i = 0; i < 3; i++) await assert.rejects(client.facts("u", failFast));
  time.move(REST_MS);
  const controller = new AbortController();
  const probe = client.facts("u", { ...failFast, signal: controller.signal });
  const plain = new AbortController();
  plain.abort("at once");
  await assert.rejects(client.facts("u", { signal: plain.signal }), (reason) => reason === "at once");
  await assert.rejects(client.facts("u", failFast), refused);
  controller.abort("enough");
  await assert.rejects(probe, (reason) => reason === "enough");
  assert.equal(sent.length, 4);
});

test("a call without time is not sent, and one signal ends the calls that are left", {
  timeout: 60_000,
}, async () => {
  const { client, sent } = inTurn(200, "hang", "hang");
  await assert.rejects(client.facts("u", { timeoutMs: 0 }), { code: "timeout" });
  assert.equal(sent.length, 0);
  const controller = new AbortController();
  const { signal } = controller;
  const calls = [1, 2, 3].map(() => client.facts("u", { signal, timeoutMs: Number.POSITIVE_INFINITY }));
  await calls[0];
  controller.abort("enough");
  for (const call of calls.slice(1)) await assert.rejects(call, (reason) => reason === "enough");
});
