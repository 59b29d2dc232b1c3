/** What becomes of a connection with the answer to its request, and of a request whose sender has gone. */

import assert from "node:assert/strict";
import { once } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import { Readable } from "node:stream";
import { Failure } from "../../../src/base/errors.ts";
import { Metrics } from "../../../src/base/metrics.ts";
import { Answer } from "../../../src/http/request/answer.ts";
import { ANSWERS, ByteBudget } from "../../../src/http/request/byte-budget.ts";
import type { Call } from "../../../src/http/request/call.ts";
import type { Route } from "../../../src/http/request/route.ts";
import { eventRoutes } from "../../../src/http/routes/events.ts";
import type { HttpServices } from "../../../src/http/services.ts";
import { type EventMessage, UserEvents } from "../../../src/memory/events.ts";
import { fieldsOf } from "../../fixtures/fields.ts";
import { until } from "../../fixtures/waiting.ts";
import { repliesOf, routeAt, serveRoutes, test, untilEnd } from "./served-routes.ts";

const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`;
const post = (...headers: string[]) =>
  ["POST / HTTP/1.1", "Host: x", "Content-Type: application/json", ...headers, "", ""].join("\r\n");
const KEPT = "keep-alive";

test("a connection is kept, but not behind the rest of a body that is too large or has no end", async (context) => {
  const early = () => {
    throw new Failure("invalid_request", "At once.");
  };
  const { open } = await serveRoutes(context, [
    routeAt("/", ({ body }) => ({ body }), { method: "POST", bodyBytesMax: 10 }),
    routeAt("/early", early, { method: "POST", bodyBytesMax: "stream" }),
  ]);
  const connectionAfter = async (bytes: string) => {
    const [{ status, headers }] = await repliesOf(open(bytes), 1);
    return [status, headers.connection];
  };
  const chunked = "Transfer-Encoding: chunked";
  const refused = (...headers: string[]) => post(...headers).replace("POST /", "POST /early");
  assert.deepEqual(await connectionAfter(`${post("Content-Length: 3")}[1]`), [200, KEPT]);
  assert.deepEqual(await connectionAfter(`${post(chunked)}3\r\n[1]\r\n0\r\n\r\n`), [200, KEPT]);
  assert.deepEqual(await connectionAfter(`${post("Content-Length: 11")}`), [413, "close"]);
  assert.deepEqual(await connectionAfter(`${post(chunked)}b\r\n[1,2,3,4,5]\r\n`), [413, "close"]);
  assert.deepEqual(await connectionAfter(`${refused(chunked)}3\r\n[1]\r\n`), [400, "close"]);
  assert.deepEqual(await connectionAfter(refused("Content-Length: 9")), [400, KEPT]);
  assert.deepEqual(await connectionAfter(`${refused("Content-Length: 3")}[1]`), [400, KEPT]);
});

test("when the service stops, a connection ends with the answer to the last request on it", async (context) => {
  let go: ((value: object) => void) | undefined;
  const { dispatcher, open } = await serveRoutes(context, [
    routeAt("/first", () => new Promise((resolve) => (go = resolve))),
    routeAt("/last", () => ({})),
  ]);
  const begun = dispatcher.closing;
  const socket = open(get("/last"));
  assert.equal((await repliesOf(socket, 1))[0].headers.connection, KEPT);
  socket.write(get("/first") + get("/last"));
  const replies = repliesOf(socket, 2);
  // Both have come: they are written in one piece.
  await until(() => go !== undefined);
  dispatcher.closing = true;
  go!({});
  const [first, last] = await replies;
  assert.deepEqual([begun, first.headers.connection, last.headers.connection], [false, KEPT, "close"]);
});

for (const { name, fail, logged } of [
  {
    name: "work that ends because its sender has gone is no fault",
    fail: ({ signal }: Call) => signal.reason,
    logged: [],
  },
  {
    name: "what else fails when its sender has gone is logged",
    fail: () => new Error("broken"),
    logged: ["unexpected error"],
  },
]) {
  test(name, async (context) => {
    let call: Call | undefined;
    const { open, errors, countOf, recentErrors, bodyBytes } = await serveRoutes(context, [
      routeAt(
        "/",
        (given: Call) => {
          call = given;
          return new Promise((_, reject) =>
            given.signal.addEventListener("abort", () => reject(fail(given))),
          );
        },
        { method: "POST" },
      ),
    ]);
    const socket = open(`${post("Content-Length: 3")}[1]`);
    await until(() => call !== undefined);
    socket.destroy();
    await until(() => bodyBytes() === 0);
    await new Promise(setImmediate);
    assert.deepEqual(fieldsOf(errors, "message"), logged);
    assert.deepEqual([recentErrors(), (call!.end as ServerResponse).headersSent], [[], false]);
    for (const status of [200, 500]) assert.equal(countOf(`method="POST",route="/",status="${status}"`), 0);
  });
}

test("a sender who goes in the middle of a body is no fault, and its room is given back", async (context) => {
  const { open, errors, bodyBytes } = await serveRoutes(context, [
    routeAt("/", () => ({}), { method: "POST" }),
  ]);
  const socket = open(`${post("Content-Length: 9")}[1`);
  await until(() => bodyBytes() > 0);
  socket.destroy();
  await until(() => bodyBytes() === 0);
  assert.deepEqual(errors, []);
});

test("the room of a body is given back when a stream's reader goes, and when nobody is there to read it", async (context) => {
  let call: Call | undefined;
  let go: (answer: Answer) => void = () => {};
  const { open, bodyBytes } = await serveRoutes(context, [
    routeAt(
      "/",
      (given) => {
        call = given;
        return new Promise((resolve) => (go = resolve));
      },
      { method: "POST" },
    ),
  ]);
  for (const goesBefore of [false, true]) {
    call = undefined;
    const socket = open(`${post("Content-Length: 3")}[1]`);
    await until(() => call !== undefined);
    const body = new Readable({ read() {} });
    if (goesBefore) {
      socket.destroy();
      await once(call!.end as ServerResponse, "close");
    }
    go(new Answer(body));
    if (!goesBefore) {
      await once(socket, "data");
      socket.destroy();
    }
    await until(() => bodyBytes() === 0 && body.destroyed);
  }
});

test("long answers that are not read have a bounded part of memory, and give it back with their connection", async (context) => {
  const long = "x".repeat(20_000_000);
  const routes = [routeAt("/long", () => new Answer(long)), routeAt("/short", () => ({ is: "short" }))];
  const { open, ask, answerBytes } = await serveRoutes(context, routes, { answerBytesMax: 8_000_000 });
  const unread = open("").pause();
  unread.write(get("/long"));
  await until(() => answerBytes() > 0);
  assert.equal(answerBytes(), 1_000_000, "what is larger than a share takes all of it");
  const refused = await ask("GET /long HTTP/1.1\r\nHost: x");
  assert.deepEqual(
    [refused.status, refused.json.code, refused.headers["retry-after"]],
    [503, "overloaded", "1"],
  );
  assert.match(refused.json.detail, /from this address that were not yet read/);
  assert.equal((await ask("GET /short HTTP/1.1\r\nHost: x")).status, 200);
  unread.destroy();
  await until(() => answerBytes() === 0);
  const read = await untilEnd(open(get("/long").replace("\r\n\r\n", "\r\nConnection: close\r\n\r\n")));
  assert.ok(read.endsWith(`\r\n\r\n${long}`));
  await until(() => answerBytes() === 0);
});

test("an answer that nobody is there for any more is not counted", async (context) => {
  let answered = 0;
  const handle = async ({ request, end }: Call) => {
    const closed = once(end as ServerResponse, "close");
    (request as IncomingMessage).socket.destroy();
    await closed;
    setImmediate(() => {
      answered += 1;
    });
    return new Answer("x".repeat(100_000));
  };
  const { open, answerBytes } = await serveRoutes(context, [routeAt("/", handle)]);
  open(get("/"));
  await until(() => answered === 1);
  assert.equal(answerBytes(), 0);
});

test("events that wait for a reader count, and one for whom there is no room is let go", async (context) => {
  let tell: (account: string, heard: EventMessage) => void = () => {};
  const events = new UserEvents({
    start: (listener) => {
      tell = listener;
    },
    begin: async () => {},
    end() {},
    after: async () => undefined,
    close() {},
  });
  const event = {
    userId: "ada",
    place: "",
    kind: "written",
    atMs: 0,
    revision: 1,
    writtenBy: null,
  } as const;
  const tellMany = (count: number) => {
    for (let number = 1; number <= count; number++)
      tell("acme", { id: String(number), number, event: { ...event, label: "USER.name" } });
  };
  const budget = new ByteBudget(new Metrics(), { ...ANSWERS, bytesMax: 800_000 });
  const services = { authentication: { watch: () => () => {} } };
  const { events: handle } = eventRoutes(services as unknown as HttpServices, budget);
  const access = {
    open: (call: Call) => {
      call.caller = { account: "acme" } as Call["caller"];
      call.memory = { events } as unknown as Call["memory"];
    },
  };
  const { open } = await serveRoutes(context, [routeAt("/events", handle as Route["handle"])], { access });
  const reader = open(get("/events"));
  await until(() => reader.bytesRead > 0);
  const other = budget.holdingFor("other", "127.0.0.1");
  tellMany(300);
  assert.throws(() => other.take(95_000), { code: "overloaded" }, "they have not been sent yet");
  other.take(20_000);
  const gone = once(reader.resume(), "close");
  tellMany(1_000);
  await gone;
  other.take(80_000);
});
