/** One request and its answer over node:http, with connections that are kept, new, or cut off on purpose. */

import { type Agent, request as httpRequest, type IncomingHttpHeaders } from "node:http";

export interface Request {
  readonly method: string;
  readonly path: string;
  readonly headers?: Record<string, string>;
  readonly body?: string | Buffer | undefined;
  /** Whose kept connections it uses; false for a connection of its own. */
  readonly agent?: Agent | false;
  /** Hangs up after so many milliseconds, answered or not. */
  readonly cutAfterMs?: number | undefined;
}

export interface Reply {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly bytes: Buffer;
  readonly text: string;
  readonly ms: number;
}

/** There is no answer: the connection ended before it. */
export class CutOffError extends Error {
  override name = "CutOffError";
  /** Whether the connection was an old one that the service may have closed just then. */
  readonly onKept: boolean;

  constructor(message: string, onKept: boolean) {
    super(message);
    this.onKept = onKept;
  }
}

const ANSWER_TIMEOUT_MS = 30_000;

/** Throws a CutOffError where the connection ends before the answer does. */
export function exchange(url: string, wanted: Request): Promise<Reply> {
  const { method, path, headers = {}, body, agent = false, cutAfterMs } = wanted;
  const { hostname, port } = new URL(url);
  // Node sends no length with DELETE.
  const length = body === undefined ? {} : { "content-length": String(Buffer.byteLength(body)) };
  const startMs = performance.now();
  return new Promise((resolve, reject) => {
    let timer: NodeJS.Timeout | undefined;
    const fail = (message: string) => {
      clearTimeout(timer);
      reject(new CutOffError(message, sent.reusedSocket));
      sent.destroy();
    };
    const sent = httpRequest(
      { hostname, port, method, path, headers: { ...length, ...headers }, agent },
      (response) => {
        const chunks: Buffer[] = [];
        response.on("data", (chunk: Buffer) => void chunks.push(chunk));
        response.on("error", (error) => fail(error.message));
        response.on("end", () => {
          clearTimeout(timer);
          const bytes = Buffer.concat(chunks);
          const ms = performance.now() - startMs;
          resolve({
            status: response.statusCode ?? 0,
            headers: response.headers,
            bytes,
            get text() {
              return bytes.toString();
            },
            ms,
          });
        });
      },
    );
    sent.on("error", (error) => fail(error.message));
    timer = setTimeout(
      () => fail(cutAfterMs === undefined ? `no answer within ${ANSWER_TIMEOUT_MS} ms` : "hung up"),
      cutAfterMs ?? ANSWER_TIMEOUT_MS,
    );
    sent.end(body);
  });
}
