/**
 * One call to the service, as the pages need it: JSON in, JSON out, and every failure as an ApiError with a text
 * that can be shown. Always to the site's own origin. A key, if there is one, goes only into the header.
 */

export interface WebCallOptions {
  readonly body?: unknown;
  readonly key?: string;
  /** What is undefined is left out. */
  readonly query?: Readonly<Record<string, string | undefined>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
}

export interface WebAnswer<T> {
  readonly data: T;
  readonly headers: Headers;
}

export type Method = "GET" | "POST" | "PATCH" | "DELETE";

interface WebProblem {
  readonly title?: string;
  readonly detail?: string;
  readonly code?: string;
  readonly param?: string;
  readonly hint?: string;
  readonly request_id?: string;
}

/** A request may have arrived though its answer has not. */
const MAY_BE_DONE = "What you asked for may have been done all the same: look before you try again.";

export class ApiError extends Error {
  override name = "ApiError";
  /** 0 if there was no answer at all. */
  readonly status: number;
  readonly code: string;
  readonly param: string | undefined;
  readonly requestId: string | undefined;
  readonly retryAfterS: number | undefined;

  constructor(status: number, problem: WebProblem, retryAfterS?: number) {
    super(bodyText(status, problem, retryAfterS));
    this.status = status;
    this.code = problem.code ?? (status === 0 ? "unreachable" : `http_${status}`);
    this.param = problem.param;
    this.requestId = problem.request_id;
    this.retryAfterS = retryAfterS;
  }
}

export async function call<T>(
  method: Method,
  path: string,
  options: WebCallOptions = {},
): Promise<WebAnswer<T>> {
  const response = await request(method, path, options);
  const data = response.status === 204 ? undefined : await response.json();
  return { data: data as T, headers: response.headers };
}

/** The answer itself, where it is no JSON. */
export async function request(
  method: Method,
  path: string,
  { body, key, query, signal, ...more }: WebCallOptions = {},
): Promise<Response> {
  const headers: Record<string, string> = { accept: "application/json", ...more.headers };
  if (body !== undefined) headers["content-type"] = "application/json";
  if (key !== undefined) headers.authorization = `Bearer ${key}`;
  const search = query === undefined ? "" : `?${searchOf(query)}`;
  let response: Response;
  try {
    response = await fetch(path + search, {
      method,
      headers,
      credentials: "same-origin",
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      ...(signal === undefined ? {} : { signal }),
    });
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new ApiError(0, method === "GET" ? {} : { detail: MAY_BE_DONE });
  }
  if (!response.ok) throw await failedCall(response);
  return response;
}

function searchOf(query: NonNullable<WebCallOptions["query"]>): URLSearchParams {
  return new URLSearchParams(
    Object.entries(query).filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
}

async function failedCall(response: Response): Promise<ApiError> {
  const retryAfterS = Number(response.headers.get("retry-after") ?? Number.NaN);
  let problem: WebProblem = {};
  try {
    problem = await response.json();
  } catch {
    // The answer is a proxy's own page: the status is enough.
  }
  return new ApiError(response.status, problem, Number.isFinite(retryAfterS) ? retryAfterS : undefined);
}

function bodyText(status: number, problem: WebProblem, retryAfterS: number | undefined): string {
  if (status === 0) return `The server cannot be reached. ${problem.detail ?? "Try again in a moment."}`;
  const said = problem.detail ?? problem.title ?? `The server answered ${status}.`;
  const hint = problem.hint === undefined ? "" : ` Did you mean ${problem.hint}?`;
  const wait =
    retryAfterS === undefined || retryAfterS > 3600 ? "" : ` Try again in ${duration(retryAfterS)}.`;
  return said + hint + wait;
}

/** 75 → "1 min 15 s", 4000 → "1 h 6 min" */
export function duration(seconds: number): string {
  const whole = Math.max(0, Math.round(seconds));
  const minutes = Math.floor(whole / 60);
  if (minutes >= 60) return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
  return minutes === 0 ? `${whole} s` : `${minutes} min ${whole % 60} s`;
}
