/** The demo endpoints, as the playground calls them. */

import type { Reader } from "../codec/messages.ts";
import { call } from "./request.ts";

export interface Channel {
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

export async function fetchChannels(): Promise<readonly Channel[]> {
  return (await call<{ channels: Channel[] }>("GET", "/channels")).data.channels;
}

/** The key and versions for reading the demo's blocks. The server gives out this one key, because the demo is public. */
export async function fetchDemoReader(): Promise<Reader> {
  const { data } = await call<{
    user_id: string;
    keys: { key_id: number; material: string }[];
    versions: number[];
  }>("GET", "/demo/key");
  return { userId: data.user_id, keys: data.keys, versions: data.versions };
}

export async function fetchDemoState(): Promise<DemoState> {
  const { data, headers } = await call<DemoContext>("GET", "/demo/context");
  const seconds = Number(headers.get("sideband-demo-resets-in") ?? Number.NaN);
  return { context: data, resetsAtMs: Number.isFinite(seconds) ? Date.now() + 1000 * seconds : undefined };
}

export async function writeDemoFact(label: string, value: string): Promise<void> {
  await call("POST", "/demo/encode", { body: { label, value } });
}

export async function resetDemo(): Promise<void> {
  await call("POST", "/demo/reset");
}

export async function readDemoBlock(block: string): Promise<ServerReading> {
  return (await call<ServerReading>("POST", "/demo/read", { body: { block } })).data;
}
