/**
 * Requests of one connection run one after the other, as RFC 9112, 9.3.2 wants it: one begins when the answer before
 * it has been sent, and after the other connections had their turn. A few may wait; what is behind them is not read.
 * None begins for a connection that is gone.
 *
 * Node keeps the order of answers itself and gives each its socket in turn: that is the queue. But it makes a request of
 * all that has come in one piece, which is thousands of them in 64 KiB. Its parser stops after a head when the listener
 * for it returns the code for a pause. It reports the pause as an error of the client, with the bytes that are left;
 * they go back into the socket, which is read on when there is room. These are inner parts of Node, which are tried
 * first: without them a piece that has come waits as a whole.
 */

import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
} from "node:http";
import type { Socket } from "node:net";
import { Duplex } from "node:stream";

/** How many requests wait behind the one that runs. */
export const WAITING_MAX = 8;
/** HPE_PAUSED of llhttp. */
const PAUSE = 21;

/** What Node has at a socket of its HTTP server. */
interface Parser {
  onIncoming: (request: IncomingMessage, keepAlive: boolean) => number;
  resume(): void;
}
type ParsedSocket = Socket & { readonly parser: Parser };

interface ClientError extends NodeJS.ErrnoException {
  readonly rawPacket?: Buffer;
  readonly bytesParsed?: number;
}

interface Pipeline {
  /** The answer to the request that came last. */
  latest: ServerResponse | undefined;
  waiting: number;
  isHeld: boolean;
  /** When it was opened, or an answer was last given to it. */
  usedMs: number;
}

const connections = new WeakMap<Socket, Pipeline>();

/**
 * @param refuse answers what Node could not parse as a request
 * @returns whether a piece is read no further than its requests have room
 */
export function serveInOrder(
  server: Server,
  handle: RequestListener,
  refuse: (error: ClientError, socket: Socket) => void,
): boolean {
  const pauses = canPause();
  const take: RequestListener = (request, response) => {
    const { socket } = request;
    const connection = connections.get(socket)!;
    connection.latest = response;
    if (response.socket !== null) return handle(request, response);
    connection.waiting += 1;
    if (!pauses && connection.waiting === WAITING_MAX) {
      connection.isHeld = true;
      // Behind the piece: Node reads on after each request that is in it.
      process.nextTick(() => socket.pause());
    }
    const begin = () => {
      connection.waiting -= 1;
      if (connection.isHeld && connection.waiting <= WAITING_MAX / 2) {
        connection.isHeld = false;
        socket.resume();
      }
      if (!socket.destroyed) handle(request, response);
    };
    response.once("socket", () => setImmediate(begin));
  };
  server.on("connection", (socket: ParsedSocket) => {
    const connection: Pipeline = { latest: undefined, waiting: 0, isHeld: false, usedMs: performance.now() };
    connections.set(socket, connection);
    if (pauses) pauseWhere(socket.parser, () => connection.waiting >= WAITING_MAX);
  });
  server.on("request", take);
  server.on("checkExpectation", take);
  server.on("clientError", (error: ClientError, socket: ParsedSocket) => {
    if (error.code === "HPE_PAUSED") hold(error, socket);
    else refuse(error, socket);
  });
  return pauses;
}

function pauseWhere(parser: Parser, isFull: () => boolean): void {
  const { onIncoming } = parser;
  parser.onIncoming = (request, keepAlive) => {
    const code = onIncoming(request, keepAlive);
    return code === 0 && isFull() ? PAUSE : code;
  };
}

/** Whether this Node's parser stops after a head, and goes on with the bytes that are left. */
function canPause(): boolean {
  const urls: (string | undefined)[] = [];
  const server = createServer(({ url }) => void urls.push(url));
  let rest: Buffer = Buffer.alloc(0);
  server.on("clientError", ({ code, rawPacket, bytesParsed }: ClientError) => {
    if (code === "HPE_PAUSED") rest = rawPacket!.subarray(bytesParsed);
  });
  const socket = new Duplex({ read() {}, write: (_chunk, _encoding, done) => done() });
  server.emit("connection", socket);
  try {
    const { parser } = socket as unknown as ParsedSocket;
    pauseWhere(parser, () => urls.length === 1);
    socket.emit(
      "data",
      Buffer.from(["/1", "/2"].map((url) => `GET ${url} HTTP/1.1\r\nHost: x\r\n\r\n`).join("")),
    );
    parser.resume();
    const paused = urls.length === 1;
    socket.emit("data", rest);
    return paused && urls.length === 2;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}

function hold({ rawPacket, bytesParsed }: ClientError, socket: ParsedSocket): void {
  connections.get(socket)!.isHeld = true;
  // The parser itself goes on: whoever resumes the socket, such as the reader of a body, gets the bytes in their order.
  socket.parser.resume();
  socket.pause();
  socket.unshift(rawPacket!.subarray(bytesParsed!));
}

/** Whether every request that came on a connection has been answered. */
export function isAnswered(connection: Socket): boolean {
  return connections.get(connection)?.latest?.writableFinished ?? true;
}

/** Notes when an answer has been given: one that is sent piece by piece, with its last piece. */
export function noteAnswer(response: ServerResponse): void {
  const connection = connections.get(response.req.socket);
  if (connection === undefined) return;
  connection.usedMs = performance.now();
  if (!response.writableEnded) response.once("finish", () => noteAnswer(response));
}

/** Milliseconds since a connection was opened, or was last given an answer. */
export function unusedMs(connection: Socket): number {
  return performance.now() - (connections.get(connection)?.usedMs ?? Number.NEGATIVE_INFINITY);
}

/** Whether no other request waits behind this one on its connection. */
export function isLast(response: ServerResponse): boolean {
  return connections.get(response.req.socket)?.latest === response;
}

/**
 * Runs `then` when the requests on a connection have their answers, but for one whose body is not complete: nothing
 * more of it will come. Whether that one was answered all the same is passed on.
 */
export function afterAnswers(connection: Socket, then: (isAnswered: boolean) => void): void {
  const response = connections.get(connection)?.latest;
  const go = () => then(response !== undefined && !response.req.complete && response.headersSent);
  // Not `writableFinished`: an answer that was sent still has its turn until it is closed, and the next one waits for it.
  if (response === undefined || response.destroyed) go();
  else if (response.req.complete || response.headersSent) response.once("close", go);
  else if (response.socket !== null) go();
  // After its beginning: it may be refused without its body.
  else response.once("socket", () => setImmediate(go));
}
