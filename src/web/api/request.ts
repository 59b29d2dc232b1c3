/**
 * Calls that are not those of a key: the demo, the console, a request for a key. They go to the site's own origin, each
 * once. Failures are those of the client, whose transport, with its retries and time-outs, these pages need not load.
 */

import { errorOf, SidebandError } from "../../sdk/errors.ts";

export interface PageCall {
  readonly method: "GET" | "POST" | "PATCH" | "DELETE";
  readonly path: string;
  /** What is undefined is left out. */
  readonly query?: Readonly<Record<string, string | undefined>>;
  readonly body?: unknown;
  readonly headers?: Record<string, string>;
}

export interface PageAnswer<T> {
  readonly data: T;
  readonly headers: Headers;
}

export async function send<T>({ method, path, query = {}, body, headers }: PageCall): Promise<PageAnswer<T>> {
  const given = Object.entries(query).filter((entry): entry is [string, string] => entry[1] !== undefined);
  const search = given.length === 0 ? "" : `?${new URLSearchParams(given)}`;
  const sent =
    body === undefined
      ? { headers: { ...headers } }
      : { headers: { "content-type": "application/json", ...headers }, body: JSON.stringify(body) };
  const response = await fetch(path + search, { method, ...sent }).catch((cause) => {
    const code = method === "GET" ? "connection_failed" : "outcome_unknown";
    throw new SidebandError("the server cannot be reached", { code, status: 0, cause });
  });
  // The answer may be a proxy's own page, or have no body.
  const data = await response.json().catch(() => undefined);
  if (!response.ok) throw errorOf(response.status, response.headers, data);
  return { data: data as T, headers: response.headers };
}
