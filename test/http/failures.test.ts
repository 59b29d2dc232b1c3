/** What a service does when something inside it fails or when it stops: what it answers, what it logs, what it does not try. */

import assert from "node:assert/strict";
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { type TestContext, test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { Failure } from "../../src/base/errors.ts";
import { endAfter } from "../fixtures/ends.ts";
import { problemCode, type Running, startRunning } from "./running-service.ts";

const BODY = { user_id: "ada", label: "USER.name", value: "Ada" };

/** Without the reader: nothing here reads a block. */
async function start(t: TestContext): Promise<Running> {
  const running = endAfter(t, await startRunning({}, undefined, { warm: false }));
  return running;
}

test("an internal error is a 500 without a word of its cause, which is in the log with the id of the request", async (t) => {
  const running = await start(t);
  t.mock.method(running.service.core.store, "readFact", async () => {
    throw new Error("cannot open /secret/place");
  });
  const answer = await running.call("GET", "/decode?user_id=ada&label=USER.name");
  assert.equal(problemCode(answer), "500 internal_error");
  assert.doesNotMatch(answer.text, /secret/);
  assert.doesNotMatch(JSON.stringify([...answer.headers]), /secret/);
  const logged = running.logs.find((line) => line.includes("cannot open /secret/place"));
  assert.equal(JSON.parse(logged!).request_id, answer.json.request_id);
});

test("over MCP, too, an internal error is told by tool, resource and prompt without its cause, which is in the log", async (t) => {
  const running = await start(t);
  for (const read of ["readFact", "readUser"] as const)
    t.mock.method(running.service.core.store, read, async () => {
      throw Object.assign(new Error("cannot open /secret/place"), { code: "EIO" });
    });
  for (const [method, params] of [
    ["tools/call", { name: "recall", arguments: { label: "USER.name" } }],
    ["resources/read", { uri: "sideband://memory/ada" }],
    ["prompts/get", { name: "context" }],
  ] as const) {
    running.logs.length = 0;
    const answer = await running.call("POST", "/mcp?user_id=ada", {
      body: { jsonrpc: "2.0", id: 1, method, params },
      headers: { accept: "application/json, text/event-stream", "mcp-protocol-version": "2025-06-18" },
    });
    assert.match(answer.text, /Something went wrong inside the service/);
    assert.doesNotMatch(answer.text, /secret/);
    const logged = running.logs.find((line) => line.includes("cannot open /secret/place"));
    assert.equal(JSON.parse(logged!).request_id, answer.headers.get("x-request-id"));
  }
});

/** Sends a text, and hangs up once the service has the request and `begun` has come; resolves when the service has noticed. */
async function hangUp({ url }: Running, text: string, begun?: Promise<void>): Promise<void> {
  const { hostname, port } = new URL(url);
  const client = connect(Number(port), hostname);
  const connection = await new Promise<Socket>((resolve) => {
    const started = (message: unknown) => {
      unsubscribe("http.server.request.start", started);
      resolve((message as { socket: Socket }).socket);
    };
    subscribe("http.server.request.start", started);
    client.write(text);
  });
  await begun;
  const closed = once(connection, "close");
  client.destroy();
  await closed;
  await setImmediate();
}

const errorsOf = ({ logs }: Running) =>
  logs.map((line) => JSON.parse(line)).filter(({ level }) => level >= 50);

test("an internal error is in the log although the sender has hung up, and a refusal is not", async (t) => {
  const running = await start(t);
  const head = `HTTP/1.1\r\nHost: x\r\nX-Request-Id: gone\r\nAuthorization: Bearer ${running.key}\r\n\r\n`;
  for (const error of [new Error("cannot open /secret/place"), new Failure("not_found", "There is none.")]) {
    let fail = () => {};
    const begun = new Promise<void>((resolve) => {
      t.mock.method(running.service.core.store, "readFact", () => {
        resolve();
        return new Promise<never>((_found, reject) => {
          fail = () => reject(error);
        });
      });
    });
    await hangUp(running, `GET /decode?user_id=ada&label=USER.name ${head}`, begun);
    fail();
    await setImmediate();
  }
  assert.deepEqual(
    errorsOf(running).map(({ err, request_id }) => [err.message, request_id]),
    [["cannot open /secret/place", "gone"]],
  );
});

test("a sender that hangs up is no error in the log, neither in its body nor while it waits for a block", async (t) => {
  const running = await start(t);
  const head = `HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${running.key}\r\n`;
  await hangUp(
    running,
    `POST /encode ${head}Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{"user_id":`,
  );
  await running.call("POST", "/encode", { body: BODY });
  const begun = new Promise<void>((resolve) => {
    t.mock.method(running.service.core.store, "readUser", () => {
      resolve();
      return new Promise(() => {});
    });
  });
  await hangUp(running, `GET /context?user_id=ada ${head}\r\n`, begun);
  assert.deepEqual(errorsOf(running), []);
});

test("a service whose store cannot be written to is not ready", async (t) => {
  const running = await start(t);
  t.mock.method(running.service.core.store, "probe", async () => {
    throw new Failure("store_unavailable", "The store cannot be written to.");
  });
  const answer = await running.call("GET", "/readyz", { key: null });
  assert.equal(problemCode(answer), "503 store_unavailable");
  assert.equal(answer.json.detail, "The service is not ready. The store cannot be written to.");
});

test("whatever a probe fails with, its text is that of a probe: nobody has a write to repeat", async (t) => {
  for (const error of [
    new Failure("outcome_unknown", "Send the same request again with the same Idempotency-Key."),
    new Error("column f.weight does not exist"),
  ]) {
    const running = await start(t);
    t.mock.method(running.service.core.store, "probe", async () => {
      throw error;
    });
    const answer = await running.call("GET", "/readyz", { key: null });
    assert.equal(problemCode(answer), "503 store_unavailable");
    assert.equal(answer.json.detail, "The service is not ready. A read or a write of its own failed.");
  }
});

test("a service whose reader's threads keep failing is not ready", async (t) => {
  const running = await start(t);
  t.mock.getter(running.service.core.blockWork, "healthy", () => false);
  assert.equal(problemCode(await running.call("GET", "/readyz", { key: null })), "503 overloaded");
});

test("a request writes once, also when the write fails", async (t) => {
  const running = await start(t);
  const { store } = running.service.core;
  const writes = t.mock.method(store, "write");
  assert.equal((await running.call("POST", "/encode", { body: BODY })).status, 200);
  assert.equal(writes.mock.callCount(), 1);
  writes.mock.mockImplementation(async () => {
    throw new Failure("store_unavailable", "The store cannot be written to.");
  });
  const refused = await running.call("POST", "/encode", { body: BODY });
  assert.deepEqual([problemCode(refused), writes.mock.callCount()], ["503 store_unavailable", 2]);
});

test("an answer of a service that stops ends its connection", async (t) => {
  const running = await startRunning({}, undefined, { warm: false });
  let answer = () => {};
  const asked = new Promise<void>((resolve) => {
    t.mock.method(running.service.core.store, "readFact", () => {
      resolve();
      return new Promise<undefined>((found) => {
        answer = () => found(undefined);
      });
    });
  });
  const { hostname, port } = new URL(running.url);
  const socket = connect(Number(port), hostname).setEncoding("latin1");
  socket.write(
    `GET /decode?user_id=ada&label=USER.name HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${running.key}\r\n\r\n`,
  );
  await asked;
  const ended = running.end();
  answer();
  let text = "";
  for await (const chunk of socket) text += chunk;
  await ended;
  assert.match(text, /^HTTP\/1.1 404 .*^connection: close\r$/ims);
});
