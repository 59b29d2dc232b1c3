/** An HTTP server that answers as a test tells it, and remembers what it was asked. */

import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { TestContext } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import { freePort } from "../../../bench/store/free-port.ts";
import type { Fetch } from "../../../src/sdk/index.ts";

export interface SeenRequest {
  method: string;
  path: string;
  query: Record<string, string>;
  headers: IncomingHttpHeaders;
  body: unknown;
}

export interface ScriptedAnswer {
  status?: number;
  headers?: Record<string, string>;
  body?: unknown;
}

/** What to answer; `hang` leaves the request open, `drop` closes its connection. */
export type Script = (
  request: SeenRequest,
  count: number,
) => ScriptedAnswer | "hang" | "drop" | Promise<ScriptedAnswer>;

export interface ScriptedServer {
  url: string;
  seen: SeenRequest[];
}

/** Runs until the test ends. */
export async function scriptedServer(t: TestContext, script: Script): Promise<ScriptedServer> {
  const seen: SeenRequest[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const text = Buffer.concat(chunks).toString();
    const url = new URL(request.url!, "http://x");
    const { method = "", headers } = request;
    seen.push({
      method,
      path: url.pathname,
      query: Object.fromEntries(url.searchParams),
      headers,
      body: text === "" ? undefined : JSON.parse(text),
    });
    const answer = await script(seen[seen.length - 1], seen.length);
    if (answer === "drop") request.socket.destroy();
    else if (answer !== "hang") send(response, answer);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
    // The client hears of it, and stops its own timers, before the next test may replace them.
    for (let i = 0; i < 3; i++) await turn();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, seen };
}

function send(response: ServerResponse, { status = 200, headers = {}, body }: ScriptedAnswer): void {
  response.writeHead(status, {
    "content-type": status >= 400 ? "application/problem+json" : "application/json",
    ...headers,
  });
  response.end(body === undefined ? undefined : typeof body === "string" ? body : JSON.stringify(body));
}

/**
 * A fetch that is asked without a server, so that a short time-out on a busy machine cannot keep a request from being seen.
 * `hang` waits for the abort.
 */
export function scriptedFetch(script: (count: number) => object | "hang"): {
  fetch: Fetch;
  methods: string[];
} {
  const methods: string[] = [];
  const fetch: Fetch = async (_url, { method = "GET", signal }) => {
    const answer = script(methods.push(method));
    if (answer !== "hang") return new Response(JSON.stringify(answer));
    return new Promise((_resolve, reject) => {
      signal?.addEventListener("abort", () => reject(signal.reason));
    });
  };
  return { fetch, methods };
}

/** An address where nothing listens. */
export async function closedPort(): Promise<string> {
  return `http://127.0.0.1:${await freePort()}`;
}
