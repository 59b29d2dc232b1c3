/** What becomes of a connection with the answer to its request, and of a request whose sender has gone. */

import assert from "node:assert/strict";
import { once } from "node:events";
import { Readable } from "node:stream";
import { test } from "node:test";
import { Failure } from "../../../src/base/errors.ts";
import { Answer } from "../../../src/http/request/answer.ts";
import type { Call } from "../../../src/http/request/call.ts";
import { repliesOf, routeAt, serveRoutes, until } from "./served-routes.ts";

const TIMEOUT = { timeout: 20_000 };
const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`;
const post = (...headers: string[]) =>
  ["POST / HTTP/1.1", "Host: x", "Content-Type: application/json", ...headers, "", ""].join("\r\n");
const KEPT = "keep-alive";

test(
  "a connection is kept, but not behind the rest of a body that is too large or has no end",
  TIMEOUT,
  async (context) => {
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
  },
);

test(
  "when the service stops, a connection ends with the answer to the last request on it",
  TIMEOUT,
  async (context) => {
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
  },
);

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
  test(name, TIMEOUT, async (context) => {
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
    assert.deepEqual(
      errors.map(({ message }) => message),
      logged,
    );
    assert.deepEqual([recentErrors(), call!.response.headersSent], [[], false]);
    for (const status of [200, 500]) assert.equal(countOf(`method="POST",route="/",status="${status}"`), 0);
  });
}

test(
  "a sender who goes in the middle of a body is no fault, and its room is given back",
  TIMEOUT,
  async (context) => {
    const { open, errors, bodyBytes } = await serveRoutes(context, [
      routeAt("/", () => ({}), { method: "POST" }),
    ]);
    const socket = open(`${post("Content-Length: 9")}[1`);
    await until(() => bodyBytes() > 0);
    socket.destroy();
    await until(() => bodyBytes() === 0);
    assert.deepEqual(errors, []);
  },
);

test(
  "the room of a body is given back when a stream's reader goes, and when nobody is there to read it",
  TIMEOUT,
  async (context) => {
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
        await once(call!.response, "close");
      }
      go(new Answer(body));
      if (!goesBefore) {
        await once(socket, "data");
        socket.destroy();
      }
      await until(() => bodyBytes() === 0 && body.destroyed);
    }
  },
);
