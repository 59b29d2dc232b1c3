/** Which requests have a line in the log. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { Failure } from "../../../src/base/errors.ts";
import { Metrics } from "../../../src/base/metrics.ts";
import type { Call } from "../../../src/http/request/call.ts";
import { RequestMetrics } from "../../../src/http/request/request-metrics.ts";

const call = (more: Partial<Call> = {}) => {
  const named = { id: "id", method: "GET", routePath: "/facts", header: () => undefined };
  return { ...named, startedMs: performance.now(), ...more } as Call;
};

/** The levels and statuses of the lines, for a log that has the level debug or not. */
function linesOf(hasDebug: boolean, answers: readonly (readonly [call: Call, status: number])[]) {
  const lines: [level: string, status: number][] = [];
  const lineAt = (level: string) => (line: object) =>
    void lines.push([level, (line as { status: number }).status]);
  const log = {
    info: lineAt("info"),
    debug: lineAt("debug"),
    error: lineAt("error"),
    isLevelEnabled: () => hasDebug,
  };
  const requests = new RequestMetrics({ metrics: new Metrics(), log });
  for (const [answered, status] of answers) requests.count(answered, status);
  return lines;
}

test("each answer with an error has a line, and others only where someone may look for them", () => {
  const errors = [400, 401, 404, 413, 429, 500, 503];
  assert.deepEqual(
    linesOf(
      false,
      errors.map((status) => [call(), status]),
    ),
    errors.map((status) => ["info", status]),
  );
  const plain = [200, 204, 304, 399].map((status) => [call(), status] as const);
  assert.deepEqual(linesOf(false, plain), []);
  assert.deepEqual(
    linesOf(true, plain),
    plain.map(([, status]) => ["debug", status]),
  );
  const sought = [call({ sessionId: "s" }), call({ startedMs: performance.now() - 1001 })];
  assert.deepEqual(
    linesOf(
      false,
      sought.map((answered) => [answered, 200]),
    ),
    [
      ["info", 200],
      ["info", 200],
    ],
  );
});

test("a line names the request, its time, its account, its session and its client, and nothing else", () => {
  const lines: object[] = [];
  const info = (line: object) => void lines.push(line);
  const log = { info, debug: info, error: info, isLevelEnabled: () => true };
  const metrics = new Metrics();
  const requests = new RequestMetrics({ metrics, log });
  const caller = { account: "acme", keyId: "k1" } as Call["caller"];
  const startedMs = performance.now() - 60_000;
  const header = (name: string) => (name === "sideband-client" ? "js/0.1.0" : "another");
  requests.count(call({ startedMs, caller, sessionId: "s", header }), 200);
  requests.count(call({ startedMs }), 404);
  const [{ ms, ...full }, { ms: _, ...bare }] = lines as { ms: number }[];
  const named = { request_id: "id", method: "GET", route: "/facts" };
  const known = { account: "acme", key_id: "k1", session_id: "s", client: "js/0.1.0" };
  assert.deepEqual(full, { ...named, status: 200, ...known });
  assert.deepEqual(bare, { ...named, status: 404 });
  assert.ok(ms >= 60_000 && ms < 120_000 && Math.abs(ms * 100 - Math.round(ms * 100)) < 1e-3, `${ms}`);
  const sum = /^sideband_request_seconds_sum\{route="\/facts"\} (.*)$/m.exec(metrics.render());
  assert.ok(Number(sum?.[1]) >= 120 && Number(sum?.[1]) < 240, sum?.[1]);
});

test("a fault has its code and its reason in its line, with the address and the key of who met it", () => {
  const lines: { code?: string; reason?: string; address?: string; key_id?: string }[] = [];
  const info = (line: object) => void lines.push(line);
  const log = { info, debug() {}, error() {}, isLevelEnabled: () => false };
  const requests = new RequestMetrics({ metrics: new Metrics(), log });
  const caller = { account: "acme", keyId: "k1" } as Call["caller"];
  const client = { address: "192.0.2.7", host: "", protocol: "http" };
  const answered = (status: number, failure: Failure, more: Partial<Call> = {}) => {
    requests.count(call({ caller, client, failure, access: "key", ...more }), status);
    const { code, reason, address, key_id } = lines.at(-1)!;
    return [address, key_id, code, reason];
  };
  const who = ["192.0.2.7", "k1"];
  const full = new Failure("store_unavailable", "The disk is nearly full.", {
    reason: "the disk of /data is full",
  });
  assert.deepEqual(answered(503, full), [...who, "store_unavailable", "the disk of /data is full"]);
  const cause = new Error("the commit failed", { cause: new Error("No space left on device") });
  const failed = new Failure("store_unavailable", "The store cannot take data now.", { cause });
  const why = "the commit failed: No space left on device";
  assert.deepEqual(answered(503, failed), [...who, "store_unavailable", why]);
  const busy = new Failure("overloaded", "Too many writes are waiting.");
  assert.deepEqual(answered(503, busy), [...who, "overloaded", "Too many writes are waiting."]);
  const wrong = new Failure("invalid_key", "This admin token is not valid.");
  const admin = { access: "admin", routePath: "/admin/keys" };
  assert.deepEqual(answered(401, wrong, admin), [...who, "invalid_key", "This admin token is not valid."]);
  const console = { access: "page", routePath: "/console/session" };
  assert.deepEqual(answered(401, wrong, console), [...who, "invalid_key", "This admin token is not valid."]);
  const sent = new Failure("invalid_request", "There is no label secret value.");
  assert.deepEqual(
    answered(400, sent),
    [...who, "invalid_request", undefined],
    "it may repeat what was sent",
  );
});

test("an answer on the bare socket is counted, with a line that says why", () => {
  const lines: object[] = [];
  const info = (line: object) => void lines.push(line);
  const metrics = new Metrics();
  const log = { info, debug() {}, error() {}, isLevelEnabled: () => false };
  const requests = new RequestMetrics({ metrics, log });
  requests.countBare(408, { reason: "late" });
  requests.countBare(405, { method: "CONNECT" });
  const counted = (method: string, status: number) =>
    metrics.value("sideband_requests_total", `method="${method}",route="unknown",status="${status}"`);
  assert.deepEqual([counted("unknown", 408), counted("CONNECT", 405)], [1, 1]);
  assert.deepEqual(lines, [
    { method: "unknown", route: "unknown", status: 408, reason: "late" },
    { method: "CONNECT", route: "unknown", status: 405, reason: undefined },
  ]);
});
