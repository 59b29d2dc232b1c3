/** The way of a request: what is refused before its handler, what a handler is given, and how its answer leaves. */

import assert from "node:assert/strict";
import { once } from "node:events";
import { Readable } from "node:stream";
import { Failure } from "../../../src/base/errors.ts";
import { Answer } from "../../../src/http/request/answer.ts";
import type { Call } from "../../../src/http/request/call.ts";
import type { Caller } from "../../../src/memory/authentication.ts";
import { fieldsOf } from "../../fixtures/fields.ts";
import { later, until } from "../../fixtures/waiting.ts";
import { dispatchRoutes, NOW_MS, repliesOf, routeAt, serveRoutes, test, untilEnd } from "./served-routes.ts";

const HOST = "Host: x";
const get = (target: string, ...headers: string[]) =>
  [`GET ${target} HTTP/1.1`, HOST, ...headers].join("\r\n");
const post = (target: string, body: string, ...headers: string[]) =>
  [
    `POST ${target} HTTP/1.1`,
    HOST,
    "Content-Type: application/json",
    `Content-Length: ${Buffer.byteLength(body)}`,
    ...headers,
  ].join("\r\n");
const CALLER: Caller = {
  account: "acme",
  keyId: "k1",
  tier: "pro",
  limit: null,
  expiresAtMs: null,
  user: null,
  access: "write",
};
const withCaller = (callerNow: () => Caller) => ({
  key: (call: Call) => {
    call.caller = callerNow();
  },
});
const refusedParam = ({ status, json }: { status: number; json: { code: string; param?: string } }) => [
  status,
  json.code,
  json.param,
];

test("a target is a path or a whole URL, with a query or without", async () => {
  const echo = ({ routePath, query, params }: Call) => ({ routePath, query, params });
  const { ask } = dispatchRoutes([routeAt("/", echo), routeAt("/facts", echo), routeAt("/users/:id", echo)]);
  for (const [target, routePath, query, params] of [
    ["/facts", "/facts", {}, {}],
    ["/facts?a=1&b=2", "/facts", { a: "1", b: "2" }, {}],
    ["http://x/facts?a=1", "/facts", { a: "1" }, {}],
    ["HTTPS://x:8080/facts", "/facts", {}, {}],
    ["http://x?a=1", "/", { a: "1" }, {}],
    ["http://x", "/", {}, {}],
    ["/users/ada?a=http://x/facts", "/users/:id", { a: "http://x/facts" }, { id: "ada" }],
  ] as const) {
    const { status, json } = await ask(get(target));
    assert.deepEqual([status, json], [200, { routePath, query, params }], target);
  }
  assert.equal((await ask(get("/facts/http://x/facts"))).status, 404);
});

test("a host is named once, and other headers that must not be repeated are not", async () => {
  const { ask } = dispatchRoutes([routeAt("/", () => ({}))]);
  const refused = async (...lines: string[]) => refusedParam(await ask(lines.join("\r\n")));
  assert.deepEqual(await refused("GET / HTTP/1.1"), [400, "invalid_request", "Host"]);
  assert.deepEqual(await refused("GET / HTTP/1.1", "Host: a, b"), [400, "invalid_request", "Host"]);
  assert.deepEqual(await refused("GET / HTTP/1.1", HOST, "hOST: y"), [400, "invalid_request", "Host"]);
  const authorization = "Authorization: Bearer a";
  assert.deepEqual(await refused(get("/"), authorization, authorization), [
    400,
    "invalid_request",
    "Authorization",
  ]);
  assert.equal((await ask("GET / HTTP/1.0")).status, 200);
  // Headers with names as long as that one may come as often as they like.
  assert.equal((await ask(get("/", "Date: a", "Date: b", "X: Host", authorization))).status, 200);
});

test("of what a client may expect, only 100-continue is understood", async (context) => {
  const { ask, open } = await serveRoutes(context, [routeAt("/", () => ({}))]);
  assert.deepEqual(refusedParam(await ask(get("/", "Expect: more"))), [400, "invalid_request", "Expect"]);
  const replies = await repliesOf(open(`${get("/", "Expect: 100-Continue")}\r\n\r\n`), 2);
  assert.deepEqual(fieldsOf(replies, "status"), [100, 200]);
});

test("who calls is checked first, then the query, and a page takes any query", async () => {
  const seen: string[] = [];
  const handle = () => {
    seen.push("handled");
    return {};
  };
  const { ask } = dispatchRoutes(
    [
      routeAt("/secret", handle, { access: "key", method: "POST" }),
      routeAt("/open", handle),
      routeAt("/page", handle, { access: "page" }),
    ],
    {
      access: {
        key: () => {
          throw new Failure("missing_key", "No key was sent.");
        },
      },
    },
  );
  const { status, headers, json } = await ask(post("/secret?a=1&a=2", "{"), "{");
  assert.deepEqual([status, json.code], [401, "missing_key"]);
  assert.equal(headers["www-authenticate"], 'Bearer realm="sideband"');
  assert.deepEqual(refusedParam(await ask(get("/open?a=1&a=2"))), [400, "invalid_request", "a"]);
  assert.deepEqual(seen, []);
  assert.equal((await ask(get("/page?a=1&a=2"))).status, 200);
});

test("a check of access that takes its time is waited for", async () => {
  const { ask } = dispatchRoutes(
    [routeAt("/", ({ caller }) => ({ account: caller?.account }), { access: "key" })],
    {
      access: {
        key: async (call) => {
          await new Promise(setImmediate);
          call.caller = CALLER;
        },
      },
    },
  );
  assert.deepEqual((await ask(get("/"))).json, { account: "acme" });
});

test("bodies are read where a route takes one, and left where it does not", async () => {
  const bodyIn = async ({ body, request }: Call) => {
    if (body !== undefined) return { body };
    let text = "";
    for await (const chunk of request) text += chunk;
    return { text };
  };
  const { ask, places } = dispatchRoutes(
    [
      routeAt("/", bodyIn),
      routeAt("/", bodyIn, { method: "POST" }),
      routeAt("/stream", bodyIn, { method: "POST", bodyBytesMax: "stream" }),
      routeAt("/keyed", bodyIn, { method: "POST", access: "key" }),
    ],
    { access: withCaller(() => CALLER) },
  );
  assert.deepEqual((await ask(post("/", '{"a":1}'), '{"a":1}')).json, { body: { a: 1 } });
  assert.deepEqual((await ask(post("/keyed", "[1]"), "[1]")).json, { body: [1] });
  assert.deepEqual((await ask(post("/stream", '{"a":1}'), '{"a":1}')).json, { text: '{"a":1}' });
  assert.deepEqual(places, [
    { account: ":open", address: "127.0.0.1" },
    { account: "acme", address: "127.0.0.1" },
  ]);
  for (const method of ["GET", "HEAD"]) {
    const head = post("/", '{"a":1}').replace("POST", method);
    assert.deepEqual((await ask(head, '{"a":1}')).json, { text: '{"a":1}' });
  }
  assert.equal(places.length, 2);
});

test("what was sent is checked before the handler: path, query, body", async () => {
  const faults: Record<string, { param: string; fault: string } | undefined> = {};
  const validator = (name: string) => () => faults[name];
  const { ask } = dispatchRoutes([
    routeAt("/users/:id", ({ body }) => ({ body }), {
      method: "POST",
      params: validator("params"),
      query: validator("query"),
      body: validator("body"),
    }),
  ]);
  const detail = async () => {
    const { json } = await ask(post("/users/ada", "[]"), "[]");
    return [json.detail, json.param];
  };
  faults.body = { param: "", fault: "must be object" };
  assert.deepEqual(await detail(), ["The body must be a JSON object.", undefined]);
  faults.body = { param: "facts[2].label", fault: "must be string" };
  assert.deepEqual(await detail(), ["facts[2].label must be string.", "facts[2].label"]);
  faults.query = { param: "", fault: "must be object" };
  assert.deepEqual(await detail(), ["The query is not valid.", undefined]);
  faults.params = { param: "", fault: "must be object" };
  assert.deepEqual(await detail(), ["The address is not valid.", undefined]);
  for (const name of Object.keys(faults)) faults[name] = undefined;
  assert.deepEqual((await ask(post("/users/ada", "[]"), "[]")).json, { body: [] });
});

test("the rights of a key are checked before what was sent, and fill in its user", async () => {
  const rights = { about: "user", writes: true, userIn: "body" } as const;
  let caller: Caller = { ...CALLER, user: "ada" };
  const { ask } = dispatchRoutes(
    [
      routeAt("/", ({ body }) => ({ body }), {
        method: "POST",
        access: "key",
        rights,
        body: (body) =>
          (body as { user_id?: string }).user_id === undefined
            ? { param: "user_id", fault: "is required" }
            : undefined,
      }),
    ],
    { access: withCaller(() => caller) },
  );
  assert.deepEqual((await ask(post("/", "{}"), "{}")).json, { body: { user_id: "ada" } });
  caller = { ...CALLER, access: "read" };
  assert.deepEqual((await ask(post("/", "{}"), "{}")).json.code, "read_only_key");
});

test("a handler answers with JSON or an Answer, at once or later", async () => {
  const teapot = () => new Answer("short", { status: 418, type: "text/plain", headers: ["x-own", "yes"] });
  const { ask, countOf } = dispatchRoutes([
    routeAt("/json", () => ({ at: "once" })),
    routeAt("/json-later", async () => ({ at: "later" })),
    routeAt("/answer", teapot),
    routeAt("/answer-later", async () => teapot()),
  ]);
  const json = await ask(get("/json"));
  assert.deepEqual(
    [json.status, json.headers["content-type"], json.json],
    [200, "application/json; charset=utf-8", { at: "once" }],
  );
  assert.deepEqual((await ask(get("/json-later"))).json, { at: "later" });
  for (const path of ["/answer", "/answer-later"]) {
    const { status, text, headers } = await ask(get(path));
    assert.deepEqual([status, text, headers["x-own"]], [418, "short", "yes"]);
    assert.equal(countOf(`method="GET",route="${path}",status="418"`), 1);
  }
});

test("what a handler throws is a problem; what nobody expected is logged and says nothing", async () => {
  const expected = () => {
    throw new Failure("unknown_label", "There is no such label.", { param: "label" });
  };
  const unexpected = () => {
    throw new Error("the password is 1234");
  };
  const { ask, errors, recentErrors, recentRequests, countOf } = dispatchRoutes(
    [
      routeAt("/expected", expected),
      routeAt("/expected-later", async () => expected()),
      routeAt("/unexpected", unexpected),
      routeAt("/unexpected-later", async () => unexpected(), { access: "key" }),
    ],
    { access: withCaller(() => CALLER) },
  );
  for (const path of ["/expected", "/expected-later"])
    assert.deepEqual(refusedParam(await ask(get(path))), [400, "unknown_label", "label"]);
  assert.deepEqual([errors, recentErrors()], [[], []]);
  for (const path of ["/unexpected", "/unexpected-later"]) {
    const { status, text, json } = await ask(get(path, "X-Request-Id: one"));
    assert.deepEqual([status, json.code, json.request_id], [500, "internal_error", "one"]);
    assert.ok(!text.includes("1234"));
    assert.equal(countOf(`method="GET",route="${path}",status="500"`), 1);
  }
  assert.deepEqual(fieldsOf(errors, "message"), ["unexpected error", "unexpected error"]);
  const noted = { at: new Date(NOW_MS).toISOString(), method: "GET", status: 500, request_id: "one" };
  assert.deepEqual(recentErrors(), [
    { ...noted, route: "/unexpected-later", code: "internal_error" },
    { ...noted, route: "/unexpected", code: "internal_error" },
  ]);
  assert.deepEqual(recentRequests(), [{ ...noted, route: "/unexpected-later", account: "acme" }]);
});

test("a request has the id that it brings, where that is harmless, else one of its own", async () => {
  const { ask } = dispatchRoutes([routeAt("/", ({ id }) => ({ id }))]);
  const idOf = async (...headers: string[]) => {
    const { headers: answered, json } = await ask(get("/", ...headers));
    assert.equal(answered["x-request-id"], json.id);
    return json.id as string;
  };
  const long = "a-Z_0.".repeat(11).slice(0, 64);
  assert.equal(await idOf(`X-Request-Id: ${long}`), long);
  const given = [`${long}x`, "a b", "é", ""].map((id) => `X-Request-Id: ${id}`);
  const made = [await idOf(), await idOf()];
  for (const header of given) made.push(await idOf(header));
  made.push(await idOf("X-Request-Id: a", "X-Request-Id: b"));
  const [start] = made[0].split(/-\w$/);
  assert.match(start, /^[\w-]{8}$/);
  assert.deepEqual(
    made,
    made.map((_, i) => `${start}-${i + 1}`),
  );
});

test("an address without a route is a problem, a page for a browser, or the way to one", async () => {
  const notFoundPages = {
    page: new Answer("nothing", { status: 404, type: "text/html" }),
    redirectFor: (path: string) =>
      path === "/doc" ? new Answer(undefined, { status: 302, headers: ["location", "/docs"] }) : undefined,
  };
  const website = dispatchRoutes([], { notFoundPages });
  const html = "Accept: text/html";
  const looked = async (head: string) => {
    const { status, headers } = await website.ask(head);
    return [status, headers["content-type"], headers.vary];
  };
  const problem = "application/problem+json; charset=utf-8";
  assert.equal((await website.ask(get("/doc"))).headers.location, "/docs");
  assert.equal((await website.ask(`HEAD /doc HTTP/1.1\r\n${HOST}`)).status, 302);
  assert.deepEqual(await looked(`DELETE /doc HTTP/1.1\r\n${HOST}`), [404, problem, "accept"]);
  assert.deepEqual(await looked(get("/nowhere", html)), [404, "text/html", "accept"]);
  assert.deepEqual(await looked(get("/nowhere")), [404, problem, "accept"]);
  const bare = dispatchRoutes([]);
  const { status, headers, json } = await bare.ask(get("/nowhere", html));
  assert.deepEqual([status, headers["content-type"], json.code], [404, problem, "not_found"]);
});

test("the room of a body is given back with the answer", async (context) => {
  const answers = ["/now", "/failing"].map(() => later<object>());
  const stream = new Readable({ read() {} });
  const { ask, open, bodyBytes } = await serveRoutes(context, [
    routeAt("/now", () => answers[0].promise, { method: "POST" }),
    routeAt("/failing", () => answers[1].promise.then(() => Promise.reject(new Error("broken"))), {
      method: "POST",
    }),
    routeAt("/stream", () => new Answer(stream), { method: "POST" }),
  ]);
  for (const [i, path] of ["/now", "/failing"].entries()) {
    const reply = ask(post(path, "[1,2]"), "[1,2]");
    await until(() => bodyBytes() > 0);
    answers[i].resolve({});
    await reply;
    assert.equal(bodyBytes(), 0);
  }
  const socket = open(`${post("/stream", "[1,2]")}\r\n\r\n[1,2]`);
  await once(socket, "data");
  assert.ok(bodyBytes() > 0, "the stream may need the body");
  stream.push(null);
  await until(() => bodyBytes() === 0);
});

test("an answer that cannot be sent is logged, and its connection cut", async (context) => {
  const broken = new Answer("", { headers: ["x-broken", "a\nb"] });
  const { open, errors, bodyBytes } = await serveRoutes(context, [
    routeAt("/now", () => broken),
    routeAt("/later", async () => broken, { method: "POST" }),
  ]);
  const cut = (text: string) => untilEnd(open(text)).catch((error) => error.code);
  assert.ok(["", "ECONNRESET"].includes(await cut(`${get("/now")}\r\n\r\n`)));
  assert.ok(["", "ECONNRESET"].includes(await cut(`${post("/later", "[1]")}\r\n\r\n[1]`)));
  assert.deepEqual(fieldsOf(errors, "message"), [
    "an answer could not be sent",
    "an answer could not be sent",
  ]);
  assert.equal(bodyBytes(), 0);
});
