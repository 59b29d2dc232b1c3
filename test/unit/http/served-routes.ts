/** A dispatcher with a few routes, alone or behind a real server, and clients that send heads and bytes as they are. */

import { EventEmitter, once } from "node:events";
import { createServer } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";
import { Duplex, Readable } from "node:stream";
import { test as nodeTest, type TestContext } from "node:test";
import { Metrics } from "../../../src/base/metrics.ts";
import { ANSWERS, BODIES, ByteBudget } from "../../../src/http/request/byte-budget.ts";
import { clientReader } from "../../../src/http/request/client.ts";
import { Dispatcher, type NotFoundPages } from "../../../src/http/request/dispatcher.ts";
import { serveInOrder } from "../../../src/http/request/pipelining.ts";
import { CallHistory } from "../../../src/http/request/recent-calls.ts";
import { RequestMetrics } from "../../../src/http/request/request-metrics.ts";
import type { AccessChecks, Route } from "../../../src/http/request/route.ts";
import { Router } from "../../../src/http/request/router.ts";
import type { HttpServices } from "../../../src/http/services.ts";

/** A test with connections: it fails where one is never answered. */
export function test(name: string, run: (context: TestContext) => Promise<void>): void {
  nodeTest(name, { timeout: 60_000 }, run);
}

export const NOW_MS = Date.UTC(2026, 10, 17);

export interface Reply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: the tests look at answers of any shape.
  readonly json: any;
}

export interface ServedOptions {
  readonly access?: Partial<AccessChecks>;
  readonly notFoundPages?: NotFoundPages;
  readonly bodyBytesMax?: number;
  readonly answerBytesMax?: number;
  readonly slowBodyMs?: number;
}

/** A route that takes everything, but for what the test says. */
export function routeAt(path: string, handle: Route["handle"], more: Partial<Route> = {}): Route {
  return { method: "GET", path, access: "open", bodyBytesMax: 1_000, handle, ...more };
}

/** Without a connection. */
export function dispatchRoutes(
  routes: readonly Route[],
  {
    access = {},
    notFoundPages,
    bodyBytesMax = BODIES.bytesMax,
    answerBytesMax = ANSWERS.bytesMax,
    slowBodyMs = 10_000,
  }: ServedOptions = {},
) {
  const errors: { line: object; message: string }[] = [];
  const log = {
    info() {},
    debug() {},
    error: (line: object, message: string) => void errors.push({ line, message }),
    isLevelEnabled: () => false,
  };
  const metrics = new Metrics();
  const services = { log, metrics, clock: { now: () => NOW_MS }, upgradeUrl: "https://pay.example" };
  const passes = new Proxy(access, { get: (checks, name) => Reflect.get(checks, name) ?? (() => {}) });
  const recent = new CallHistory();
  const places: { account: string; address: string }[] = [];
  const bodies = new ByteBudget(metrics, { ...BODIES, bytesMax: bodyBytesMax });
  const answers = new ByteBudget(metrics, { ...ANSWERS, bytesMax: answerBytesMax });
  const dispatcher = new Dispatcher({
    services: services as unknown as HttpServices,
    router: new Router(routes),
    access: passes as AccessChecks,
    bodies: {
      holdingFor: (account: string, address: string) => {
        places.push({ account, address });
        return bodies.holdingFor(account, address);
      },
    } as ByteBudget,
    answers,
    slowBodyMs,
    clientOf: clientReader(() => false),
    metrics: new RequestMetrics({ metrics, log }),
    recent,
    notFoundPages,
  });
  return {
    dispatcher,
    errors,
    places,
    /** Sends a head and a body. */
    ask: (head: string, body = "") => dispatched(dispatcher, head, body),
    answerBytes: () => metrics.value("sideband_answer_bytes"),
    bodyBytes: () => metrics.value("sideband_body_bytes"),
    countOf: (labels: string) => metrics.value("sideband_requests_total", labels),
    recentErrors: () => recent.errors.list((code) => ({ code })),
    recentRequests: () => recent.requests.list(({ account }) => ({ account })),
  };
}

/** The answer to a head and a body that come over no connection. */
async function dispatched(dispatcher: Dispatcher, head: string, body: string): Promise<Reply> {
  const [first, ...lines] = head.split("\r\n");
  const [method, url, version] = first.split(" ");
  const rawHeaders = lines.flatMap((line) => line.split(/: ?(.*)/s).slice(0, 2));
  const end = Object.assign(new EventEmitter(), { destroyed: false, writableEnded: false });
  const socket = { remoteAddress: "127.0.0.1", destroyed: false };
  const about = { method, url, httpVersion: version.slice(5), headers: headersOf(lines), rawHeaders, socket };
  const answer = await dispatcher.dispatch(Object.assign(Readable.from([Buffer.from(body)]), about), end);
  end.emit("close");
  const { status, headers: pairs, body: answered = "" } = answer!;
  const headers = Object.fromEntries(pairs.flatMap((name, i) => (i % 2 ? [] : [[name, pairs[i + 1]]])));
  return replyOf(status, headers, String(answered));
}

/** Of a name that comes twice the first counts, but for x-request-id: its values are joined. */
function headersOf(lines: readonly string[]) {
  const headers: Record<string, string | undefined> = {};
  for (const line of lines) {
    const name = line.slice(0, line.indexOf(":")).toLowerCase();
    const value = line.slice(line.indexOf(":") + 2);
    if (name === "x-request-id" && name in headers) headers[name] += `, ${value}`;
    else headers[name] ??= value;
  }
  return headers;
}

function replyOf(status: number, headers: Reply["headers"], text: string): Reply {
  const json = /json/.test(headers["content-type"] ?? "") && text !== "" ? JSON.parse(text) : undefined;
  return { status, headers, text, json };
}

/** Behind a server. */
export async function serveRoutes(
  context: TestContext,
  routes: readonly Route[],
  options: ServedOptions = {},
) {
  const dispatching = dispatchRoutes(routes, options);
  const server = createServer({ requireHostHeader: false });
  serveInOrder(server, dispatching.dispatcher.handle, (_error, socket) => socket.destroy());
  await once(server.listen(0, "127.0.0.1"), "listening");
  context.after(() => {
    server.close();
    server.closeAllConnections();
  });
  const open = (bytes: string) => {
    const socket = connect((server.address() as AddressInfo).port, "127.0.0.1").setEncoding("utf8");
    context.after(() => socket.destroy());
    socket.write(bytes);
    return socket;
  };
  return { ...dispatching, open };
}

/** The first answers on a connection, which have a length or no body. */
export async function repliesOf(socket: Socket, count: number): Promise<Reply[]> {
  const replies: Reply[] = [];
  let rest = "";
  for await (const chunk of socket.iterator({ destroyOnReturn: false })) {
    rest += chunk;
    for (let end = rest.indexOf("\r\n\r\n"); end >= 0; end = rest.indexOf("\r\n\r\n")) {
      const [first, ...lines] = rest.slice(0, end).split("\r\n");
      const headers = headersOf(lines);
      const after = rest.slice(end + 4);
      const length = Number(headers["content-length"] ?? 0);
      if (Buffer.byteLength(after) < length) break;
      const text = Buffer.from(after).toString("utf8", 0, length);
      rest = after.slice(text.length);
      replies.push(replyOf(Number(first.split(" ")[1]), headers, text));
      if (replies.length === count) return replies;
    }
  }
  throw new Error(`the connection ended after ${replies.length} of ${count} answers`);
}

/** The whole of what came on a connection until it ended. */
export async function untilEnd(socket: Socket): Promise<string> {
  let text = "";
  for await (const chunk of socket) text += chunk;
  return text;
}

/** Takes from Node's parser what reads on after a pause. @returns gives it back */
export function takeResume(): () => void {
  const socket = new Duplex({ read() {} }) as Duplex & { readonly parser: object };
  createServer().emit("connection", socket);
  const { prototype } = socket.parser.constructor as { prototype: { resume: unknown } };
  socket.destroy();
  const { resume } = prototype;
  prototype.resume = undefined;
  return () => Object.assign(prototype, { resume });
}
