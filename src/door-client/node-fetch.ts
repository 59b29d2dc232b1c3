/**
 * A fetch for the client of the service on node:http. Loading the global fetch takes a process tens of milliseconds,
 * and a hook is a process of its own each time.
 */

import type { IncomingMessage } from "node:http";
import type { Fetch } from "../sdk/index.ts";

export const nodeFetch: Fetch = async (url, init) => {
  const { request } = url.startsWith("https:") ? await import("node:https") : await import("node:http");
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    const sent = request(
      url,
      {
        method: init.method ?? "GET",
        headers: init.headers as Record<string, string>,
        ...(init.signal ? { signal: init.signal } : {}),
      },
      resolve,
    );
    sent.on("error", reject);
    sent.end(init.body ?? undefined);
  });
  return fetchAnswer(response);
};

/** An answer of node:http as far as the client uses a fetch's. */
export function fetchAnswer(response: IncomingMessage): Response {
  return {
    status: response.statusCode ?? 0,
    headers: { get: (name: string) => response.headers[name.toLowerCase()] ?? null },
    // Read piece by piece, as that of a fetch is.
    body: response,
  } as unknown as Response;
}

export async function bodyTextOf(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}
