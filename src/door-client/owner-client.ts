/**
 * The client of a data folder's owner, through its door: plain HTTP on a local socket. If there is no owner, the
 * request was not sent, and the error is a NoOwnerError: such a request can always be repeated. A request that was
 * sent and lost has another error.
 */

import { type IncomingMessage, request } from "node:http";
import { Readable } from "node:stream";
import { ACCOUNT_HEADER } from "../base/accounts.ts";
import type { FailureCode } from "../base/error-codes.ts";
import { Failure, OperatorError } from "../base/errors.ts";
import { linesOf } from "../base/lines.ts";
import type { Fetch } from "../sdk/index.ts";
import { bodyTextOf, fetchAnswer } from "./node-fetch.ts";
import { doorPath } from "./private-folder.ts";

/** Nobody listens at the door: nothing was sent. */
export class NoOwnerError extends OperatorError {
  override name = "NoOwnerError";
  readonly code = "ECONNREFUSED";
}

class SilentOwnerError extends OperatorError {
  override name = "SilentOwnerError";
}

interface Owner {
  readonly pid: number;
  /** Of the package that it runs from. */
  readonly version?: string;
}

export interface OwnerRequest {
  readonly method: string;
  readonly path: string;
  readonly headers?: Record<string, string>;
  readonly body?: string | Readable;
  readonly signal?: AbortSignal | undefined;
}

const BODY_TYPE = { "content-type": "application/json" };
/** Without this, Node looks up the name of a host even for a local socket, which costs a hook 9 ms. */
const WITHOUT_HOST_NAME = { servername: "" };

export class OwnerClient {
  readonly #path: string;

  /** @param path of the door */
  constructor(path: string) {
    this.#path = path;
  }

  static of(folder: string): OwnerClient {
    return new OwnerClient(doorPath(folder));
  }

  /** Whether the folder has an owner. Throws if the owner does not answer in time. */
  async hasOwner(timeoutMs: number): Promise<boolean> {
    return (await this.owner(timeoutMs)) !== undefined;
  }

  /** Who owns the folder; undefined if nobody does. Throws if the owner does not answer in time. */
  async owner(timeoutMs: number): Promise<Owner | undefined> {
    try {
      return await this.json("GET", "/operator/owner", undefined, { signal: AbortSignal.timeout(timeoutMs) });
    } catch (error) {
      // The connection was lost after sending: the owner has just ended.
      const lost = ["ECONNRESET", "EPIPE"].includes((error as NodeJS.ErrnoException).code ?? "");
      if (lost || error instanceof NoOwnerError) return undefined;
      if (["AbortError", "TimeoutError"].includes((error as Error).name))
        throw new SilentOwnerError(`the owner of the data folder does not answer within ${timeoutMs} ms`);
      throw error;
    }
  }

  async json<T>(
    method: string,
    path: string,
    body?: object,
    more: { account?: string; signal?: AbortSignal } = {},
  ): Promise<T> {
    const response = await this.send({
      method,
      path,
      headers: {
        ...(more.account === undefined ? {} : { [ACCOUNT_HEADER]: more.account }),
        ...(body === undefined ? {} : BODY_TYPE),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      signal: more.signal,
    });
    return refuseProblem(response, JSON.parse(await bodyTextOf(response))) as T;
  }

  /** The lines of an answer as objects. A line with a problem is thrown as a Failure. */
  async *lines(method: string, path: string, body?: object): AsyncGenerator<Record<string, unknown>> {
    const call = {
      method,
      path,
      ...(body === undefined ? {} : { headers: BODY_TYPE, body: JSON.stringify(body) }),
    };
    const response = await this.send(call);
    if (response.statusCode !== 200) refuseProblem(response, JSON.parse(await bodyTextOf(response)));
    try {
      for await (const text of linesOf(response)) {
        const line = JSON.parse(text) as Record<string, unknown>;
        if (line.problem !== undefined) throw failureIn(line.problem as OwnerProblem);
        yield line;
      }
    } catch (error) {
      // The owner was killed.
      throw (error as NodeJS.ErrnoException).code === "ECONNRESET" ? ownerEnded() : error;
    }
  }

  /** Runs long work on the owner and reports its progress. */
  async work<T>(path: string, body: object, progress: (done: number, total: number) => void): Promise<T> {
    for await (const line of this.lines("POST", path, body)) {
      if (line.result !== undefined) return line.result as T;
      const { done, total } = line.progress as { done: number; total: number };
      progress(done, total);
    }
    throw ownerEnded();
  }

  /** Sends lines as they arrive; the answer comes after the last one. */
  async upload<T>(path: string, lines: Readable): Promise<T> {
    const headers = { "content-type": "application/x-ndjson" };
    const response = await this.send({ method: "POST", path, headers, body: lines });
    return refuseProblem(response, JSON.parse(await bodyTextOf(response))) as T;
  }

  /** A fetch for the client of the service, for one account. */
  fetch(account: string): Fetch {
    return async (url, init) => {
      const { pathname, search } = new URL(url);
      const response = await this.send({
        method: init.method ?? "GET",
        path: pathname + search,
        headers: { ...(init.headers as Record<string, string>), [ACCOUNT_HEADER]: account },
        ...(init.body == null ? {} : { body: init.body as string }),
        signal: init.signal ?? undefined,
      });
      return fetchAnswer(response);
    };
  }

  /** The answer itself, as it comes. */
  send({ method, path, headers = {}, body, signal }: OwnerRequest): Promise<IncomingMessage> {
    return new Promise((resolve, reject) => {
      const sent = request(
        {
          socketPath: this.#path,
          method,
          path,
          headers,
          agent: false,
          ...WITHOUT_HOST_NAME,
          ...(signal === undefined ? {} : { signal }),
        },
        resolve,
      );
      sent.on("error", (error: NodeJS.ErrnoException) => {
        const nobody = error.code === "ENOENT" || error.code === "ECONNREFUSED";
        reject(nobody ? new NoOwnerError("nobody has the data folder open: run the command again") : error);
      });
      if (body instanceof Readable) {
        body.once("error", (error) => sent.destroy(error));
        // Only once connected: lines read into a request that is never sent would be missing from the next one.
        sent.once("socket", (socket) => socket.once("connect", () => body.pipe(sent)));
      } else sent.end(body);
    });
  }
}

interface OwnerProblem {
  readonly code: FailureCode;
  readonly detail: string;
}

function refuseProblem(response: IncomingMessage, answer: unknown): unknown {
  if ((response.statusCode ?? 500) >= 400) throw failureIn(answer as OwnerProblem);
  return answer;
}

function failureIn({ code, detail }: OwnerProblem): Failure {
  return new Failure(code, detail);
}

function ownerEnded(): Failure {
  return new Failure("internal_error", "The owner of the data folder ended before the work was finished.");
}
