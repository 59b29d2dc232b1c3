/**
 * Requests as they may come: odd queries, bodies and headers, pieces, several at once on one connection. Each gets the
 * one answer that the interface names, and a write that was refused leaves nothing behind.
 */

import assert from "node:assert/strict";
import { once } from "node:events";
import { type IncomingMessage, request as sendRequest } from "node:http";
import { connect } from "node:net";
import { after, before, test } from "node:test";
import { OwnerClient } from "../../src/door-client/owner-client.ts";
import { viewOf } from "../fixtures/views.ts";
import { problemCode, type Running, send, startRunning } from "./running-service.ts";

let running: Running;
let limited: string;

before(async () => {
  running = await startRunning();
  limited = await running.newKey("limited", "pro");
  for (const key of [running.key, limited]) {
    for (const [user_id, label, value] of [
      ["ada", "USER.name", "Ada Lovelace"],
      ["ada", "USER.role", 'quotes " and \\ and é and 🜁'],
      ["Zoë + 1/2", "USER.name", "Zoë"],
    ]) {
      await running.call("POST", "/encode", { key, body: { user_id, label, value } });
    }
    for (const user of ["ada", "Zoë + 1/2"]) {
      await running.call("GET", `/context?user_id=${encodeURIComponent(user)}`, { key });
    }
  }
});
after(() => running?.end());

test("a query is taken exactly, and every fault of it is named", async () => {
  const long = "x".repeat(129);
  for (const [path, status, expected] of [
    ["/decode?user_id=ada&label=USER.name", 200, "Ada Lovelace"],
    ["/v1/decode?user_id=ada&label=USER.role", 200, 'quotes " and \\ and é and 🜁'],
    ["/decode?label=USER.name&&user_id=Zo%C3%AB+%2B+1%2F2&more=1", 200, "Zoë"],
    ["/decode?user_id=ada&label=USER.name&use_model=false", 200, "Ada Lovelace"],
    ["/decode?__proto__=1&user_id=ada&label=USER.name", 200, "Ada Lovelace"],
    ["/decode?user_id=ada&label=USER.name&use_model=perhaps", 400, "use_model"],
    ["/decode?user_id=ada&label=USER.name#part", 400, "label"],
    ["/decode?user_id=ada&label=USER.os", 404, "label"],
    ["/decode?user_id=ada&label=nonsense", 400, "label"],
    ["/decode?user_id=ada", 400, "label"],
    ["/decode?user_id=&label=USER.name", 400, "user_id"],
    ["/decode?user_id=a%00&label=USER.name", 400, "user_id"],
    ["/decode?user_id=ada&user_id=eve&label=USER.name", 400, "user_id"],
    ["/decode?user_id=%ff&label=USER.name", 400, "user_id"],
    [`/decode?user_id=${long}&label=USER.name`, 400, "user_id"],
    ["/context", 400, "user_id"],
    ["/context?", 400, "user_id"],
    ["/decode?label=USER.name", 400, "user_id"],
    ["/facts", 400, "user_id"],
  ] as const) {
    const { json, ...answer } = await running.call("GET", path);
    assert.deepEqual([answer.status, status === 200 ? json.value : json.param], [status, expected], path);
    if (status !== 200)
      assert.match(problemCode({ json, ...answer }), /^400 invalid_request|_label|fact_not_found$/);
    assert.equal(
      problemCode(await running.call("GET", path, { key: "sb_live_wrong" })),
      "401 invalid_key",
      path,
    );
  }
});

test("a name that a query has twice is refused on every kind of route but a page's", async () => {
  const { call } = running;
  const admin = { key: "admin-token-for-tests" };
  for (const [method, path, options] of [
    ["GET", "/context?user_id=ada&user_id=eve", {}],
    ["GET", "/demo/context?sandbox=abc&sandbox=def", { key: null }],
    ["GET", "/channels?a=1&a=2", { key: null }],
    ["GET", "/admin/keys?a=1&a=2", admin],
    ["POST", "/mcp?user_id=ada&user_id=eve", { body: {} }],
  ] as const)
    assert.equal(problemCode(await call(method, path, options)), "400 invalid_request", path);
  assert.equal((await call("GET", "/console/session?a=1&a=2")).status, 200);
  if (process.env.TEST_STORE === "postgres") return;
  const exported = OwnerClient.of(running.folder).lines("GET", "/operator/export?account=acme&account=b");
  await assert.rejects(exported.next(), { code: "invalid_request", message: "account is given twice." });
});

test("a limited key's answers carry its quota, an unlimited key's do not", async () => {
  for (const path of ["/decode?user_id=ada&label=USER.name", "/context?user_id=ada", "/decode?user_id=ada"]) {
    const { headers } = await running.call("GET", path, { key: limited });
    // The seconds until the end of the month may change between two requests.
    const quota = headers.get("ratelimit")?.replace(/t=\d+/, "t=");
    const [policy, ...numbers] = ["ratelimit-policy", "x-ratelimit-limit", "x-ratelimit-remaining"];
    assert.deepEqual(
      [headers.get(policy), quota, ...numbers.map((name) => headers.get(name))],
      [`"monthly";q=50000;w=${secondsOfThisMonth()}`, '"monthly";r=49997;t=', "50000", "49997"],
      path,
    );
    assert.equal((await running.call("GET", path)).headers.get("x-ratelimit-limit"), null);
  }
});

const post = (path: string, body: string | Buffer, key = running.key, headers = {}) =>
  running.call("POST", path, {
    key,
    raw: typeof body === "string" ? body : new Uint8Array(body),
    headers: { "content-type": "application/json", ...headers },
  });
const PLAIN = '{"user_id":"eve","label":"USER.name","value":"Eve"}';
const BODIES: readonly (readonly [string | Buffer, number, string | undefined])[] = [
  [PLAIN, 200, undefined],
  [
    ' { "value" : "Zo\\u00eb 🜁 \\"q\\" \\\\", "label":"USER.role", "user_id":"Zoë + 1/2", "more":{"label":1} }\n',
    200,
    undefined,
  ],
  ['{"user_id":"eve","label":"USER.name","value":"one","value":"two"}', 200, undefined],
  ['{"user_id":"eve","label":"USER.name","value":"Eve","session_id":"s-1"}', 200, undefined],
  ['{"user_id":"eve","label":"USER.name","value":"Eve","session_id":null}', 400, "session_id"],
  ['{"user_id":"eve","label":"USER.nam","value":"Eve"}', 400, "label"],
  ['{"user_id":"eve","label":"constructor","value":"Eve"}', 400, "label"],
  ['{"user_id":"","label":"USER.name","value":"Eve"}', 400, "user_id"],
  ['{"user_id":"a\\u0000","label":"USER.name","value":"Eve"}', 400, "user_id"],
  ['{"user_id":"eve","label":"USER.name","value":""}', 400, "value"],
  ['{"user_id":"eve","label":"USER.name","value":"\\ud800"}', 400, "value"],
  ['{"user_id":"eve","label":"USER.name","value":"line\\nline"}', 400, "value"],
  [`{"user_id":"eve","label":"USER.name","value":"${"x".repeat(5_000)}"}`, 400, "value"],
  ['{"user_id":"eve","label":"USER.name","value":7}', 400, "value"],
  ['{"user_id":"eve","label":"USER.name"}', 400, "value"],
  ['{"__proto__":{"user_id":"eve"},"label":"USER.name","value":"Eve"}', 400, "user_id"],
  ['{"label":"USER.name","value":"Eve"}', 400, "user_id"],
  ['{"user_id":"eve","value":"Eve"}', 400, "label"],
  ['{"user_id":1,"label":"USER.name","value":"Eve"}', 400, "user_id"],
  ['{"user_id":"eve","label":null,"value":"Eve"}', 400, "label"],
  ['{"user_id":"eve","label":"USER.name","value":["Eve"]}', 400, "value"],
  ['{"user_id":"a\\tb","label":"USER.name","value":"Eve"}', 400, "user_id"],
  [`{"user_id":"${"u".repeat(129)}","label":"USER.name","value":"Eve"}`, 400, "user_id"],
  [`{"user_id":"${"\u{10FFFF}".repeat(128)}","label":"USER.name","value":"Eve"}`, 200, undefined],
  ['{"user_id":"eve","label":"USER.name","value":"Eve","session_id":""}', 400, "session_id"],
  ['{"user_id":"eve","label":"USER.name","value":"Eve","session_id":"a\\nb"}', 400, "session_id"],
  ['["eve"]', 400, undefined],
  ["null", 400, undefined],
  ['"eve"', 400, undefined],
  ["{", 400, undefined],
  ["{}}", 400, undefined],
  ["nope", 400, undefined],
  ["\uFEFF{}", 400, undefined],
  ["", 400, undefined],
  [Buffer.from('{"user_id":"eve","label":"USER.name","value":"\xff"}', "latin1"), 400, undefined],
  [Buffer.alloc(70_000, " "), 413, undefined],
];

test("a body is taken exactly, and every fault of it is named", async () => {
  for (const path of ["/encode", "/v1/encode", "/encode?more=1"]) {
    for (const [body, status, param] of BODIES) {
      const { status: answered, json } = await post(path, body);
      const what = `${path} ${body.toString().slice(0, 60)}`;
      assert.deepEqual([answered, json.param], [status, param], what);
      assert.equal((await post(path, body, "sb_live_wrong")).status, 401, what);
    }
  }
  const decoded = await running.call("GET", "/decode?user_id=Zo%C3%AB+%2B+1/2&label=USER.role");
  assert.equal(decoded.json.value, 'Zoë 🜁 "q" \\');
});

test("a body is JSON by its Content-Type, in one piece or in chunks", async () => {
  for (const [headers, status] of [
    [{ "content-type": "application/json; charset=utf-8" }, 200],
    [{ "content-type": "APPLICATION/JSON" }, 200],
    [{ "content-type": "text/plain" }, 415],
    [{ "content-type": "application/x-www-form-urlencoded" }, 415],
    [{ "content-type": "nonsense" }, 415],
    [{ "content-type": "application/jsonp" }, 415],
    [{ "content-type": "" }, 415],
    [{ "transfer-encoding": "chunked" }, 200],
    [{ expect: "100-continue" }, 200],
  ] as [Record<string, string>, number][]) {
    assert.equal((await raw(headers, PLAIN)).statusCode, status, JSON.stringify(headers));
  }
  const untyped = await running.call("POST", "/encode", { raw: new Uint8Array(Buffer.from(PLAIN)) });
  assert.equal(problemCode(untyped), "415 unsupported_media_type");
});

test("the largest body has 64 KiB, in one piece or in chunks", async () => {
  for (const headers of [{}, { "transfer-encoding": "chunked" }] as Record<string, string>[]) {
    const endOf = async (bytes: number) => {
      const answer = await raw(headers, PLAIN.padEnd(bytes));
      return [answer.statusCode, answer.headers.connection];
    };
    assert.deepEqual(await endOf(65_536), [200, "keep-alive"], JSON.stringify(headers));
    // The rest of the body is not waited for.
    assert.deepEqual(await endOf(65_537), [413, "close"], JSON.stringify(headers));
  }
});

test("a body in pieces, two requests in one piece, a body that never comes", async () => {
  const post = (value: string) => {
    const body = `{"user_id":"pieces","label":"USER.name","value":"${value}"}`;
    return `POST /encode HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${running.key}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
  };
  const whole = post("whole");
  const head = whole.indexOf("\r\n\r\n") + 4;
  for (const pieces of [
    [whole.slice(0, head), whole.slice(head)],
    [whole.slice(0, head + 10), whole.slice(head + 10)],
    [whole.slice(0, head - 2), whole.slice(head - 2, head + 5), whole.slice(head + 5)],
  ]) {
    assert.match(await exchange(pieces, 1), /^HTTP\/1.1 200 OK.*"value":"whole"/s);
  }
  const two = await exchange([post("first") + post("second")], 2);
  assert.match(two, /"value":"first".*HTTP\/1.1 200 OK.*"value":"second"/s);
  const read = await running.call("GET", "/decode?user_id=pieces&label=USER.name");
  assert.equal(read.json.value, "second");
  const mixed = `GET /decode?user_id=pieces&label=USER.name HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${running.key}\r\n\r\n`;
  assert.match(await exchange([post("third") + mixed], 2), /"value":"third","channel".*"source":"state"/s);

  await exchange([whole.slice(0, head + 5)], 0);
  assert.equal((await running.call("GET", "/decode?user_id=pieces&label=USER.name")).json.value, "third");
});

test("an encode that the monthly limit refuses is not written, and says what is left", async () => {
  const { keys, store } = running.service.core;
  const { key, record } = await keys.create({ account: "spent", tier: "free" });
  const day = new Date().toISOString().slice(0, 10);
  await store.raiseUsage(record, [{ day, count: 999 }]);
  const last = await post("/encode", PLAIN, key);
  assert.deepEqual([last.status, last.headers.get("x-ratelimit-remaining")], [200, "0"]);
  const refused = await post("/encode", PLAIN.replace('"Eve"', '"Mallory"'), key);
  assert.deepEqual([refused.status, refused.headers.get("x-ratelimit-remaining")], [429, "0"]);
  assert.equal((await store.readFact(viewOf("eve", "spent"), "USER.name"))?.value, "Eve");
  assert.equal(await store.readUsage(record.id, day.slice(0, 7)), 1000);
});

test("a refusal by the monthly limit says what is left at that moment, not when the request began", async (t) => {
  const { keys, store } = running.service.core;
  const { key, record } = await keys.create({ account: "raced", tier: "free" });
  await store.raiseUsage(record, [{ day: new Date().toISOString().slice(0, 10), count: 1000 }]);
  t.mock.method(store, "readUsage", async () => 990);
  const refused = await post("/encode", PLAIN, key);
  assert.deepEqual([refused.status, refused.headers.get("x-ratelimit-remaining")], [429, "0"]);
});

test("every answer is counted once, under its route and status", async () => {
  const counted = async (labels: string) =>
    running.service.core.metrics.value("sideband_requests_total", labels);
  for (const [path, method, route, status] of [
    ["/v1/decode?user_id=ada&label=USER.name", "GET", "/decode", 200],
    ["/decode?user_id=ada", "GET", "/decode", 400],
    ["/context?user_id=ada", "GET", "/context", 200],
    ["/encode", "GET", "/encode", 405],
    ["/nowhere", "GET", "unknown", 404],
  ] as const) {
    const labels = `method="${method}",route="${route}",status="${status}"`;
    const before = await counted(labels);
    await running.call("GET", path);
    assert.equal((await counted(labels)) - before, 1, labels);
  }
});

test("a key that is revoked or that expires is refused by the next request", async () => {
  const { keys } = running.service.core;
  const endings = {
    key_revoked: (id: string) => keys.revoke(id),
    key_expired: (id: string) => keys.expire(id, Date.now() - 1),
  };
  for (const [code, end] of Object.entries(endings)) {
    const { key, record } = await keys.create({ account: "acme", tier: "unlimited" });
    const decode = () => send(running.url, "GET", "/decode?user_id=ada&label=USER.name", { key });
    assert.equal((await decode()).status, 200);
    assert.equal((await decode()).status, 200);
    await end(record.id);
    assert.equal((await decode()).json.code, code);
  }
});

test("a write is seen by the next read, and a condition is honoured", async () => {
  const path = "/decode?user_id=quick&label=USER.name";
  for (let i = 0; i < 50; i++) {
    const body = { user_id: "quick", label: "USER.name", value: `value ${i}` };
    await running.call("POST", "/encode", { body });
    assert.equal((await running.call("GET", path)).json.value, `value ${i}`);
    const context = await running.call("GET", "/context?user_id=quick");
    assert.match(context.json.plain_index, new RegExp(`=value ${i}$`));
    if (i > 2) continue;
    const headers = { "if-none-match": context.headers.get("etag")! };
    assert.equal((await running.call("GET", "/context?user_id=quick", { headers })).status, 304);
  }
  await running.call("DELETE", "/facts?user_id=quick&label=USER.name");
  assert.equal((await running.call("GET", path)).status, 404);
});

test("of a header that comes twice the first counts, under any case, but Host and Authorization come once", async () => {
  const path = "/context?user_id=ada";
  const plain = (await running.call("GET", path)).headers.get("etag")!;
  for (const [headers, status] of [
    [["If-None-Match", plain], 304],
    [["IF-NONE-MATCH", '"other"'], 200],
    [["Authorization", `Bearer ${running.key}`], 400],
    [["AUTHORIZATION", "Bearer sb_live_wrong"], 400],
    [["Host", "other"], 400],
    [["HOST", "x"], 400],
    [["X-Forwarded-Host", "other"], 200],
  ] as const) {
    const lines = ["Host", "x", "Authorization", `Bearer ${running.key}`, ...headers];
    assert.equal(await statusOf(path, lines), status, headers.join(": "));
  }
  assert.equal(await statusOf(path, ["Authorization", `Bearer ${running.key}`]), 400);
  assert.equal(await statusOf(path, ["Host", "a, b", "Authorization", `Bearer ${running.key}`]), 400);
});

test("a request id from the caller comes back", async () => {
  const headers = { "x-request-id": "mine-1" };
  const answer = await running.call("GET", "/decode?user_id=ada&label=USER.name", { headers });
  assert.equal(answer.headers.get("x-request-id"), "mine-1");
});

/** Posts a body over a connection, in chunks where its headers say so. */
async function raw(headers: Record<string, string>, body: string): Promise<IncomingMessage> {
  const length = "transfer-encoding" in headers ? {} : { "content-length": String(Buffer.byteLength(body)) };
  const authorization = `Bearer ${running.key}`;
  const request = sendRequest(`${running.url}/encode`, {
    method: "POST",
    headers: { authorization, "content-type": "application/json", ...length, ...headers },
  });
  const [response] = (await once(request.end(body), "response")) as [IncomingMessage];
  return response.resume();
}

function secondsOfThisMonth(): number {
  const now = new Date();
  return new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1, 0)).getUTCDate() * 86_400;
}

/** Sends pieces on one connection, one after the other, and returns what came when that many answers are there. */
async function exchange(pieces: readonly string[], answers: number): Promise<string> {
  const { hostname, port } = new URL(running.url);
  const socket = connect(Number(port), hostname).setNoDelay(true).setEncoding("latin1");
  let text = "";
  const received = new Promise<void>((resolve, reject) => {
    socket.on("error", reject);
    socket.on("data", (chunk) => {
      text += chunk;
      if (text.split("}").length > answers) resolve();
    });
  });
  for (const piece of pieces) {
    socket.write(piece);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  if (answers > 0) await received;
  socket.destroy();
  return text;
}

/** The status of a request whose headers are exactly these, names and values in turn. */
function statusOf(path: string, headers: readonly string[]): Promise<number> {
  const { hostname, port } = new URL(running.url);
  const lines = headers.flatMap((text, i) => (i % 2 === 0 ? [`${text}: ${headers[i + 1]}`] : []));
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname, () => {
      socket.write(`GET ${path} HTTP/1.1\r\n${lines.join("\r\n")}\r\nConnection: close\r\n\r\n`);
    });
    let text = "";
    socket.setEncoding("latin1");
    socket.on("data", (chunk) => {
      text += chunk;
    });
    socket.on("end", () => resolve(Number(text.slice(9, 12))));
    socket.on("error", reject);
  });
}
