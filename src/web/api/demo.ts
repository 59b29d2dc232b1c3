/**
 * The demo endpoints, as the playground calls them: on a sandbox, which is in the address of the page, so that a reload
 * finds it again. What was called last is remembered, to be shown as a command.
 */

import type { Reader } from "../codec/messages.ts";
import { call, type Method } from "./request.ts";

export interface DemoChannel {
  readonly channel: number;
  readonly label: string;
  readonly description: string;
  readonly example: string;
}

export interface DemoContext {
  readonly fdm_block: string;
  readonly channel_count: number;
  readonly channel_labels: readonly string[];
  readonly plain_index: string;
}

export interface DemoState {
  readonly context: DemoContext;
  /** The time of the next reset, by this machine's clock. */
  readonly resetsAtMs: number | undefined;
}

export interface ServerReading {
  readonly facts: readonly { readonly label: string; readonly value: string; readonly channel: number }[];
  readonly missing: number;
  readonly wrong: number;
  readonly repaired: number;
  readonly guard_left: number;
}

/** A call that a visitor made, and what came back. */
export interface ShownCall {
  readonly curl: string;
  readonly answer: string;
}

export async function fetchChannels(): Promise<readonly DemoChannel[]> {
  return (await call<{ channels: DemoChannel[] }>("GET", "/channels")).data.channels;
}

export class DemoSandbox {
  /** Three hexadecimal digits. */
  readonly id: string;
  /** Whether it was chosen now, and not found in the page's address. */
  readonly isNew: boolean;
  onCall: (shown: ShownCall) => void = () => {};

  constructor(hash: string) {
    const found = /^#sandbox=([0-9a-f]{3})$/.exec(hash)?.[1];
    this.id = found ?? crypto.randomUUID().slice(0, 3);
    this.isNew = found === undefined;
  }

  /** The key and versions for reading the demo's blocks. The server gives out this one key, because the demo is public. */
  async reader(): Promise<Reader> {
    const { data } = await this.#call<{
      user_id: string;
      keys: { key_id: number; material: string }[];
      versions: number[];
    }>("GET", "/demo/key");
    return { userId: data.user_id, keys: data.keys, versions: data.versions };
  }

  async state(): Promise<DemoState> {
    const { data, headers } = await this.#call<DemoContext>("GET", "/demo/context");
    const seconds = Number(headers.get("sideband-demo-resets-in") ?? Number.NaN);
    return { context: data, resetsAtMs: Number.isFinite(seconds) ? Date.now() + 1000 * seconds : undefined };
  }

  async write(label: string, value: string): Promise<void> {
    await this.#shownCall("POST", "/demo/encode", {}, { label, value });
  }

  async forget(label: string): Promise<void> {
    await this.#shownCall("DELETE", "/demo/facts", { label });
  }

  async decode(label: string, useModel: boolean): Promise<void> {
    await this.#shownCall("GET", "/demo/decode", { label, ...(useModel ? { use_model: "true" } : {}) });
  }

  async flush(): Promise<void> {
    await this.#shownCall("POST", "/demo/flush");
  }

  async reset(): Promise<void> {
    await this.#shownCall("POST", "/demo/reset");
  }

  async read(block: string): Promise<ServerReading> {
    return this.#shownCall<ServerReading>("POST", "/demo/read", {}, { block });
  }

  #call<T>(method: Method, path: string, query: Record<string, string> = {}, body?: unknown) {
    const options = { query: { ...query, sandbox: this.id }, ...(body === undefined ? {} : { body }) };
    return call<T>(method, path, options);
  }

  async #shownCall<T>(
    method: Method,
    path: string,
    query: Record<string, string> = {},
    body?: unknown,
  ): Promise<T> {
    const address = `${location.origin}${path}?${new URLSearchParams({ ...query, sandbox: this.id })}`;
    const curl = curlOf(method, address, body);
    try {
      const { data } = await this.#call<T>(method, path, query, body);
      this.onCall({ curl, answer: JSON.stringify(data, null, 2) });
      return data;
    } catch (error) {
      this.onCall({ curl, answer: error instanceof Error ? error.message : String(error) });
      throw error;
    }
  }
}

/** The call for a shell. A shell's quoted text cannot hold a single quote: it is closed, and opened again after it. */
function curlOf(method: Method, address: string, body: unknown): string {
  const verb = method === "GET" || body !== undefined ? "" : ` -X ${method}`;
  if (body === undefined) return `curl -s${verb} '${address}'`;
  const json = JSON.stringify(body).replaceAll("'", `'\\''`);
  return `curl -s '${address}' \\\n  -H 'Content-Type: application/json' \\\n  -d '${json}'`;
}
