/** When a service counts as away, who is refused then and for how long, and that one user's trouble is no other's. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { Circuits } from "../../../src/sdk/circuit.ts";
import { Sideband, SidebandError } from "../../../src/sdk/index.ts";
import { closedPort, scriptedServer } from "./scripted-server.ts";

const away = new SidebandError("away", { code: "connection_failed", status: 0 });
const REST_MS = 2_000;

test("a circuit opens at the third failure in a row, and an answer in between begins the row anew", () => {
  const circuits = new Circuits();
  const fails = (count: number) => {
    for (let i = 0; i < count; i++) circuits.failed("a", away, 0);
  };
  fails(2);
  assert.equal(circuits.enter(["a"], 0), false);
  circuits.answered(["a"]);
  fails(2);
  assert.equal(circuits.enter(["a"], 0), false);
  fails(1);
  assert.equal(circuits.enter(["a"], 0), away);
  assert.equal(circuits.enter(["b"], 0), false, "another address");
});

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

test("a connection that fails is known to every client of its address, and to none of another", async (t) => {
  const nowMs = Date.now();
  t.mock.method(Date, "now", () => nowMs);
  const lines: string[] = [];
  const options = { retries: 0, onWarning: (line: string) => lines.push(line) };
  const baseUrl = await closedPort();
  const users = ["ada", "bea", "cleo"].map((user) => ({
    user,
    client: new Sideband({ ...options, baseUrl }),
  }));
  for (const { user, client } of users) await client.inject("p", user);
  await new Sideband({ ...options, baseUrl }).inject("p", "dora");
  await new Sideband({ ...options, baseUrl: await closedPort() }).inject("p", "dora");
  assert.deepEqual(
    lines.map((line) => line.includes("asked again soon")),
    [false, false, false, true, false],
  );
});

test("a write is sent while reads are refused, also one that would rather fail at once", async (t) => {
  const { url, seen } = await scriptedServer(t, () => "drop");
  const client = new Sideband({ baseUrl: url, retries: 0 });
  const failFast = { failFast: true };
  for (let i = 0; i < 4; i++)
    await assert.rejects(client.facts("u", failFast), { code: "connection_failed" });
  assert.equal(seen.length, 3);
  await assert.rejects(client.encode("u", "USER.name", "Ada", failFast), { code: "connection_failed" });
  await assert.rejects(client.forget("u", "USER.name", failFast), { code: "connection_failed" });
  assert.equal(seen.length, 5);
});
