/**
 * The demo endpoints, as the playground calls them: on a sandbox, which is in the address of the page, so that a reload
 * finds it again. What was called last is remembered, to be shown as a command.
 */

import type { ChannelsAnswer, ContextAnswer, ReadAnswer } from "../../contract/answers.ts";
import type { Reader } from "../codec/messages.ts";
import { errorText } from "../parts/layout.tsx";
import { type PageAnswer, type PageCall, send } from "./request.ts";

export type DemoChannel = ChannelsAnswer["channels"][number];

export interface DemoState {
  readonly context: ContextAnswer;
  /** The time of the next reset, by this machine's clock. */
  readonly resetsAtMs: number | undefined;
}

/** A call that a visitor made, and what came back. */
export interface LastCall {
  readonly curl: string;
  readonly answer: string;
}

export async function fetchChannels(): Promise<readonly DemoChannel[]> {
  return (await send<ChannelsAnswer>({ method: "GET", path: "/channels" })).data.channels;
}

export class DemoSandbox {
  /** Three hexadecimal digits. */
  readonly id: string;
  /** Whether it was chosen now, and not found in the page's address. */
  readonly isNew: boolean;
  onCall: (call: LastCall) => void = () => {};

  constructor(hash: string) {
    const found = /^#sandbox=([0-9a-f]{3})$/.exec(hash)?.[1];
    this.id = found ?? crypto.randomUUID().slice(0, 3);
    this.isNew = found === undefined;
  }

  /** The key and versions for reading the demo's blocks. The server gives out this one key, because the demo is public. */
  async reader(): Promise<Reader> {
    const { data } = await this.#send<Omit<Reader, "userId"> & { user_id: string }>("GET", "/demo/key");
    return { userId: data.user_id, keys: data.keys, versions: data.versions };
  }

  async state(): Promise<DemoState> {
    const { data, headers } = await this.#send<ContextAnswer>("GET", "/demo/context");
    const seconds = Number(headers.get("sideband-demo-resets-in") ?? Number.NaN);
    return { context: data, resetsAtMs: Number.isFinite(seconds) ? Date.now() + 1000 * seconds : undefined };
  }

  write(label: string, value: string): Promise<void> {
    return this.#shown("POST", "/demo/encode", { body: { label, value } });
  }

  forget(label: string): Promise<void> {
    return this.#shown("DELETE", "/demo/facts", { query: { label } });
  }

  decode(label: string, useModel: boolean): Promise<void> {
    const query = { label, ...(useModel ? { use_model: "true" } : {}) };
    return this.#shown("GET", "/demo/decode", { query });
  }

  flush(): Promise<void> {
    return this.#shown("POST", "/demo/flush");
  }

  reset(): Promise<void> {
    return this.#shown("POST", "/demo/reset");
  }

  read(block: string): Promise<ReadAnswer> {
    return this.#shown("POST", "/demo/read", { body: { block } });
  }

  #send<T>(method: PageCall["method"], path: string, rest: DemoCall = {}): Promise<PageAnswer<T>> {
    return send<T>({ ...rest, method, path, query: { ...rest.query, sandbox: this.id } });
  }

  async #shown<T>(method: PageCall["method"], path: string, rest: DemoCall = {}): Promise<T> {
    const address = `${location.origin}${path}?${new URLSearchParams({ ...rest.query, sandbox: this.id })}`;
    const curl = curlText(method, address, rest.body);
    try {
      const { data } = await this.#send<T>(method, path, rest);
      this.onCall({ curl, answer: JSON.stringify(data, null, 2) });
      return data;
    } catch (error) {
      this.onCall({ curl, answer: errorText(error) });
      throw error;
    }
  }
}

interface DemoCall {
  readonly query?: Record<string, string>;
  readonly body?: unknown;
}

/** The call for a shell. A shell's quoted text cannot hold a single quote: it is closed, and opened again after it. */
function curlText(method: string, address: string, body: unknown): string {
  const verb = method === "GET" || body !== undefined ? "" : ` -X ${method}`;
  if (body === undefined) return `curl -s${verb} '${address}'`;
  const json = JSON.stringify(body).replaceAll("'", `'\\''`);
  return `curl -s '${address}' \\\n  -H 'Content-Type: application/json' \\\n  -d '${json}'`;
}
