/** What a problem answer says beside its code, and which failures are logged. */

import assert from "node:assert/strict";
import { test } from "node:test";
import type { FailureCode } from "../../../src/base/error-codes.ts";
import { Failure, type FailureExtra } from "../../../src/base/errors.ts";
import type { Call } from "../../../src/http/request/call.ts";
import { failureOf, problemAnswer } from "../../../src/http/request/problem.ts";

const call = { id: "one" } as Call;
const UPGRADE = "https://pay.example";

function answerTo(code: FailureCode, extra: FailureExtra = {}) {
  const { status, headers, body, used } = problemAnswer(new Failure(code, "Why.", extra), call, UPGRADE);
  const { type, title, ...problem } = JSON.parse(String(body));
  assert.equal(type, `/docs#error-${code}`);
  assert.ok(title.length > 0);
  return { status, headers, used, problem };
}

test("a problem names what is at fault, and the headers that its status asks for", () => {
  const said = (code: FailureCode, status: number) => ({ status, detail: "Why.", code, request_id: "one" });
  assert.deepEqual(answerTo("invalid_request", { param: "label", hint: "USER.name" }), {
    status: 400,
    headers: [],
    used: undefined,
    problem: { ...said("invalid_request", 400), param: "label", hint: "USER.name" },
  });
  assert.deepEqual(answerTo("invalid_key").headers, ["www-authenticate", 'Bearer realm="sideband"']);
  assert.deepEqual(answerTo("key_revoked").headers, []);
  assert.deepEqual(answerTo("method_not_allowed", { allow: "GET, HEAD" }).headers, ["allow", "GET, HEAD"]);
  assert.deepEqual(answerTo("overloaded", { retryAfterS: 0 }).headers, ["retry-after", "0"]);
  assert.deepEqual(answerTo("monthly_limit_exceeded", { used: 7 }), {
    status: 429,
    headers: ["link", `<${UPGRADE}>; rel="upgrade"`],
    used: 7,
    problem: { ...said("monthly_limit_exceeded", 429), upgrade_url: UPGRADE },
  });
  const { problem } = answerTo("revision_mismatch", { present: null, items: ["a", "b"] });
  assert.deepEqual([problem.present, problem.items], [null, ["a", "b"]]);
});

test("a failure with a cause is logged with it, and one without is not", () => {
  const lines: unknown[] = [];
  const error = (line: object, message: string) => void lines.push([line, message]);
  const log = { error, info() {}, debug() {}, isLevelEnabled: () => false };
  const plain = new Failure("conflict", "It is there.");
  assert.equal(failureOf(plain, call, log), plain);
  assert.deepEqual(lines, []);
  const cause = new Error("disk");
  const caused = new Failure("store_unavailable", "Not now.", { cause, place: "store/facts.ts:1" });
  assert.equal(failureOf(caused, call, log), caused);
  assert.deepEqual(lines.splice(0), [
    [{ code: "store_unavailable", reason: "disk", place: "store/facts.ts:1", request_id: "one" }, "Not now."],
  ]);
  const unexpected = failureOf(cause, call, log);
  assert.deepEqual([unexpected.code, unexpected.extra.cause], ["internal_error", cause]);
  assert.deepEqual(lines, [[{ err: cause, request_id: "one" }, "unexpected error"]]);
});
