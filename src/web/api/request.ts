/**
 * Calls that are not those of a key: the demo, the console, a request for a key. They go to the site's own origin with the
 * transport of the client, each once, and take as long as they take.
 */

import { type SdkCall, Transport } from "../../sdk/transport.ts";

export type PageCall = Pick<SdkCall, "method" | "path" | "query" | "body" | "headers">;

export interface PageAnswer<T> {
  readonly data: T;
  readonly headers: Headers;
}

/** What a page does not want of the client: a person sees a failure, and tries again. */
export const ONE_TRY = { timeoutMs: Number.POSITIVE_INFINITY, retries: 0 } as const;

const pageFetch = (url: string, init: RequestInit) => fetch(url, init);

export async function send<T>(call: PageCall): Promise<PageAnswer<T>> {
  const site = { ...ONE_TRY, baseUrl: location.origin, apiKey: undefined, fetch: pageFetch };
  const { body, headers } = await new Transport(site).send({ ...call, retry: "refused" });
  return { data: body as T, headers };
}
