/** Connections of clumsy and hostile clients: whatever one of them does, the others are served and nothing stays behind. */

import assert from "node:assert/strict";
import { once } from "node:events";
import { rmSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { LABELS } from "../../src/base/channel-labels.ts";
import { doorPath } from "../../src/door-client/private-folder.ts";
import { endAfter } from "../fixtures/ends.ts";
import { later, until } from "../fixtures/waiting.ts";
import { takeResume } from "../unit/http/served-routes.ts";
import { type Running, sharedRunning, startRunning } from "./running-service.ts";

const running = sharedRunning();

/** A stop looks for connections without a request so often. */
const SWEEP_MS = 50;
const HOST = "Host: x\r\n";
const CLOSE = `${HOST}Connection: close\r\n\r\n`;
const CONNECT = `CONNECT a:1 HTTP/1.1\r\n${HOST}\r\n`;

test("a client that hangs up on the answer to CONNECT ends no process, and one that stays is let go", async () => {
  for (let i = 0; i < 20; i++) {
    const socket = open();
    socket.write(CONNECT, () => socket.resetAndDestroy());
    await once(socket, "close");
  }
  const stays = open();
  stays.write(CONNECT);
  await once(stays.resume(), "end");
  await until(() => connections() === 0);
  stays.destroy();
});

test("an address may come with its scheme and host, as to a proxy", async () => {
  for (const target of ["http://x/healthz", "HTTPS://x:1/v1/healthz?a=1"])
    assert.match(await answerTo(`GET ${target} HTTP/1.1\r\n${CLOSE}`), /^HTTP\/1.1 200 .*"ok"}$/s, target);
  for (const target of ["http://x/nowhere", "ftp://x/healthz"])
    assert.match(await answerTo(`GET ${target} HTTP/1.1\r\n${CLOSE}`), /^HTTP\/1.1 404 /, target);
});

test("a strange expectation is refused in its turn, and the connection goes on", async () => {
  const odd = `GET /healthz HTTP/1.1\r\n${HOST}Expect: miracles\r\n\r\n`;
  const plain = `GET /healthz HTTP/1.1\r\n`;
  const text = await answerTo(`${plain}${HOST}\r\n${odd}${plain}${CLOSE}`);
  assert.deepEqual(text.match(/HTTP\/1.1 \d+/g), ["HTTP/1.1 200", "HTTP/1.1 400", "HTTP/1.1 200"]);
  assert.match(text, /"param":"Expect"/);
});

test("what is no HTTP is answered after the requests before it, and they have their own answers", async () => {
  const first = (path: string) => `GET ${path} HTTP/1.1\r\n${HOST}X-Request-Id: first\r\n\r\n`;
  const large = `GET /x HTTP/1.1\r\n${HOST}long: ${"x".repeat(20_000)}\r\n\r\n`;
  const chunked = `${HOST}Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n`;
  const key = `Authorization: Bearer ${running.key}\r\n`;
  for (const [broken, statuses] of [
    ["nonsense\r\n\r\n", [200, 400]],
    [large, [200, 431]],
    [`POST /encode HTTP/1.1\r\n${key}${chunked}`, [200, 400]],
    // Refused before its body is looked at: that is its answer.
    [`POST /encode HTTP/1.1\r\n${chunked}`, [200, 401]],
  ] as const) {
    // The first is answered at once, or after a write to the store.
    for (const path of ["/healthz", "/readyz"]) {
      const text = await answerTo(first(path) + broken);
      const found = [...text.matchAll(/HTTP\/1.1 (\d+)/g)].map(([, status]) => Number(status));
      assert.deepEqual(found, statuses, `${path} ${broken.slice(0, 100)}`);
      assert.match(text, /^HTTP\/1.1 200 [^{]*x-request-id: first\r\n/i);
    }
  }
});

test("a body without a length that is refused is not read to its end: the connection ends with the answer", async () => {
  const head = `POST /read HTTP/1.1\r\n${HOST}Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n`;
  const byte = "1\r\n1\r\n";
  for (const [bytes, status] of [
    [`${head}\r\n${byte}`, 401],
    [`${head}Authorization: Bearer ${running.key}\r\n\r\n${byte.repeat(4_001)}`, 413],
  ] as const)
    assert.match(await answerTo(bytes), new RegExp(`^HTTP/1.1 ${status} .*\r\nconnection: close\r\n`, "is"));
});

test("requests of one connection take effect in their order, on the port and at the door", async () => {
  const head = (line: string) => `${line} HTTP/1.1\r\n${HOST}Authorization: Bearer ${running.key}\r\n`;
  const body = '{"user_id":"in-order","label":"USER.name","value":"Ada"}';
  const encode = `${head("POST /encode")}Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
  const forget = `${head("DELETE /facts?user_id=in-order&label=USER.name")}\r\n`;
  const last = `${head("GET /facts?user_id=in-order")}Connection: close\r\n\r\n`;
  const door = process.env.TEST_STORE === "postgres" ? [] : [connect(doorPath(running.folder))];
  for (const socket of [open(), ...door]) {
    const text = await answerTo((encode + forget).repeat(10) + last, socket);
    assert.deepEqual(text.match(/HTTP\/1.1 \d+/g), new Array(21).fill("HTTP/1.1 200"));
    assert.match(text, /"facts":\[\]/);
  }
});

test("where Node's parser cannot be paused, the log says so, and requests in one piece are answered in their order", async (context) => {
  const giveBack = takeResume();
  const plain = endAfter(context, await startRunning({}, undefined, { warm: false }).finally(giveBack));
  assert.match(plain.logs.join(""), /The HTTP parser of this Node cannot be paused/);
  const paths = ["/healthz", "/readyz", "/nowhere"].flatMap((path) => new Array<string>(10).fill(path));
  const requests = paths.map((path) => `GET ${path} HTTP/1.1\r\n${HOST}\r\n`);
  const text = await answerTo(`${requests.join("")}GET /healthz HTTP/1.1\r\n${CLOSE}`, plain.url);
  const statuses = [...text.matchAll(/HTTP\/1.1 (\d+)/g)].map(([, status]) => status);
  assert.deepEqual(statuses, [...new Array(20).fill("200"), ...new Array(10).fill("404"), "200"]);
  assert.doesNotMatch(running.logs.join(""), /parser/);
});

test("stopping sends every answer that is being made, and one alone on its connection says that it ends", async () => {
  const stopping = await startRunning();
  const { store } = stopping.service.core;
  let asked = 0;
  const probe = later();
  store.probe = () => {
    asked += 1;
    return probe.promise;
  };
  const ready = `GET /readyz HTTP/1.1\r\n${HOST}\r\n`;
  const one = answerTo(ready, stopping.url);
  const several = answerTo(ready.repeat(3), stopping.url);
  await until(() => connections(stopping) === 2 && asked > 0);
  const ended = stopping.end();
  probe.resolve();
  assert.match(await one, /^HTTP\/1.1 200 .*\r\nconnection: close\r\n/is);
  assert.equal((await several).match(/HTTP\/1.1 200 /g)?.length, 3);
  await ended;
});

test("stopping waits for no connection without a request: silent, kept alive, with half a head", async () => {
  const stopping = await startRunning({ SIDEBAND_SHUTDOWN_S: "60" }, undefined, { warm: false });
  const kept = open(stopping.url);
  kept.write(`GET /healthz HTTP/1.1\r\n${HOST}\r\n`);
  await once(kept, "data");
  const next = open(stopping.url);
  next.write(`GET /healthz HTTP/1.1\r\n${HOST}\r\n`);
  await once(next, "data");
  next.write("GET /heal");
  const half = open(stopping.url);
  half.write("GET /heal");
  const local = process.env.TEST_STORE === "postgres" ? [] : [connect(doorPath(stopping.folder))];
  const sockets = [open(stopping.url), kept, next, half, ...local];
  await until(() => connections(stopping) === 4);
  const startMs = performance.now();
  const closed = sockets.map((socket) =>
    once(
      socket.resume().on("error", () => {}),
      "close",
    ),
  );
  for (const socket of sockets) socket.once("end", () => socket.end());
  await stopping.end();
  const tookMs = performance.now() - startMs;
  await Promise.all(closed);
  assert.ok(tookMs < 30_000, `it took ${tookMs} ms of the 60 s that requests have`);
});

test("stopping answers what comes on a connection that was just used, and says that it ends; one that comes back for a stream is not waited for", async () => {
  const stopping = await startRunning({ SIDEBAND_SHUTDOWN_S: "60" }, undefined, { warm: false });
  const request = (path: string) =>
    `GET ${path} HTTP/1.1\r\n${HOST}Authorization: Bearer ${stopping.key}\r\n\r\n`;
  const sockets = await Promise.all(
    ["/healthz", "/users/events"].map(async (path) => {
      const socket = open(stopping.url).setEncoding("latin1");
      socket.write(request("/healthz"));
      assert.match(String((await once(socket, "data"))[0]), /\r\nconnection: keep-alive\r\n/i);
      return { path, socket };
    }),
  );
  // A machine that stands still must not end the time in which they may be used.
  const closed = stopping.service.close(60_000);
  await sleep(5 * SWEEP_MS);
  const answers = sockets.map(({ path, socket }) => answerTo(request(path), socket));
  for (const answer of await Promise.all(answers))
    assert.match(answer, /^HTTP\/1.1 200 .*\r\nconnection: close\r\n/is);
  await assert.rejects(once(open(stopping.url), "connect"), { code: "ECONNREFUSED" });
  await closed;
  rmSync(stopping.folder, { recursive: true });
});

test("stopping keeps a connection no longer than it may be unused", async () => {
  const stopping = await startRunning({ SIDEBAND_SHUTDOWN_S: "60" }, undefined, { warm: false });
  const socket = open(stopping.url);
  socket.write(`GET /healthz HTTP/1.1\r\n${HOST}\r\n`);
  await once(socket, "data");
  const startMs = performance.now();
  const ended = once(socket.resume(), "end");
  await stopping.service.close(1);
  await ended;
  socket.destroy();
  assert.ok(performance.now() - startMs < 30_000, "of the 60 s that requests have");
  rmSync(stopping.folder, { recursive: true });
});

const MIB = 2 ** 20;
/** What is never sent to its end is too late soon. */
const SHORT = { headMs: 500, bodyMs: 200, slowBodyMs: 10_000, answerMs: 800, checkMs: 50 };

test("a head or a body that does not come in time is answered 408, and the connection ends", async (context) => {
  const hasty = endAfter(context, await startRunning({}, undefined, { warm: false, timeouts: SHORT }));
  const post = `POST /encode HTTP/1.1\r\n${HOST}Authorization: Bearer ${hasty.key}\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{"user`;
  for (const bytes of ["", "GET /heal", post])
    assert.match(await answerTo(bytes, hasty.url), /^HTTP\/1.1 408 .*"request_timeout"/s, bytes);
});

test("a client that takes nothing of its answer loses its connection, and one that waits for an answer keeps it", async (context) => {
  const hasty = endAfter(
    context,
    await startRunning({}, undefined, { warm: false, timeouts: { ...SHORT, headMs: 60_000 } }),
  );
  const idle = open(hasty.url);
  // More than the buffers of both sides hold.
  const large = `GET /openapi.json HTTP/1.1\r\n${HOST}\r\n`;
  idle.pause();
  idle.write(large.repeat(400));
  await until(() => connections(hasty) === 1);
  await until(() => connections(hasty) === 0);
  idle.destroy();
  const probe = later();
  hasty.service.core.store.probe = () => probe.promise;
  const waiting = answerTo(`GET /readyz HTTP/1.1\r\n${CLOSE}`, hasty.url);
  await sleep(3 * SHORT.answerMs);
  probe.resolve();
  assert.match(await waiting, /^HTTP\/1.1 200 /);
});

test("one address has its limit of connections, and a trusted proxy has none", async () => {
  for (const [proxy, admitted] of [
    ["", 5],
    ["127.0.0.1", 8],
  ] as const) {
    const settings = { SIDEBAND_CONNECTIONS_PER_ADDRESS: "5", SIDEBAND_TRUST_PROXY: proxy };
    const limited = await startRunning(settings, undefined, { warm: false });
    try {
      const sockets = Array.from({ length: 8 }, () => open(limited.url).setEncoding("latin1"));
      const answers = await Promise.all(
        sockets.map(async (socket) => {
          socket.write(`GET /healthz HTTP/1.1\r\n${HOST}\r\n`);
          return String((await once(socket, "data"))[0]).slice(9, 12);
        }),
      );
      assert.equal(answers.filter((status) => status === "200").length, admitted);
      assert.equal(answers.filter((status) => status === "429").length, 8 - admitted);
      for (const socket of sockets) socket.destroy();
    } finally {
      await limited.end();
    }
  }
});

test("bodies have bounded room, for an account and for an address; what is over is 503, and what has gone gives it back", async (context) => {
  const roomy = await startRunning({ SIDEBAND_TRUST_PROXY: "1" }, undefined, { warm: false });
  const other = await roomy.newKey("other");
  const head = (from: string, key: string) =>
    `POST /read HTTP/1.1\r\n${HOST}X-Forwarded-For: 192.0.2.${from}\r\nAuthorization: Bearer ${key}\r\nContent-Type: application/json\r\n`;
  const announce = (from: string, key = roomy.key) => `${head(from, key)}Content-Length: ${MIB}\r\n`;
  const ALMOST = "x".repeat(MIB - 1);
  const sockets: Socket[] = [];
  const hold = async (request: string, count: number) => {
    const bytes = bodyBytes(roomy);
    for (let i = 0; i < count; i++) {
      const socket = open(roomy.url);
      sockets.push(socket);
      socket.write(request);
    }
    await until(() => bodyBytes(roomy) === bytes + count * MIB);
  };
  const refusal = async (request: string) => {
    const text = await answerTo(`${request}Connection: close\r\n\r\n{`, roomy.url);
    assert.match(text, /^HTTP\/1.1 503 .*\r\nretry-after: 1\r\n.*"code":"overloaded"/is);
    return /of this account|from this address/.exec(text)?.[0];
  };
  context.after(() => {
    for (const socket of sockets) socket.destroy();
    return roomy.end();
  });
  await hold(`${announce("1")}\r\n${ALMOST}`, 8);
  assert.equal(await refusal(announce("1")), "from this address");
  assert.equal(await refusal(announce("1", other)), "from this address");
  await hold(`${announce("2")}Expect: 100-continue\r\n\r\n${ALMOST}`, 8);
  assert.equal(await refusal(announce("3")), "of this account");
  const chunked = `${head("3", roomy.key)}Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n5\r\n{"a":\r\n`;
  assert.match(await answerTo(chunked, roomy.url), /^HTTP\/1.1 503 /);
  const body = { user_id: "ada", block: "no block" };
  const headers = { "x-forwarded-for": "192.0.2.3" };
  assert.equal((await roomy.call("POST", "/read", { key: other, body, headers })).status, 422);
  for (const socket of sockets) socket.destroy();
  await until(() => bodyBytes(roomy) === 0);
  assert.equal((await roomy.call("POST", "/read", { body, headers })).status, 422);
});

test("a body that is only announced takes no room from others, of the same account and address", async () => {
  const sockets = Array.from({ length: 100 }, () => open());
  try {
    const announced = `POST /read HTTP/1.1\r\n${HOST}Authorization: Bearer ${running.key}\r\nContent-Type: application/json\r\nContent-Length: ${MIB}\r\n\r\n{`;
    for (const socket of sockets) socket.write(announced);
    await until(() => connections() >= 100 && bodyBytes() > 0);
    await until(() => bodyBytes() === 100 * 4_096);
    const body = { user_id: "ada", block: "no block".repeat(10_000) };
    assert.equal((await running.call("POST", "/read", { body })).status, 422);
  } finally {
    for (const socket of sockets) socket.destroy();
  }
  await until(() => bodyBytes() === 0);
});

test("a body that comes too slowly is answered 408, which says so, and the connection ends", async (context) => {
  const timeouts = { ...SHORT, headMs: 60_000, bodyMs: 60_000, slowBodyMs: 300 };
  const strict = await startRunning({}, undefined, { warm: false, timeouts });
  const slow = `POST /demo/read HTTP/1.1\r\n${HOST}Content-Type: application/json\r\nContent-Length: 9999\r\n\r\n{`;
  const socket = open(strict.url);
  const drip = setInterval(() => socket.write(" "), 20);
  context.after(() => {
    clearInterval(drip);
    return strict.end();
  });
  const answer = await answerTo(slow, socket);
  assert.match(answer, /^HTTP\/1.1 408 .*slower than 1 KiB a second\."/s);
  assert.match(answer, /\r\nconnection: close\r\n/i);
  await until(() => bodyBytes(strict) === 0);
});

/** So many that the service has too much of theirs, even where the system takes all but the last piece of each. */
const READERS = 80;

/** Gives the user "heavy" an export of 10 MB. */
async function fillHeavy({ service }: Running): Promise<void> {
  const value = "v".repeat(1_000);
  for (let i = 0; i < 240; i++) {
    const place = `project-${i}`;
    const changes = LABELS.map((label) => ({
      place,
      label,
      value: `${i} ${label} ${value}`,
      updatedAtMs: 1,
      expiresAtMs: null,
    }));
    const write = { account: "acme", userId: "heavy", changes, places: [place], nowMs: 1 };
    assert.equal((await service.core.store.write(write)).outcome, "stored");
  }
}

test("readers that do not read hold no more than their share, and lose it with their connection", async (context) => {
  // The work of many exports delays heads that have come.
  const timeouts = { ...SHORT, headMs: 60_000, answerMs: 8_000 };
  const patient = await startRunning({}, undefined, { warm: false, timeouts });
  const exported = `GET /users/export?user_id=heavy HTTP/1.1\r\n${HOST}Authorization: Bearer ${patient.key}\r\n`;
  const counted = (status: number) =>
    patient.service.core.metrics.value(
      "sideband_requests_total",
      `method="GET",route="/users/export",status="${status}"`,
    ) ?? 0;
  const sockets: Socket[] = [];
  context.after(() => {
    for (const socket of sockets) socket.destroy();
    return patient.end();
  });
  await fillHeavy(patient);
  // All are made at the same time: on a busy machine the first would have little left when the last begins.
  const { store } = patient.service.core;
  const places = await store.listPlaces("acme", "heavy");
  const allHaveCome = later<undefined>();
  const listing = context.mock.method(store, "listPlaces", () => allHaveCome.promise.then(() => places));
  for (let i = 0; i < READERS; i++) {
    const socket = open(patient.url).pause();
    sockets.push(socket);
    socket.on("error", () => {});
    socket.write(`${exported}\r\n`);
  }
  await until(() => listing.mock.callCount() === READERS);
  allHaveCome.resolve(undefined);
  await until(() => counted(200) + counted(503) === READERS);
  const heldBytes = answerBytes(patient);
  assert.ok(heldBytes > 0 && heldBytes <= 16 * MIB, `${heldBytes}`);
  assert.ok(counted(503) > 0 && counted(200) > 0, `${counted(200)} were let in, ${heldBytes} held`);
  assert.equal((await patient.call("GET", "/facts?user_id=ada")).status, 200);
  // The rule for a connection that stands still ends them, without anything of theirs.
  await until(() => answerBytes(patient) === 0);
  for (const socket of sockets) socket.destroy();
  const whole = await answerTo(`${exported}Connection: close\r\n\r\n`, patient.url);
  assert.match(whole, /^HTTP\/1.1 200 /);
  assert.ok(whole.length > 9_500_000 && whole.endsWith("\r\n0\r\n\r\n"));
  assert.equal(answerBytes(patient), 0);
});

test("a body has its room until its request is answered", async (context) => {
  const read = later<undefined>();
  const reading = context.mock.method(running.service.core.store, "readUser", () => read.promise);
  const flushed = running.call("POST", "/flush", { body: { user_id: "ada" } });
  try {
    await until(() => reading.mock.callCount() > 0);
    assert.ok(bodyBytes() >= '{"user_id":"ada"}'.length);
  } finally {
    read.resolve(undefined);
  }
  assert.equal((await flushed).status, 200);
  assert.equal(bodyBytes(), 0);
});

test("a body that does not come in time has its room no longer", async (context) => {
  const hasty = endAfter(context, await startRunning({}, undefined, { warm: false, timeouts: SHORT }));
  const slow = `POST /demo/read HTTP/1.1\r\n${HOST}Content-Type: application/json\r\nContent-Length: 9999\r\n\r\n{`;
  assert.match(await answerTo(slow, hasty.url), /^HTTP\/1.1 408 /);
  await until(() => bodyBytes(hasty) === 0);
});

/** Everything that comes back until the service closes. */
async function answerTo(bytes: string, to: string | Socket = running.url): Promise<string> {
  const socket = (typeof to === "string" ? open(to) : to).setEncoding("latin1");
  socket.setTimeout(30_000, () => socket.destroy(new Error("no end of the answer")));
  socket.write(bytes);
  let text = "";
  for await (const chunk of socket) text += chunk;
  // Node 24 leaves it half open.
  socket.destroy();
  return text;
}

function open(url = running.url): Socket {
  const { hostname, port } = new URL(url);
  return connect({ host: hostname, port: Number(port), allowHalfOpen: true });
}

const connections = (service = running) => metric(service, "sideband_connections");
const answerBytes = (service = running) => metric(service, "sideband_answer_bytes");
const bodyBytes = (service = running) => metric(service, "sideband_body_bytes");

function metric({ service }: Running, name: string): number {
  return service.core.metrics.value(name);
}
