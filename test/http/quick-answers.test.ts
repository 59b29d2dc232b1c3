/**
 * Quick answers against Fastify: the same request, once as a client sends it (quick where it is plain) and once with
 * a header that only Fastify's way understands, must give the same answer. What is not plain is Fastify's.
 */

import assert from "node:assert/strict";
import { type IncomingHttpHeaders, request as sendRequest } from "node:http";
import { connect } from "node:net";
import { after, before, test } from "node:test";
import { type Running, send, startRunning } from "./running-service.ts";

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
    // Blocks are in the cache and the key is known from here on.
    for (const user of ["ada", "Zoë + 1/2"]) {
      await running.call("GET", `/context?user_id=${encodeURIComponent(user)}`, { key });
    }
  }
});
after(() => running?.end());

const PATHS = [
  "/decode?user_id=ada&label=USER.name",
  "/v1/decode?user_id=ada&label=USER.role",
  "/decode?label=USER.name&&user_id=Zo%C3%AB+%2B+1%2F2&more=1",
  "/decode?user_id=ada&label=USER.name&use_model=false",
  "/decode?user_id=ada&label=USER.name&use_model=perhaps",
  "/decode?user_id=ada&label=USER.name#part",
  "/decode?user_id=ada&label=USER.goal",
  "/decode?user_id=ada&label=nonsense",
  "/decode?user_id=ada",
  "/decode?user_id=&label=USER.name",
  "/decode?user_id=a%00&label=USER.name",
  "/decode?user_id=ada&user_id=eve&label=USER.name",
  "/decode?user_id=%ff&label=USER.name",
  `/decode?user_id=${"x".repeat(129)}&label=USER.name`,
  "/decode?__proto__=1&user_id=ada&label=USER.name",
  "/context?user_id=ada",
  "/v1/context?user_id=Zo%C3%AB%20%2B%201/2",
  "/context?user_id=nobody",
  "/context",
  "/context?",
];

test("a quick answer is Fastify's answer: status, headers and body", async () => {
  for (const key of [running.key, limited, "sb_live_wrong"]) {
    for (const path of PATHS) {
      const plain = await raw(path, key, {});
      // A key after two spaces is the same key, but not a plain one.
      const routed = await raw(path, key, { authorization: `bearer  ${key}` });
      assert.deepEqual(plain, routed, path);
    }
  }
});

const BODIES: readonly (string | Buffer)[] = [
  '{"user_id":"eve","label":"USER.name","value":"Eve"}',
  ' { "value" : "Zo\\u00eb 🜁 \\"q\\" \\\\", "label":"USER.role", "user_id":"Zoë + 1/2", "more":{"label":1} }\n',
  '{"user_id":"eve","label":"USER.name","value":"one","value":"two"}',
  '{"user_id":"eve","label":"USER.name","value":"Eve","session_id":"s-1"}',
  '{"user_id":"eve","label":"USER.name","value":"Eve","session_id":null}',
  '{"user_id":"eve","label":"USER.nam","value":"Eve"}',
  '{"user_id":"eve","label":"constructor","value":"Eve"}',
  '{"user_id":"","label":"USER.name","value":"Eve"}',
  '{"user_id":"a\\u0000","label":"USER.name","value":"Eve"}',
  '{"user_id":"eve","label":"USER.name","value":""}',
  '{"user_id":"eve","label":"USER.name","value":"\\ud800"}',
  '{"user_id":"eve","label":"USER.name","value":"line\\nline"}',
  `{"user_id":"eve","label":"USER.name","value":"${"x".repeat(5_000)}"}`,
  '{"user_id":"eve","label":"USER.name","value":7}',
  '{"user_id":"eve","label":"USER.name"}',
  '{"__proto__":{"user_id":"eve"},"label":"USER.name","value":"Eve"}',
  '["eve"]',
  "null",
  '"eve"',
  "{",
  "",
  Buffer.from('{"user_id":"eve","label":"USER.name","value":"\xff"}', "latin1"),
  Buffer.alloc(70_000, " "),
];

test("a quick encode is Fastify's encode: status, headers and body", async () => {
  for (const key of [running.key, limited, "sb_live_wrong"]) {
    for (const path of ["/encode", "/v1/encode", "/encode?more=1"]) {
      for (const body of BODIES) {
        const plain = await raw(path, key, {}, body);
        const routed = await raw(path, key, { authorization: `bearer  ${key}` }, body);
        assert.deepEqual(withoutUse(plain), withoutUse(routed), `${path} ${body.toString().slice(0, 60)}`);
      }
    }
  }
  const decoded = await running.call("GET", "/decode?user_id=Zo%C3%AB+%2B+1/2&label=USER.role");
  assert.equal(decoded.json.value, 'Zoë 🜁 "q" \\');
});

test("other headers of an encode are Fastify's to judge", async () => {
  const body = BODIES[0];
  for (const headers of [
    { "content-type": "application/json; charset=utf-8" },
    { "content-type": "text/plain" },
    { "content-type": "" },
    { "transfer-encoding": "chunked" },
    { expect: "100-continue" },
  ]) {
    const plain = await raw("/encode", running.key, headers, body);
    const routed = await raw(
      "/encode",
      running.key,
      { ...headers, authorization: `bearer  ${running.key}` },
      body,
    );
    assert.deepEqual(plain, routed, JSON.stringify(headers));
  }
  const keyed = { "idempotency-key": "quick-1" };
  const answers = [
    await raw("/encode", running.key, keyed, body),
    await raw("/encode", running.key, keyed, body),
  ];
  assert.deepEqual(
    answers.map(({ headers }) => headers["idempotency-replayed"]),
    [undefined, "true"],
  );
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

test("an encode that the monthly limit refuses is refused once, by both ways alike", async () => {
  const { desk, store } = running.service.core;
  const { key, record } = await desk.create({ account: "spent", tier: "free" });
  const day = new Date().toISOString().slice(0, 10);
  await store.addUsage(record, [{ day, count: 999 }]);
  assert.equal((await raw("/encode", key, {}, BODIES[0])).status, 200);
  const plain = await raw("/encode", key, {}, BODIES[0]);
  assert.equal(plain.status, 429);
  assert.deepEqual(plain, await raw("/encode", key, { authorization: `bearer  ${key}` }, BODIES[0]));
});

test("both ways count in the same figures", async () => {
  const counted = async () =>
    Number(
      /sideband_requests_total\{method="GET",route="\/decode",status="200"\} (\d+)/.exec(
        (await running.call("GET", "/metrics")).text,
      )?.[1] ?? 0,
    );
  const before = await counted();
  await raw("/v1/decode?user_id=ada&label=USER.name", running.key, {});
  await raw("/decode?user_id=ada&label=USER.name", running.key, { authorization: `bearer  ${running.key}` });
  assert.equal((await counted()) - before, 2);
});

test("a key that is revoked or that expires is refused by the next request", async () => {
  const { desk } = running.service.core;
  const endings = {
    key_revoked: (id: string) => desk.revoke(id),
    key_expired: (id: string) => desk.expire(id, Date.now() - 1),
  };
  for (const [code, end] of Object.entries(endings)) {
    const { key, record } = await desk.create({ account: "acme", tier: "unlimited" });
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

test("headers that come twice, under any case, are Fastify's to judge", async () => {
  const path = "/context?user_id=ada";
  const plain = (await running.call("GET", path)).headers.get("etag")!;
  for (const [headers, status] of [
    [["If-None-Match", plain], 304],
    [["IF-NONE-MATCH", '"other"'], 200],
    [["Authorization", `Bearer ${running.key}`], 200],
    [["AUTHORIZATION", "Bearer sb_live_wrong"], 200],
    [["Host", "other"], 200],
  ] as const) {
    const lines = ["Host", "x", "Authorization", `Bearer ${running.key}`, ...headers];
    assert.equal(await statusOf(path, lines), status, headers.join(": "));
  }
  assert.equal(await statusOf(path, ["Authorization", `Bearer ${running.key}`]), 400);
});

test("a request id from the caller comes back", async () => {
  const headers = { "x-request-id": "mine-1" };
  const answer = await running.call("GET", "/decode?user_id=ada&label=USER.name", { headers });
  assert.equal(answer.headers.get("x-request-id"), "mine-1");
});

interface Answer {
  readonly status: number | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly quota: string | undefined;
  readonly text: string;
}

/** Status, headers and body as they came; without what differs from request to request. */
function raw(
  path: string,
  key: string,
  headers: Record<string, string>,
  body?: string | Buffer,
): Promise<Answer> {
  const { hostname, port } = new URL(running.url);
  const chunked = "transfer-encoding" in headers;
  const posted = {
    "content-type": "application/json",
    ...(body === undefined || chunked ? {} : { "content-length": String(Buffer.byteLength(body)) }),
  };
  return new Promise((resolve, reject) => {
    const request = sendRequest(
      {
        hostname,
        port,
        path,
        method: body === undefined ? "GET" : "POST",
        headers: {
          authorization: `Bearer ${key}`,
          "x-request-id": "same",
          ...(body === undefined ? {} : posted),
          ...headers,
        },
      },
      (response) => {
        let text = "";
        response.setEncoding("utf8");
        response.on("data", (chunk) => {
          text += chunk;
        });
        response.on("end", () => {
          const { date: _, ratelimit, ...rest } = response.headers;
          // The seconds until the end of the month may change between two requests.
          const quota = typeof ratelimit === "string" ? ratelimit.replace(/t=\d+/, "t=") : undefined;
          resolve({ status: response.statusCode, headers: rest, quota, text });
        });
      },
    );
    request.on("error", reject);
    request.end(body);
  });
}

/** Each encode is counted, so that two in turn differ in what is left. */
function withoutUse({ headers, quota, ...rest }: Answer): unknown {
  return {
    ...rest,
    headers: { ...headers, "x-ratelimit-remaining": typeof headers["x-ratelimit-remaining"] },
    quota: quota?.replace(/r=\d+/, "r="),
  };
}

/** Sends pieces on one connection, one after the other, and returns what came when so many answers are there. */
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
