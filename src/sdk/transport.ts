/**
 * One call over HTTP: address, key, time-out, retries.
 *
 * - The time-out is for the whole call, retries and pauses included.
 * - A call is repeated only if that is safe. `always`: the request changes nothing, or its idempotency key turns a
 *   second arrival into a replay. `refused`: only if the service said that it did nothing (429, 503).
 * - A service that did not answer in time is not asked again for half a minute by calls with `coolDown`: a run of an
 *   agent waits for it once, and not at every step.
 * - A pause is random, up to 100 ms · 2^n ("full jitter"), or what Retry-After asks for. If Retry-After asks for more
 *   time than is left, the call fails at once.
 */

import { errorOf, SidebandError } from "./errors.ts";

export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

export interface TransportOptions {
  readonly apiKey: string | undefined;
  readonly baseUrl: string;
  readonly timeoutMs: number;
  readonly retries: number;
  readonly fetch: Fetch;
}

export interface CallOptions {
  /** Ends the call when it is aborted; the signal's reason is thrown. */
  signal?: AbortSignal | undefined;
  /** For this call instead of the client's. */
  timeoutMs?: number | undefined;
  /** For this call instead of the client's. */
  retries?: number | undefined;
  /** Fails at once if the service did not answer in time a moment ago. */
  coolDown?: boolean | undefined;
}

export interface SdkCall extends CallOptions {
  method: "GET" | "POST" | "PATCH" | "DELETE";
  path: string;
  /** What is undefined is left out. */
  query?: Record<string, string | number | undefined>;
  body?: unknown;
  headers?: Record<string, string>;
  retry: "always" | "refused";
  /** Demo calls go without a key. */
  withoutKey?: boolean;
}

export interface SdkAnswer {
  status: number;
  headers: Headers;
  body: unknown;
}

const PAUSE_MS = 100;
const PAUSE_MS_MAX = 2_000;
const COOL_DOWN_MS = 30_000;

export class Transport {
  readonly #options: TransportOptions;
  /** Until when the service is not asked again by calls with `coolDown`. */
  #coolUntilMs = 0;

  constructor(options: TransportOptions) {
    this.#options = options;
  }

  async send(call: SdkCall): Promise<SdkAnswer> {
    const { timeoutMs = this.#options.timeoutMs, retries = this.#options.retries } = call;
    if (call.coolDown && Date.now() < this.#coolUntilMs) {
      throw new SidebandError("no answer in time a moment ago; the service is asked again later", {
        code: "timeout",
        status: 0,
      });
    }
    const untilMs = Date.now() + timeoutMs;
    const deadline = new Deadline(timeoutMs, call.signal);
    try {
      for (let attempt = 0; ; attempt++) {
        try {
          const answer = await this.#attempt(call, deadline);
          this.#coolUntilMs = 0;
          return answer;
        } catch (error) {
          if (error instanceof SidebandError && error.code === "timeout" && call.coolDown)
            this.#coolUntilMs = Date.now() + COOL_DOWN_MS;
          if (!(error instanceof SidebandError) || attempt >= retries || !mayRetry(error, call.retry))
            throw error;
          const pauseMs =
            error.retryAfterMs ?? Math.random() * Math.min(PAUSE_MS_MAX, PAUSE_MS * 2 ** attempt);
          if (Date.now() + pauseMs >= untilMs) throw error;
          await deadline.pause(pauseMs);
        }
      }
    } finally {
      deadline.end();
    }
  }

  async #attempt(call: SdkCall, deadline: Deadline): Promise<SdkAnswer> {
    deadline.check();
    try {
      const response = await this.#options.fetch(this.#url(call), {
        method: call.method,
        headers: this.#headers(call),
        signal: deadline.signal,
        ...(call.body === undefined ? {} : { body: JSON.stringify(call.body) }),
      });
      const text = await response.text();
      const body = parsed(text);
      if (response.status >= 400) throw errorOf(response.status, response.headers, body);
      if (response.status !== 304 && (typeof body !== "object" || body === null)) {
        throw new SidebandError(`HTTP ${response.status} without a JSON answer`, {
          code: "unexpected_answer",
          status: response.status,
        });
      }
      return { status: response.status, headers: response.headers, body };
    } catch (error) {
      if (error instanceof SidebandError) throw error;
      deadline.check();
      throw new SidebandError(`cannot reach ${this.#options.baseUrl}`, {
        code: "connection_failed",
        status: 0,
        cause: error,
      });
    }
  }

  #url({ path, query = {} }: SdkCall): string {
    const search = Object.entries(query)
      .flatMap(([name, value]) => (value === undefined ? [] : `${name}=${encodeURIComponent(value)}`))
      .join("&");
    return `${this.#options.baseUrl}${path}${search === "" ? "" : `?${search}`}`;
  }

  #headers(call: SdkCall): Record<string, string> {
    const { apiKey } = this.#options;
    return {
      accept: "application/json",
      ...(apiKey === undefined || call.withoutKey ? {} : { authorization: `Bearer ${apiKey}` }),
      ...(call.body === undefined ? {} : { "content-type": "application/json" }),
      ...call.headers,
    };
  }
}

/** Ends a call when its time is up or its caller aborts it. */
class Deadline {
  readonly #controller = new AbortController();
  readonly #timeoutMs: number;
  readonly #outer: AbortSignal | undefined;
  readonly #timer: ReturnType<typeof setTimeout>;
  readonly #stop = () => this.#controller.abort();
  #late = false;

  constructor(timeoutMs: number, outer: AbortSignal | undefined) {
    this.#timeoutMs = timeoutMs;
    this.#outer = outer;
    this.#timer = setTimeout(() => {
      this.#late = true;
      this.#stop();
    }, timeoutMs);
    if (outer?.aborted) this.#stop();
    outer?.addEventListener("abort", this.#stop);
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  check(): void {
    if (this.#outer?.aborted) throw this.#outer.reason;
    if (this.#late) {
      throw new SidebandError(`no answer within ${this.#timeoutMs} ms`, { code: "timeout", status: 0 });
    }
  }

  async pause(ms: number): Promise<void> {
    await new Promise<void>((resolve) => {
      const timer = setTimeout(done, ms);
      const { signal } = this;
      function done() {
        clearTimeout(timer);
        signal.removeEventListener("abort", done);
        resolve();
      }
      signal.addEventListener("abort", done);
    });
    this.check();
  }

  end(): void {
    clearTimeout(this.#timer);
    this.#outer?.removeEventListener("abort", this.#stop);
  }
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
