/**
 * One call over HTTP: address, key, time-out, retries.
 *
 * - The time-out is for the whole call, retries and pauses included.
 * - A call is repeated only if that is safe. `always`: the request changes nothing, or its idempotency key turns a
 *   second arrival into a replay. `refused`: only if the service said that it did nothing (429, 503).
 * - A write whose answer was lost after it was sent is `outcome_unknown`: it may have been done.
 * - A read with `failFast` is not sent while the service is known to be away (circuit.ts): a run of an agent does not wait
 *   for it at every step. Writes are always sent.
 * - An answer that is streamed is read line by line. Its time-out is for its beginning, and then it may be silent for a while.
 * - A pause is random, up to 100 ms · 2^n ("full jitter"), or what Retry-After asks for. If Retry-After asks for more
 *   time than is left, the call fails at once.
 */

import { Circuits } from "./circuit.ts";
import { checkedTimeout, Deadline } from "./deadline.ts";
import { errorOf, SidebandError } from "./errors.ts";

/** With the version of the package. */
const CLIENT = "js/0.1.0";
const UNSENDABLE = /[\0\r\n]|[^\0-\xff]/;

export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

interface TransportOptions {
  readonly apiKey: string | undefined;
  readonly baseUrl: string;
  readonly timeoutMs: number;
  readonly retries: number;
  readonly fetch: Fetch;
}

export interface CallOptions {
  /** Ends the call when it is aborted; the signal's reason is thrown. */
  signal?: AbortSignal | undefined;
  /** For this call instead of the client's. 0 fails at once, as `AbortSignal.timeout(0)` does; Infinity sets no limit. */
  timeoutMs?: number | undefined;
  /** For this call instead of the client's. */
  retries?: number | undefined;
  /** A read fails at once while the service is known to be away: after three failures in a row, until an answer. */
  failFast?: boolean | undefined;
}

export interface SdkCall extends CallOptions {
  method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  path: string;
  /** What is undefined is left out. */
  query?: Record<string, string | number | undefined>;
  body?: unknown;
  headers?: Record<string, string>;
  retry: "always" | "refused";
  /** Changes nothing, so that it may be refused while the service is away. */
  isRead?: boolean;
  /** Demo calls go without a key. */
  withoutKey?: boolean;
  /** The answer has this type, and its body is an iterator of its lines. */
  stream?: "application/x-ndjson" | "text/event-stream";
}

export interface SdkAnswer {
  status: number;
  headers: Headers;
  body: unknown;
}

/** No answer of the service is longer; that of a broken proxy may never end. */
const ANSWER_BYTES_MAX = 1 << 24;
/** Behind the failure of a write that was sent. */
const MAY_BE_DONE = ": what was asked for may have been done all the same";
/** Of a stream; the service sends something every 5 seconds where it has no event. */
const SILENCE_MS_MAX = 20_000;
const PAUSE_MS = 100;
const PAUSE_MS_MAX = 2_000;

/** What the system says where nothing was sent. */
const UNSENT =
  /^(?:ECONNREFUSED|ENOTFOUND|ENOENT|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|UND_ERR_CONNECT_TIMEOUT|CERT_|ERR_TLS_|ERR_SSL_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_)/;

/** By what sends the requests: one address can lead to two services, as that of an owner does to two data folders. */
const CIRCUITS = new WeakMap<Fetch, Circuits>();

export class Transport {
  readonly #options: TransportOptions;
  readonly #circuits: Circuits;

  constructor(options: TransportOptions) {
    checkedTimeout(options.timeoutMs);
    this.#options = options;
    this.#circuits = CIRCUITS.get(options.fetch) ?? new Circuits();
    CIRCUITS.set(options.fetch, this.#circuits);
  }

  /** Sends a call, unless the service is known to be away and it need not be tried. */
  async send(call: SdkCall): Promise<SdkAnswer> {
    const { failFast = false, isRead = false } = call;
    const timeoutMs = checkedTimeout(call.timeoutMs ?? this.#options.timeoutMs);
    const { baseUrl, apiKey } = this.#options;
    const userCircuit = [baseUrl, apiKey, askedUser(call)].join("\n");
    const circuits = [baseUrl, userCircuit];
    const isProbe = failFast && isRead && this.#circuits.enter(circuits, Date.now());
    if (isProbe instanceof SidebandError) throw awayError(isProbe);
    try {
      const answer = await this.#sendUntilAnswered(call, timeoutMs);
      this.#circuits.answered(circuits);
      return answer;
    } catch (error) {
      if (!(error instanceof SidebandError)) throw error;
      if (error.status > 0) this.#circuits.answered(circuits);
      else if (error.code !== "timeout") this.#circuits.failed(baseUrl, this.#unreached(error), Date.now());
      // The caller's own short time says nothing of the service.
      else if (failFast && timeoutMs > 0) this.#circuits.failed(userCircuit, error, Date.now());
      throw error;
    } finally {
      if (isProbe) this.#circuits.released(circuits);
    }
  }

  async #sendUntilAnswered(call: SdkCall, timeoutMs: number): Promise<SdkAnswer> {
    const { retries = this.#options.retries } = call;
    const untilMs = Date.now() + timeoutMs;
    const deadline = new Deadline(timeoutMs, call.signal);
    let lost: SidebandError | undefined;
    let isStreamed = false;
    try {
      for (let attempt = 0; ; attempt++) {
        try {
          const answer = await this.#attempt(call, deadline);
          isStreamed = call.stream !== undefined;
          return answer;
        } catch (error) {
          if (!(error instanceof SidebandError)) throw error;
          if (isLost(error)) lost = error;
          // That this attempt did nothing does not say so of the ones before.
          const isOpen = error.status === 0 || mayRetry(error, "refused");
          const failure = lost !== undefined && isOpen ? lost : error;
          if (attempt >= retries || !mayRetry(error, call.retry)) throw failure;
          const pauseMs =
            error.retryAfterMs ?? Math.random() * Math.min(PAUSE_MS_MAX, PAUSE_MS * 2 ** attempt);
          if (Date.now() + pauseMs >= untilMs) throw failure;
          await deadline.pause(pauseMs);
        }
      }
    } finally {
      if (!isStreamed) deadline.end();
    }
  }

  async #attempt(call: SdkCall, deadline: Deadline): Promise<SdkAnswer> {
    deadline.check();
    // Outside of the try: a text that can be sent in no address or header is not the connection's failure.
    const url = this.#url(call);
    const headers = this.#headers(call);
    checkHeaders(headers);
    try {
      const response = await this.#options.fetch(url, {
        method: call.method,
        headers,
        signal: deadline.signal,
        // A redirect would take the facts to another address, and make a GET of a POST.
        redirect: "manual",
        ...(call.body === undefined ? {} : { body: JSON.stringify(call.body) }),
      });
      if (call.stream !== undefined && response.headers.get("content-type")?.startsWith(call.stream)) {
        const lines = this.#linesOf(response, deadline);
        return { status: response.status, headers: response.headers, body: lines };
      }
      const body = parsed(await answerText(response));
      if (response.status >= 400) throw errorOf(response.status, response.headers, body);
      if (response.status !== 304 && (call.stream !== undefined || Object(body) !== body)) {
        throw unexpectedAnswer(response);
      }
      return { status: response.status, headers: response.headers, body };
    } catch (error) {
      if (error instanceof SidebandError) throw error;
      const isSent = call.method !== "GET" && !call.isRead && !UNSENT.test(systemCode(error));
      if (isSent) deadline.doubt = MAY_BE_DONE;
      deadline.check();
      if (!isSent) throw this.#unreached(error);
      const text = `the connection to ${this.#options.baseUrl} was lost before the answer${MAY_BE_DONE}`;
      throw new SidebandError(text, { code: "outcome_unknown", status: 0, cause: error });
    }
  }

  async *#linesOf({ body, status }: Response, deadline: Deadline): AsyncGenerator<string> {
    const decoder = new TextDecoder();
    let rest = "";
    try {
      deadline.renew(SILENCE_MS_MAX);
      for await (const chunk of chunksOf(body!)) {
        // While the reader of the lines is at work nothing is waited for.
        deadline.renew(Number.POSITIVE_INFINITY);
        const lines = decoder.decode(chunk, { stream: true }).split("\n");
        lines[0] = rest + lines[0];
        rest = lines.pop()!;
        if (rest.length > ANSWER_BYTES_MAX) throw tooLong(status);
        yield* lines;
        deadline.renew(SILENCE_MS_MAX);
      }
      if (rest !== "") yield rest;
    } catch (error) {
      if (error instanceof SidebandError) throw error;
      deadline.check();
      throw this.#unreached(error);
    } finally {
      deadline.end();
    }
  }

  #unreached(cause: unknown): SidebandError {
    return new SidebandError(`cannot reach ${this.#options.baseUrl}`, {
      code: "connection_failed",
      status: 0,
      cause,
    });
  }

  #url({ path, query = {} }: SdkCall): string {
    const search = Object.entries(query)
      .flatMap(([name, value]) => {
        if (value === undefined) return [];
        // It would be sent as "[object Object]".
        if (typeof value === "object") throw new TypeError(`${name} is a text, not an object or null`);
        return `${name}=${encodeURIComponent(value)}`;
      })
      .join("&");
    return `${this.#options.baseUrl}${path}${search === "" ? "" : `?${search}`}`;
  }

  #headers(call: SdkCall): Record<string, string> {
    const { apiKey } = this.#options;
    return {
      accept: call.stream ?? "application/json",
      "sideband-client": CLIENT,
      ...(apiKey === undefined || call.withoutKey ? {} : { authorization: `Bearer ${apiKey.trim()}` }),
      ...(call.body === undefined ? {} : { "content-type": "application/json" }),
      ...call.headers,
    };
  }
}

/** The code of the system's error; fetch has it in the cause of its own. */
function systemCode(error: unknown): string {
  const { code, cause } = error as { code?: unknown; cause?: { code?: unknown } };
  return String(cause?.code ?? code ?? "");
}

/** Whether a write was sent and its answer never came. */
function isLost({ code, status }: SidebandError): boolean {
  return code === "outcome_unknown" && status === 0;
}

/** Throws what `new Headers()` would. That is not asked itself: in Node it loads all of fetch, which a hook does not use. */
function checkHeaders(headers: Record<string, string>): void {
  for (const [name, value] of Object.entries(headers))
    if (UNSENDABLE.test(value))
      throw new TypeError(`${name} cannot be sent: a header has no line break and no letter beyond Latin-1`);
}

/** The text of an answer, up to a limit. */
async function answerText(response: Response): Promise<string> {
  const { body, status } = response;
  // A fetch of the caller's own may have nothing to read from.
  if (!body) return response.text();
  const decoder = new TextDecoder();
  let text = "";
  let sizeBytes = 0;
  for await (const chunk of chunksOf(body)) {
    sizeBytes += chunk.length;
    if (sizeBytes > ANSWER_BYTES_MAX) throw tooLong(status);
    text += decoder.decode(chunk, { stream: true });
  }
  return text + decoder.decode();
}

function tooLong(status: number): SidebandError {
  const message = `HTTP ${status} with an answer of more than ${ANSWER_BYTES_MAX} bytes`;
  return new SidebandError(message, { code: "unexpected_answer", status });
}

/** Some browsers cannot iterate over a stream. Who stops early ends the answer, too. */
function chunksOf(body: ReadableStream<Uint8Array>): AsyncIterable<Uint8Array> {
  if (Symbol.asyncIterator in body) return body;
  return readChunks((body as ReadableStream<Uint8Array>).getReader());
}

async function* readChunks(reader: ReadableStreamDefaultReader<Uint8Array>): AsyncGenerator<Uint8Array> {
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield value;
    }
  } finally {
    await reader.cancel();
  }
}

function unexpectedAnswer({ status, headers }: Response): SidebandError {
  const place = status >= 300 && status < 400 ? headers.get("location") : null;
  const text =
    place === null
      ? `HTTP ${status} without a JSON answer`
      : `HTTP ${status}: the service is at another address, ${place}; use that one`;
  return new SidebandError(text, { code: "unexpected_answer", status });
}

/** Whose call it is; empty where it is of no user. */
function askedUser({ query, body }: SdkCall): string {
  return String(query?.user_id ?? (body as { user_id?: string } | undefined)?.user_id ?? "");
}

/** The error of a call that was not sent. */
function awayError({ message, code }: SidebandError): SidebandError {
  return new SidebandError(`${message} several times in a row; it is asked again soon`, { code, status: 0 });
}

function mayRetry(error: SidebandError, retry: SdkCall["retry"]): boolean {
  const didNothing = error.status === 503 && error.code !== "outcome_unknown";
  if (error.code === "rate_limited" || didNothing) return true;
  if (retry !== "always") return false;
  // 409: an earlier attempt of ours is still being answered. 502 and 504: a proxy lost the service.
  return (
    error.code === "connection_failed" ||
    error.code === "idempotency_in_flight" ||
    error.code === "outcome_unknown" ||
    error.status === 502 ||
    error.status === 504
  );
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
