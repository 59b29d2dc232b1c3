/**
 * The door of a data folder: a local socket that only its owner's user can open. File permission is the
 * authentication: who comes through it is the operator, and acts for any account it names. It answers everything
 * that the TCP port answers, and the operator's own calls (routes/operator.ts).
 *
 * A server removes its socket by name when it is closed, whosever socket has that name by then. So the socket is made
 * under another name and renamed, and the door removes it itself, if it is still its own.
 */

import { chmodSync, renameSync, rmSync, statSync } from "node:fs";
import { createServer, type RequestListener, type Server } from "node:http";
import { dirname, join } from "node:path";
import { ACCOUNT_DEFAULT, ACCOUNT_HEADER } from "../../base/accounts.ts";
import { invalidRequest } from "../../base/errors.ts";
import type { Caller } from "../../memory/authentication.ts";
import { checkAccount } from "../../memory/identifiers.ts";
import { gracefulShutdown } from "../connection/connections.ts";
import { serveInOrder } from "../request/pipelining.ts";
import type { HttpRequest } from "../services.ts";

const GUARD_INTERVAL_MS = 1_000;
/** Not longer than the door's own name: a socket's address has few bytes. */
const DRAFT_FILE = "door.new";

export class Door {
  readonly #sockets = new WeakSet<object>();
  #server: Server | undefined;
  /** Of all servers with connections: one whose socket was removed still answers its requests. */
  readonly #ends = new Set<(timeoutMs: number) => Promise<void>>();
  #reopening = Promise.resolve();
  /** Removes the socket, if it is still this door's. */
  #remove = () => {};
  #guard: NodeJS.Timeout | undefined;
  #answering = 0;
  #lastMs = performance.now();

  /**
   * Opens the door, and opens it again where its socket is removed.
   * @param path of the socket; what an earlier owner left there is removed
   * @param isOwner whether this process still owns the folder; asked every second
   */
  async open(handle: RequestListener, path: string, isOwner: () => boolean): Promise<void> {
    const isFile = !path.startsWith("\\\\");
    const draft = isFile ? join(dirname(path), DRAFT_FILE) : path;
    let socket: string | undefined;
    const isInPlace = () => socket === socketIdentity(path);
    const listen = async () => {
      if (isFile) rmSync(draft, { force: true });
      const server = this.#serverFor(handle);
      const end = gracefulShutdown(server);
      await new Promise<void>((resolve, reject) => {
        server.once("error", reject).listen(draft, resolve);
      });
      this.#server = server;
      this.#ends.add(end);
      server.once("close", () => this.#ends.delete(end));
      if (!isFile) return;
      chmodSync(draft, 0o600);
      socket = socketIdentity(draft);
      if (isOwner()) renameSync(draft, path);
    };
    await listen();
    this.#remove = () => {
      if (isFile && isOwner() && isInPlace()) rmSync(path, { force: true });
    };
    this.#guard = setInterval(() => {
      if (!isOwner() || !isFile || isInPlace()) return;
      this.#server?.close();
      this.#reopening = listen().catch(() => {});
    }, GUARD_INTERVAL_MS).unref();
  }

  #serverFor(handle: RequestListener): Server {
    // An import may take hours to send: no limit on the time of a request.
    const server = createServer({ requestTimeout: 0 });
    const counted: RequestListener = (request, response) => {
      this.#answering += 1;
      response.once("close", () => {
        this.#answering -= 1;
        this.#lastMs = performance.now();
      });
      handle(request, response);
    };
    // What it answers is the same for every server of a process: the log has it from server.ts, which is always made.
    serveInOrder(server, counted, (_error, socket) => socket.destroy());
    return server.on("connection", (socket) => this.#sockets.add(socket));
  }

  /** Whether a request came through the door. */
  admits(request: Pick<HttpRequest, "socket">): boolean {
    return this.#sockets.has(request.socket);
  }

  /** Whoever may open the data folder is its owner: no key, no limit. */
  callerOf(request: Pick<HttpRequest, "headers">): Caller {
    const account = request.headers[ACCOUNT_HEADER] ?? ACCOUNT_DEFAULT;
    if (typeof account !== "string")
      throw invalidRequest(ACCOUNT_HEADER, `Send only one ${ACCOUNT_HEADER} header.`);
    checkAccount(account);
    return {
      account,
      keyId: `owner:${account}`,
      tier: "owner",
      limit: null,
      expiresAtMs: null,
      user: null,
      access: "write",
    };
  }

  /** Milliseconds since the last answer; 0 while one is being given. */
  get idleMs(): number {
    return this.#answering > 0 ? 0 : performance.now() - this.#lastMs;
  }

  /** Sends the answers that are being made; after `timeoutMs` the rest is cut. */
  async close(timeoutMs: number): Promise<void> {
    clearInterval(this.#guard);
    await this.#reopening;
    this.#remove();
    await Promise.all([...this.#ends].map((end) => end(timeoutMs)));
  }
}

function socketIdentity(path: string): string | undefined {
  const found = statSync(path, { bigint: true, throwIfNoEntry: false });
  return found && `${found.dev}:${found.ino}`;
}
