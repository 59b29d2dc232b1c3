/** Requests of one connection run in their order, a few of them are read ahead, and none is for a connection that is gone. */

import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";
import { text } from "node:stream/consumers";
import type { TestContext } from "node:test";
import {
  afterAnswers,
  isAnswered,
  isLast,
  serveInOrder,
  unusedMs,
  WAITING_MAX,
} from "../../../src/http/request/pipelining.ts";
import { until } from "../../fixtures/waiting.ts";
import { takeResume, test } from "./served-routes.ts";

const get = (path: string | number) => `GET /${path} HTTP/1.1\r\nHost: x\r\n\r\n`;
const gets = (count: number) => Array.from({ length: count }, (_, i) => get(i)).join("");

interface Served {
  /** Requests that Node has made of what it has read. */
  readonly read: () => number;
  open(bytes: string): Socket;
}

async function serve(context: TestContext, handle: RequestListener, pauses = true): Promise<Served> {
  const server = createServer();
  const refuse = (error: Error) => assert.fail(error.message);
  assert.equal(serveInOrder(server, handle, refuse), pauses);
  let read = 0;
  server.on("request", () => {
    read += 1;
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  context.after(() => {
    server.close();
    server.closeAllConnections();
  });
  const { port } = server.address() as AddressInfo;
  return {
    read: () => read,
    open: (bytes) => {
      const socket = connect(port, "127.0.0.1").setEncoding("latin1");
      socket.write(bytes);
      return socket;
    },
  };
}

/** A whole answer, of the function below. */
const ANSWER = /[^<]*\r\n\r\n<([^>]*)>/g;

/** The bodies of so many answers. */
async function answersOf(socket: Socket, count: number): Promise<string[]> {
  const answers: string[] = [];
  let rest = "";
  for await (const chunk of socket) {
    rest += chunk;
    answers.push(...Array.from(rest.matchAll(ANSWER), ([, body]) => body));
    rest = rest.replace(ANSWER, "");
    if (answers.length >= count) return answers;
  }
  return assert.fail(`the connection ended after ${answers.length} answers: ${rest}`);
}

function answer(response: ServerResponse, body: string): void {
  response.writeHead(200, { "content-length": body.length + 2 }).end(`<${body}>`);
}

/** A few turns of the event loop, in which what is wrongly done would be done. */
async function turns(count = 20): Promise<void> {
  for (let i = 0; i < count; i++) await new Promise(setImmediate);
}

test("a request begins when the one before it on its connection has been answered", async (context) => {
  let running = 0;
  const { open } = await serve(context, async ({ url }, response) => {
    running += 1;
    assert.equal(running, 1, "one at a time");
    await turns(1 + Math.floor(Math.random() * 3));
    running -= 1;
    answer(response, url!);
  });
  const paths = Array.from({ length: 40 }, (_, i) => `/${i}`);
  assert.deepEqual(await answersOf(open(gets(40)), 40), paths);
});

test("of thousands of requests in one piece a few are read, and the rest as they are answered", async (context) => {
  let first: ServerResponse | undefined;
  const { open, read } = await serve(context, (_request, response) => {
    if (first === undefined) first = response;
    else answer(response, "");
  });
  const answers = answersOf(open(gets(1_900)), 1_900);
  await until(() => read() > WAITING_MAX);
  await turns();
  assert.equal(read(), WAITING_MAX + 1);
  answer(first!, "");
  assert.equal((await answers).length, 1_900);
  assert.equal(read(), 1_900);
});

test("bodies come to their requests, whatever they look like and wherever they are cut", async (context) => {
  const { open } = await serve(context, async (request, response) => {
    answer(response, `${request.url} ${(await text(request)).length}`);
  });
  const requests = Array.from({ length: 600 }, (_, i) => {
    const body = get("inner").repeat((i % 7) * 30);
    if (i % 3 === 0) return { bytes: get(i), expected: `/${i} 0` };
    const head = `POST /${i} HTTP/1.1\r\nHost: x\r\n`;
    const whole = `${head}Content-Length: ${body.length}\r\n\r\n${body}`;
    if (i % 3 === 1) return { bytes: whole, expected: `/${i} ${body.length}` };
    const chunks = ["abc", body, "d"].filter((chunk) => chunk !== "");
    const coded = chunks.map((chunk) => `${chunk.length.toString(16)}\r\n${chunk}\r\n`).join("");
    const bytes = `${head}Transfer-Encoding: chunked\r\n\r\n${coded}0\r\n\r\n`;
    return { bytes, expected: `/${i} ${body.length + 4}` };
  });
  const answers = await answersOf(open(requests.map(({ bytes }) => bytes).join("")), requests.length);
  assert.deepEqual(
    answers,
    requests.map(({ expected }) => expected),
  );
});

test("a body that comes slowly behind other requests is read to its end", async (context) => {
  const { open } = await serve(context, async (request, response) => {
    answer(response, await text(request));
  });
  const socket = open(`${gets(30)}POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\n`);
  const answers = answersOf(socket, 32);
  for (const byte of "abc") {
    await turns();
    socket.write(byte);
  }
  socket.write(get("last"));
  assert.equal((await answers)[30], "abc");
});

test("no request begins for a connection that is gone", async (context) => {
  let begun = 0;
  let first: ServerResponse | undefined;
  let message: IncomingMessage | undefined;
  const { open, read } = await serve(context, (request, response) => {
    begun += 1;
    message = request;
    first ??= response;
  });
  const socket = open(gets(5));
  await until(() => read() >= 5);
  assert.equal(isAnswered(message!.socket), false);
  assert.equal(isLast(first!), false);
  const gone = once(first!, "close");
  socket.destroy();
  await gone;
  await turns();
  assert.equal(begun, 1);
});

test("no request begins for a connection that is lost between its turn and its beginning", async (context) => {
  const begun: (string | undefined)[] = [];
  const server = createServer();
  serveInOrder(
    server,
    ({ url }, response) => {
      begun.push(url);
      answer(response, url!);
    },
    (error) => assert.fail(error.message),
  );
  const lost = new Promise<void>((resolve) => {
    server.on("request", ({ url, socket }, response) => {
      // It has the connection, and begins in the next turn of the event loop.
      if (url === "/1") response.once("socket", () => resolve(void socket.destroy()));
    });
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  context.after(() => {
    server.close();
    server.closeAllConnections();
  });
  const socket = connect((server.address() as AddressInfo).port, "127.0.0.1").resume();
  socket.on("error", () => {});
  socket.write(gets(3));
  await lost;
  await turns();
  assert.deepEqual(begun, ["/0"]);
});

test("a client that hangs up on thousands of requests leaves only those behind that were read", async (context) => {
  let begun = 0;
  let go = () => {};
  const { open } = await serve(context, (_request, response) => {
    begun += 1;
    if (begun > 1) answer(response, "");
    else go = () => answer(response, "");
  });
  const socket = open(gets(1_900));
  await until(() => begun > 0);
  socket.destroy();
  await once(socket, "close");
  go();
  await turns(200);
  assert.ok(begun <= WAITING_MAX + 1, `${begun} were worked on`);
});

test("between two requests of a connection the others have their turn", async (context) => {
  const order: string[] = [];
  const { open } = await serve(context, ({ url }, response) => {
    order.push(url!);
    answer(response, url!);
  });
  const many = answersOf(open(gets(1_000)), 1_000);
  await until(() => order.length > 0);
  await answersOf(open(get("other")), 1);
  assert.ok(order.indexOf("/other") < 1_000, "it had to wait for all of them");
  await many;
});

test("a request behind a stream waits for its end, and goes with the connection", async (context) => {
  const streams: ServerResponse[] = [];
  const { open, read } = await serve(context, ({ url }, response) => {
    if (url === "/stream") {
      streams.push(response);
      response.writeHead(200).write("event");
    } else answer(response, url!);
  });
  const patient = open(get("stream") + get("behind"));
  const hasty = open(get("stream") + get("behind"));
  await until(() => read() >= 4);
  await turns();
  const hastyIndex = streams.findIndex(({ req }) => req.socket.remotePort === hasty.localPort);
  const gone = once(streams[hastyIndex], "close");
  hasty.destroy();
  await gone;
  streams[1 - hastyIndex].end();
  assert.deepEqual(await answersOf(patient, 1), ["/behind"]);
});

test("reading stops with a full queue, and goes on when half of it is done", async (context) => {
  const running: ServerResponse[] = [];
  const { open, read } = await serve(context, (_request, response) => void running.push(response));
  const answers = answersOf(open(gets(24)), 24);
  const answerOne = async () => {
    await until(() => running.length > 0);
    answer(running.shift()!, "");
    await turns();
  };
  await until(() => read() > WAITING_MAX);
  for (let answered = 1; answered < WAITING_MAX / 2; answered++) {
    await answerOne();
    assert.equal(read(), WAITING_MAX + 1);
  }
  await answerOne();
  await until(() => read() > WAITING_MAX * 1.5);
  assert.equal(read(), WAITING_MAX * 1.5 + 1);
  for (let answered = WAITING_MAX / 2; answered < 24; answered++) await answerOne();
  assert.equal((await answers).length, 24);
});

test("what comes behind a request that waits is read when its turn comes, in several pieces or in one", async (context) => {
  const { open } = await serve(context, ({ url }, response) => answer(response, url!));
  const socket = open("");
  const answers = answersOf(socket, 60);
  for (let i = 0; i < 60; i += 20) {
    socket.write(gets(20));
    await turns(3);
  }
  const paths = Array.from({ length: 20 }, (_, i) => `/${i}`);
  assert.deepEqual(await answers, [...paths, ...paths, ...paths]);
});

test("a request with a strange expectation has its turn like any other", async (context) => {
  const { open } = await serve(context, ({ headers }, response) => answer(response, headers.expect ?? ""));
  const strange = "GET / HTTP/1.1\r\nHost: x\r\nExpect: more\r\n\r\n";
  assert.deepEqual(await answersOf(open(get(1) + strange + get(2)), 3), ["", "more", ""]);
});

test("what is no request goes to whoever refuses it", async () => {
  const server = createServer();
  const refused = new Promise<string | undefined>((resolve) =>
    serveInOrder(
      server,
      () => assert.fail("no request came"),
      (error, socket) => {
        socket.destroy();
        resolve(error.code);
      },
    ),
  );
  await once(server.listen(0, "127.0.0.1"), "listening");
  connect((server.address() as AddressInfo).port, "127.0.0.1").end("nonsense\r\n\r\n");
  assert.match((await refused)!, /^HPE_INVALID/);
  server.close();
});

/** A connection whose requests run until the test answers them, or until they are answered at once. */
async function connectionWith(context: TestContext, bytes: string, begun: number, atOnce?: string) {
  const running: ServerResponse[] = [];
  const { open, read } = await serve(context, (request, response) => {
    running.push(response);
    if (request.url === atOnce) answer(response, "");
  });
  open(bytes);
  await until(() => read() >= begun && running.length > 0);
  await turns();
  return { running, connection: running[0].req.socket };
}

const HALF = "POST /half HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\nhalf";

/** What `afterAnswers` has said, once it has. */
function afterAnswersOf(connection: Socket): boolean[] {
  const said: boolean[] = [];
  afterAnswers(connection, (isAnsweredToo) => void said.push(isAnsweredToo));
  return said;
}

test("a connection without a request, and one whose answers were sent, has nothing to wait for", async (context) => {
  const socket = connect(1);
  socket.on("error", () => {});
  assert.deepEqual([isAnswered(socket), afterAnswersOf(socket)], [true, [false]]);
  const { running, connection } = await connectionWith(context, get(1), 1);
  assert.deepEqual([isAnswered(connection), isLast(running[0])], [false, true]);
  answer(running[0], "");
  await once(running[0], "close");
  assert.deepEqual([isAnswered(connection), afterAnswersOf(connection)], [true, [false]]);
});

test("whole requests are waited for until their answers have been sent", async (context) => {
  const { running, connection } = await connectionWith(context, get(1) + get(2), 2);
  const said = afterAnswersOf(connection);
  answer(running[0], "");
  await until(() => running.length > 1);
  assert.deepEqual(said, []);
  answer(running[1], "");
  await once(running[1], "close");
  assert.deepEqual(said, [false]);
});

test("a request whose body will not come is not waited for, unless its answer has begun", async (context) => {
  const silent = await connectionWith(context, HALF, 1);
  assert.deepEqual(afterAnswersOf(silent.connection), [false]);
  const { running, connection } = await connectionWith(context, HALF, 1);
  running[0].writeHead(400).write("why");
  const said = afterAnswersOf(connection);
  assert.deepEqual(said, []);
  running[0].end();
  await once(running[0], "close");
  assert.deepEqual(said, [true]);
});

test("a request whose body will not come may be refused without it when its turn comes", async (context) => {
  for (const refuses of [true, false]) {
    const bytes = get(1) + HALF;
    const { running, connection } = await connectionWith(context, bytes, 2, refuses ? "/half" : undefined);
    const said = afterAnswersOf(connection);
    assert.deepEqual(said, []);
    answer(running[0], "");
    await until(() => said.length > 0);
    assert.deepEqual([said, running.length], [[refuses], 2]);
  }
});

test("where Node's parser cannot be paused, a piece is read whole, answered one by one, and the next one waits", async (context) => {
  const running: ServerResponse[] = [];
  const giveBack = takeResume();
  const { open, read } = await serve(context, (_request, response) => void running.push(response), false);
  giveBack();
  const socket = open(gets(20));
  const answers = answersOf(socket, 40);
  await until(() => read() === 20);
  socket.write(gets(20));
  await turns();
  assert.deepEqual([running.length, read()], [1, 20]);
  for (let answered = 0; answered < 40; answered++) {
    await until(() => running.length > 0);
    assert.equal(running.length, 1, "one at a time");
    answer(running.shift()!, "");
  }
  assert.equal((await answers).length, 40);
});

test("a connection is unused from when it was opened or its last answer had been sent, also one that is read slowly", async (context) => {
  let nowMs = 0;
  context.mock.method(performance, "now", () => nowMs);
  let sent: ServerResponse | undefined;
  const { open } = await serve(context, (_request, response) => {
    sent = response;
    response.end(Buffer.alloc(2 ** 24));
  });
  const socket = open(get("")).pause();
  await until(() => sent !== undefined);
  const connection = sent!.req.socket;
  nowMs = 1_000;
  assert.ok(!isAnswered(connection), "more than the system keeps for a reader");
  assert.equal(unusedMs(connection), 1_000);
  socket.resume();
  await until(() => isAnswered(connection));
  assert.equal(unusedMs(connection), 0);
  nowMs = 2_000;
  assert.equal(unusedMs(connection), 1_000);
});
