/** The server of a case: answers as the case says, and remembers what it was asked. */

import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { CaseAnswer } from "./case.ts";

export interface SeenByCase {
  readonly method: string;
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly body?: unknown;
}

const DRIP_MS = 30_000;
/** Before a case of the client in this process stops it. */
const now = Date.now;

export class StandInServer {
  readonly seen: SeenByCase[] = [];
  answers: CaseAnswer[] = [];
  readonly #timers = new Set<NodeJS.Timeout>();
  readonly #server = createServer((request, response) => void this.#answer(request, response));

  async start(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, "127.0.0.1", resolve));
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async end(): Promise<void> {
    for (const timer of this.#timers) clearTimeout(timer);
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const text = Buffer.concat(chunks).toString();
    const url = new URL(request.url!, "http://x");
    const query = Object.fromEntries(url.searchParams);
    const body = text === "" ? undefined : (JSON.parse(text) as Record<string, unknown>);
    const { method = "", headers } = request;
    this.seen.push({ method, path: url.pathname, query, headers, ...(body === undefined ? {} : { body }) });
    const answer = this.#next(url.pathname, query.user_id ?? body?.user_id, headers["if-none-match"]);
    if (answer === undefined) {
      response.writeHead(418).end(`{"code":"no_answer_left","detail":"${method} ${url.pathname}"}`);
      return;
    }
    if (answer.delayMs !== undefined) await new Promise((resolve) => setTimeout(resolve, answer.delayMs));
    this.#send(request, response, answer);
  }

  /** The first that is for this request. It is used up, unless it is for all. */
  #next(path: string, user: unknown, ifNoneMatch: string | undefined): CaseAnswer | undefined {
    const i = this.answers.findIndex(
      (answer) =>
        (answer.path ?? path) === path &&
        (answer.user ?? user) === user &&
        (answer.ifNoneMatch === undefined || answer.ifNoneMatch === ifNoneMatch),
    );
    const answer = this.answers[i];
    if (answer !== undefined && !answer.always) this.answers.splice(i, 1);
    return answer;
  }

  #send(request: IncomingMessage, response: ServerResponse, answer: CaseAnswer): void {
    const { how, problem, retryAfterDateS } = answer;
    if (how === "hang") return;
    if (how === "drop") {
      request.socket.destroy();
      return;
    }
    if (how === "garbage") {
      request.socket.end("this is no HTTP\r\n\r\n");
      return;
    }
    const status = answer.status ?? 200;
    const problemBody = { title: "t", status, detail: `about ${problem}`, code: problem, request_id: "r1" };
    const body = problem === undefined ? answer.body : { ...problemBody, ...(answer.body as object) };
    const plain = answer.text ?? (body === undefined ? "" : JSON.stringify(body));
    const text = plain.padEnd(answer.padToBytes ?? 0);
    response.writeHead(status, {
      "content-type": status >= 400 ? "application/problem+json" : "application/json",
      ...(retryAfterDateS === undefined
        ? {}
        : { "retry-after": new Date(now() + retryAfterDateS * 1000).toUTCString() }),
      ...(how === "cut" ? { "content-length": `${Buffer.byteLength(text) + 1}` } : {}),
      ...answer.headers,
    });
    if (how === "drip") {
      response.write("[0");
      const drops = setInterval(() => response.write(",1"), 20);
      this.#timers.add(drops);
      const end = () => {
        clearInterval(drops);
        response.end("]");
      };
      this.#timers.add(setTimeout(end, DRIP_MS));
    } else if (how === "cut") response.write(text, () => request.socket.destroy());
    else response.end(text);
  }
}
