/**
 * The door of a data folder: a local socket that only its owner's user can open. File permission is the
 * authentication: who comes through it is the operator, and acts for any account it names. It answers everything
 * that the TCP port answers, and the operator's own calls (routes/operator.ts).
 */

import { chmodSync, rmSync, statSync } from "node:fs";
import { createServer, type IncomingMessage, type Server } from "node:http";
import type { Socket } from "node:net";
import type { FastifyInstance } from "fastify";
import { Failure } from "../base/errors.ts";
import type { Caller } from "../memory/authentication.ts";
import { checkAccount } from "../memory/identifiers.ts";

const ACCOUNT_HEADER = "sideband-account";
const ACCOUNT_DEFAULT = "default";
const CLOSING_SWEEP_MS = 50;

export class Door {
  readonly #sockets = new WeakSet<Socket>();
  #server: Server | undefined;
  /** Whether the socket under the door's name is still this one. */
  #isOurs = () => true;
  #answering = 0;
  #lastMs = performance.now();

  /** @param path of the socket; what an earlier owner left there is removed, since this process owns the folder */
  async open(app: FastifyInstance, path: string): Promise<void> {
    await app.ready();
    // An import may take hours to send: no limit on the time of a request.
    const server = createServer({ requestTimeout: 0 }, (request, response) => {
      this.#answering += 1;
      response.once("close", () => {
        this.#answering -= 1;
        this.#lastMs = performance.now();
      });
      app.routing(request, response);
    });
    server.on("connection", (socket) => this.#sockets.add(socket));
    const isFile = !path.startsWith("\\\\");
    if (isFile) rmSync(path, { force: true });
    await new Promise<void>((resolve, reject) => {
      server.once("error", reject).listen(path, resolve);
    });
    if (isFile) chmodSync(path, 0o600);
    this.#server = server;
    this.#isOurs = () => !isFile || statSync(path, { throwIfNoEntry: false })?.ino === inode;
    const inode = isFile ? statSync(path).ino : 0;
  }

  /** Whether a request came through the door. */
  admits(request: IncomingMessage): boolean {
    return this.#sockets.has(request.socket);
  }

  /** Whoever may open the data folder is its owner: no key, no limit. */
  callerOf(request: IncomingMessage): Caller {
    const account = request.headers[ACCOUNT_HEADER] ?? ACCOUNT_DEFAULT;
    if (typeof account !== "string")
      throw new Failure("invalid_request", "One account is named at a time.", { param: ACCOUNT_HEADER });
    checkAccount(account);
    return { account, keyId: `owner:${account}`, tier: "owner", limit: null, expiresAtMs: null };
  }

  /** Milliseconds since the last answer; 0 while one is being given. */
  get idleMs(): number {
    return this.#answering > 0 ? 0 : performance.now() - this.#lastMs;
  }

  /** Lets running requests finish; after `timeoutMs` their connections are cut. */
  async close(timeoutMs: number): Promise<void> {
    const server = this.#server;
    if (server === undefined) return;
    if (!this.#isOurs()) {
      // Closing removes the socket by its name, and by now that is somebody else's.
      server.closeAllConnections();
      server.unref();
      return;
    }
    const closed = new Promise((resolve) => server.close(resolve));
    const sweep = setInterval(() => server.closeIdleConnections(), CLOSING_SWEEP_MS);
    const cut = setTimeout(() => server.closeAllConnections(), timeoutMs);
    await closed;
    clearInterval(sweep);
    clearTimeout(cut);
  }
}
