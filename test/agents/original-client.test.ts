/**
 * Clients of the original service work unchanged when their address and key are set: its documented requests,
 * as curl sends them, and the requests of its published agent plugin, in its order and with its parameters.
 */

import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { endAfter } from "../fixtures/ends.ts";
import { startRunning } from "../http/running-service.ts";
import { makeHost } from "./host.ts";

/** The documentation's requests, with the three settings of its clients. */
const DOCUMENTED = {
  encode: `curl -s -X POST "$SPECTRAL_MEMORY_API_URL/encode" -H "Authorization: Bearer $SPECTRAL_MEMORY_API_KEY" -H "Content-Type: application/json" -d '{"user_id":"'$SPECTRAL_MEMORY_USER_ID'","label":"USER.gpu","value":"RTX5090"}'`,
  context: `curl -s "$SPECTRAL_MEMORY_API_URL/context?user_id=$SPECTRAL_MEMORY_USER_ID" -H "Authorization: Bearer $SPECTRAL_MEMORY_API_KEY"`,
  contextByQuery: `curl -s "$SPECTRAL_MEMORY_API_URL/context?user_id=$SPECTRAL_MEMORY_USER_ID&api_key=$SPECTRAL_MEMORY_API_KEY"`,
  decode: `curl -s "$SPECTRAL_MEMORY_API_URL/decode?user_id=$SPECTRAL_MEMORY_USER_ID&label=USER.gpu" -H "Authorization: Bearer $SPECTRAL_MEMORY_API_KEY"`,
  decodeWithModel: `curl -s "$SPECTRAL_MEMORY_API_URL/decode?user_id=$SPECTRAL_MEMORY_USER_ID&label=USER.gpu&use_model=true" -H "Authorization: Bearer $SPECTRAL_MEMORY_API_KEY"`,
  decodeModel: `curl -s "$SPECTRAL_MEMORY_API_URL/decode/model?user_id=$SPECTRAL_MEMORY_USER_ID&label=USER.gpu" -H "Authorization: Bearer $SPECTRAL_MEMORY_API_KEY"`,
  flush: `curl -s -X POST "$SPECTRAL_MEMORY_API_URL/flush" -H "Authorization: Bearer $SPECTRAL_MEMORY_API_KEY" -H "Content-Type: application/json" -d '{"user_id":"'$SPECTRAL_MEMORY_USER_ID'"}'`,
  demoReset: `curl -s -X POST "$SPECTRAL_MEMORY_API_URL/demo/reset"`,
  demoEncode: `curl -s -X POST "$SPECTRAL_MEMORY_API_URL/demo/encode" -H "Content-Type: application/json" -d '{"label":"USER.name","value":"Ada"}'`,
  demoContext: `curl -s "$SPECTRAL_MEMORY_API_URL/demo/context"`,
  demoFlush: `curl -s -X POST "$SPECTRAL_MEMORY_API_URL/demo/flush"`,
};

suite("clients of the original service", { concurrency: false }, () => {
  test("the documented requests, by curl", async (t) => {
    const running = endAfter(t, await startRunning());
    const host = makeHost(t);
    const env = {
      SPECTRAL_MEMORY_API_URL: running.url,
      SPECTRAL_MEMORY_API_KEY: running.key,
      SPECTRAL_MEMORY_USER_ID: "default",
    };
    // biome-ignore lint/suspicious/noExplicitAny: each request has its own answer.
    const answers: Record<string, any> = {};
    for (const [name, line] of Object.entries(DOCUMENTED)) {
      const { stdout, status } = await host.shell(line, { env });
      assert.equal(status, 0, name);
      answers[name] = JSON.parse(stdout);
    }
    const gpu = { label: "USER.gpu", value: "RTX5090" };
    assert.deepEqual(answers.encode, { status: "ok", ...gpu, channel: 3, channel_count: 1 });
    const { fdm_block, ...context } = answers.context;
    assert.deepEqual(context, {
      user_id: "default",
      channel_count: 1,
      channel_labels: ["USER.gpu"],
      plain_index: "USER.gpu=RTX5090",
    });
    assert.match(fdm_block, /^\[MEM\] (\S+ ){512}\[\/MEM\]$/);
    assert.deepEqual(answers.contextByQuery, answers.context);
    assert.deepEqual(answers.decode, { user_id: "default", ...gpu, source: "state", latency_ms: 0 });
    for (const name of ["decodeWithModel", "decodeModel"]) {
      const { latency_ms, ...rest } = answers[name];
      assert.deepEqual(rest, { user_id: "default", ...gpu, source: "model", verified: true });
      assert.ok(Number.isInteger(latency_ms) && latency_ms >= 1);
    }
    const { status, channel_count, lossless } = answers.flush;
    assert.deepEqual({ status, channel_count, lossless }, { status: "ok", channel_count: 1, lossless: true });
    assert.deepEqual(answers.demoReset, { status: "ok", channel_count: 0 });
    assert.deepEqual(answers.demoEncode, {
      status: "ok",
      label: "USER.name",
      value: "Ada",
      channel: 0,
      channel_count: 1,
    });
    assert.deepEqual(
      [answers.demoContext.user_id, answers.demoContext.plain_index],
      ["demo", "USER.name=Ada"],
    );
    assert.deepEqual([answers.demoFlush.status, answers.demoFlush.lossless], ["ok", true]);
  });

  test("the requests of the published agent plugin", async (t) => {
    const running = endAfter(t, await startRunning());
    const headers = {
      "user-agent": "python-httpx/0.28.1",
      accept: "*/*",
      "accept-encoding": "gzip, deflate",
    };
    // Its labels, with the channel numbers that its users know.
    const known = Object.entries({
      "USER.name": 0,
      "USER.project": 1,
      "USER.affiliation": 2,
      "USER.gpu": 3,
      "USER.working_dir": 4,
      "USER.os": 5,
      "PREF.response_style": 10,
      "PREF.code_style": 11,
      "PREF.verbosity": 12,
      "PREF.format": 13,
      "TASK.current": 20,
      "TASK.next": 21,
      "TASK.blocked_on": 22,
      "TASK.deadline": 23,
      "TASK.priority": 24,
      "PROJ.status": 30,
      "PROJ.last_result": 31,
      "PROJ.model_target": 32,
      "PROJ.token_budget": 33,
      "PROJ.accuracy": 34,
    });
    const empty = await running.call("GET", "/context?user_id=default", { headers });
    assert.deepEqual([empty.status, empty.json.fdm_block, empty.json.plain_index], [200, "", ""]);
    for (const [count, [label, channel]] of known.entries()) {
      const body = {
        user_id: "default",
        session_id: "20261115_031500_ab12cd",
        label,
        value: `a value for ${label}`,
      };
      const { status, json } = await running.call("POST", "/encode", { headers, body });
      assert.deepEqual([status, json.channel, json.channel_count], [200, channel, count + 1]);
    }
    const context = (await running.call("GET", "/context?user_id=default", { headers })).json;
    assert.equal(context.plain_index.split("\n").length, known.length);
    for (const [label] of known) {
      for (const [path, source] of [
        ["/decode", "state"],
        ["/decode/model", "model"],
      ]) {
        const { json } = await running.call("GET", `${path}?user_id=default&label=${label}`, { headers });
        assert.deepEqual([json.value, json.source], [`a value for ${label}`, source]);
      }
    }
    // What its error handling relies on: a failure is a status of 400 or more, never an empty 200.
    const missing = await running.call("GET", "/decode?user_id=default&label=USER.role", { headers });
    const wrongKey = await running.call("GET", "/context?user_id=default", { headers, key: "wrong" });
    assert.deepEqual([missing.status, wrongKey.status], [404, 401]);
  });
});
