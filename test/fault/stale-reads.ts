/**
 * What was acknowledged is seen at once by everybody: a write, a deletion and a revocation on one connection, then a
 * read on another. Run alone with a number of rounds: npm run test:stale -- 100000
 */

import { Agent, request } from "node:http";
import { fileURLToPath } from "node:url";
import { ProgressLine } from "../../src/cli/printed.ts";
import { startRunning } from "../http/running-service.ts";

export interface StaleReport {
  readonly writes: number;
  readonly deletions: number;
  readonly revocations: number;
  readonly stale: number;
}

const LANES = 32;
const REVOKE_EVERY = 50;

export async function countStale(rounds: number, step: () => void = () => {}): Promise<StaleReport> {
  const running = await startRunning({ SIDEBAND_LOG_LEVEL: "silent" }, undefined, { warm: false });
  const { port } = new URL(running.url);
  // One connection for each, kept open: the two of a lane are never the same.
  const connection = () => new Agent({ keepAlive: true, maxSockets: 1 });
  const call = (agent: Agent, key: string, method: string, path: string, body?: object) =>
    new Promise<{ status: number; text: string }>((resolve, reject) => {
      const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
      const sent = request({ port, host: "127.0.0.1", agent, method, path, headers }, async (response) => {
        let text = "";
        for await (const chunk of response) text += chunk;
        resolve({ status: response.statusCode ?? 0, text });
      });
      sent.on("error", reject).end(body === undefined ? undefined : JSON.stringify(body));
    });
  const report = { writes: 0, deletions: 0, revocations: 0, stale: 0 };
  const expect = (holds: boolean) => {
    if (!holds) report.stale += 1;
  };
  let left = rounds;
  const lane = async (number: number) => {
    const [one, other] = [connection(), connection()];
    const path = `/decode?user_id=lane-${number}&label=USER.name`;
    for (let round = left--; round > 0; round = left--) {
      const value = `value ${round}`;
      await call(one, running.key, "POST", "/encode", {
        user_id: `lane-${number}`,
        label: "USER.name",
        value,
      });
      const read = await call(other, running.key, "GET", path);
      expect(read.status === 200 && JSON.parse(read.text).value === value);
      report.writes += 1;
      await call(one, running.key, "DELETE", `/facts?user_id=lane-${number}&label=USER.name`);
      expect((await call(other, running.key, "GET", path)).status === 404);
      report.deletions += 1;
      if (round % REVOKE_EVERY === 0) {
        const { key, record } = await running.service.core.keys.create({ account: "acme" });
        expect((await call(other, key, "GET", "/usage")).status === 200);
        await call(one, "admin-token-for-tests", "POST", `/admin/keys/${record.id}/revoke`);
        expect((await call(other, key, "GET", "/usage")).status === 403);
        report.revocations += 1;
      }
      step();
    }
    one.destroy();
    other.destroy();
  };
  await Promise.all(Array.from({ length: LANES }, (_, i) => lane(i)));
  await running.end();
  return report;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const rounds = Number(process.argv[2] ?? 100_000);
  const progress = new ProgressLine("rounds", rounds);
  const { writes, deletions, revocations, stale } = await countStale(rounds, () => progress.step());
  progress.end();
  console.log(`${writes} writes, ${deletions} deletions, ${revocations} revocations: ${stale} stale reads`);
  process.exitCode = stale === 0 ? 0 : 1;
}
