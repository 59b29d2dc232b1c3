/**
 * kill -9 under load, again and again on the same data folder: 32 writers encode without a pause, the process
 * is killed after a random number of them, and the next start must have every fact that was acknowledged, with a
 * counter that agrees with what is stored. Run alone with a number of rounds: npm run test:kill -- 20
 */

import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { seededRandom } from "../../src/base/random.ts";
import { send } from "../http/plain-client.ts";
import { firstKey, startServerProcess } from "./server-process.ts";

const WRITERS = 32;

export interface KillReport {
  readonly rounds: number;
  readonly acknowledged: number;
  readonly lost: number;
}

/** @param writesMax of a round, before it is killed */
export async function killRounds(rounds: number, seed: number, writesMax = 500): Promise<KillReport> {
  const folder = mkdtempSync(join(tmpdir(), "sideband-kill-"));
  const random = seededRandom(seed);
  const acknowledged: string[] = [];
  let key = "";
  try {
    for (let round = 0; round < rounds; round++) {
      const server = await startServerProcess({ SIDEBAND_DATA: folder });
      if (round === 0) key = await firstKey(server);
      let running = true;
      const writers = Array.from({ length: WRITERS }, async (_, writer) => {
        for (let i = 0; running; i++) {
          const user = `r${round}-w${writer}-${i}`;
          const body = { user_id: user, label: "TASK.current", value: `fact of ${user}` };
          try {
            const answer = await send(server.url, "POST", "/encode", { key, body });
            if (answer.status === 200) acknowledged.push(user);
          } catch {
            return;
          }
        }
      });
      const enough = acknowledged.length + 50 + random.below(writesMax - 50);
      while (acknowledged.length < enough) await setTimeout(1);
      server.process.kill("SIGKILL");
      running = false;
      await Promise.all(writers);
      await server.ended;
    }
    return { rounds, acknowledged: acknowledged.length, lost: await countLost(folder, key, acknowledged) };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function countLost(folder: string, key: string, acknowledged: readonly string[]): Promise<number> {
  const server = await startServerProcess({ SIDEBAND_DATA: folder });
  try {
    let lost = 0;
    for (const user of acknowledged) {
      const { json } = await send(server.url, "GET", `/decode?user_id=${user}&label=TASK.current`, { key });
      if (json.value !== `fact of ${user}`) lost += 1;
    }
    const { used } = (await send(server.url, "GET", "/usage", { key })).json;
    const metrics = (await send(server.url, "GET", "/metrics", {})).text;
    const stored = Number(/sideband_store_facts (\d+)/.exec(metrics)?.[1]);
    // Every write has a user of its own: what is stored, what is counted and what was acknowledged must agree.
    assert.equal(used, stored, "the counter agrees with what is stored");
    assert.ok(stored >= acknowledged.length, "nothing acknowledged is missing");
    return lost;
  } finally {
    server.process.kill("SIGTERM");
    assert.equal(await server.ended, 0);
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const seed = Number(process.argv[3] ?? Date.now() % 2 ** 32);
  const report = await killRounds(Number(process.argv[2] ?? 20), seed);
  console.log(
    `${report.rounds} × kill -9 (seed ${seed}): ${report.acknowledged} acknowledged, ${report.lost} lost`,
  );
  process.exitCode = report.lost === 0 ? 0 : 1;
}
