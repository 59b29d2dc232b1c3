/**
 * What a heavy neighbour costs: the first /context of a stranger with five short facts, alone, and beside three
 * connections of another account that send batches of 40 values of 1,000 random characters as fast as they can.
 */

import type { ChildProcess } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { seededRandom } from "../../src/base/random.ts";
import { readConfig } from "../../src/config.ts";
import { openCore } from "../../src/main/core.ts";
import { median } from "../median.ts";
import type { LoadJob, LoadResult } from "./load.ts";
import { ask, startServer, untilQuiet } from "./running-server.ts";

export interface Neighbour {
  readonly aloneMs: number;
  readonly besideMs: number;
  readonly worstMs: number;
  /** The median and the worst beside the neighbour, as ratios to the median alone. */
  readonly medianRatio: number;
  readonly worstRatio: number;
  /** The neighbour's batches that were answered in the meantime. */
  readonly batches: number;
}

const STRANGERS = 50;
const CONNECTIONS = 3;
const VALUES = 40;
const VALUE_LENGTH = 1_000;
const SLICE_MS = 500;

export async function measureNeighbour(load: ChildProcess, small: boolean): Promise<Neighbour> {
  const folder = mkdtempSync(join(tmpdir(), "sideband-neighbour-"));
  const core = await openCore(readConfig({ SIDEBAND_DATA: folder }), { create: true });
  const keyOf = async (account: string) => (await core.keys.create({ account, tier: "unlimited" })).key;
  const [heavy, stranger] = [await keyOf("heavy"), await keyOf("stranger")];
  await core.close();
  const server = await startServer(folder, { key: stranger });
  try {
    const { port } = server;
    const url = `http://127.0.0.1:${port}`;
    const { channels } = (await (await fetch(`${url}/channels`)).json()) as { channels: { label: string }[] };
    const labels = channels.slice(0, VALUES).map(({ label }) => label);
    const count = small ? 3 : STRANGERS;
    const visit = async (name: string) => {
      const times: number[] = [];
      for (let i = 0; i < count; i++) times.push(await firstContext(url, stranger, `${name}-${i}`, labels));
      return times.sort((a, b) => a - b);
    };
    await visit("warm");
    await untilQuiet(server.process, small);
    const alone = await visit("alone");

    const request = batchRequest(heavy, labels);
    let batches = 0;
    let isOver = false;
    const neighbour = (async () => {
      while (!isOver) {
        const job: LoadJob = { port, connections: CONNECTIONS, durationMs: SLICE_MS, request, from: batches };
        const { answers, others } = await ask<LoadResult>(load, job);
        if (others > 0) throw new Error(`${others} of the neighbour's batches were refused`);
        batches += answers;
      }
    })();
    const beside = await visit("beside").finally(() => {
      isOver = true;
    });
    await neighbour;
    const [aloneMs, besideMs, worstMs] = [median(alone), median(beside), beside[beside.length - 1]];
    return {
      aloneMs,
      besideMs,
      worstMs,
      medianRatio: besideMs / aloneMs,
      worstRatio: worstMs / aloneMs,
      batches,
    };
  } finally {
    await server.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Milliseconds of the first /context of a user who has just written five facts. */
async function firstContext(url: string, key: string, userId: string, labels: string[]): Promise<number> {
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
  const facts = ["Ada", "Nairobi", "prefers short answers", "Debian 13", "ship the parser"].map(
    (value, i) => ({
      label: labels[i],
      value: `${value} ${userId}`,
    }),
  );
  const body = JSON.stringify({ user_id: userId, facts });
  const stored = await fetch(`${url}/encode/batch`, { method: "POST", headers, body });
  if (stored.status !== 200) throw new Error(`a stranger's batch was answered ${stored.status}`);
  await stored.text();
  const startedMs = performance.now();
  const answer = await fetch(`${url}/context?user_id=${userId}`, { headers });
  const context = (await answer.json()) as { channel_count: number; fdm_block: string };
  const ms = performance.now() - startedMs;
  if (context.channel_count !== facts.length || context.fdm_block.split(" ").length !== 514)
    throw new Error(`a stranger's context was answered ${answer.status}`);
  return ms;
}

function batchRequest(key: string, labels: readonly string[]): string {
  const random = seededRandom(1);
  // All printable characters but those that JSON escapes, and "#", which the load replaces by a number.
  const characters = Array.from({ length: 94 }, (_, i) => String.fromCodePoint(0x21 + i)).filter(
    (character) => !'"\\#'.includes(character),
  );
  const facts = labels.map((label) => ({
    label,
    value: Array.from({ length: VALUE_LENGTH }, () => random.pick(characters)).join(""),
  }));
  const body = JSON.stringify({ user_id: "user-#", facts });
  const length = body.replace("#", "123456789").length;
  return `POST /encode/batch HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${key}\r\nContent-Type: application/json\r\nContent-Length: ${length}\r\n\r\n${body}`;
}
