/** Which requests have a line in the log. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { Metrics } from "../../../src/base/metrics.ts";
import type { Call } from "../../../src/http/request/call.ts";
import { RequestMetrics } from "../../../src/http/request/request-metrics.ts";

const call = (more: Partial<Call> = {}) =>
  ({ id: "id", method: "GET", routePath: "/facts", startedMs: performance.now(), ...more }) as Call;

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
