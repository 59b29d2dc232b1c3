/**
 * A process that writes into a store: eight writers at once, each on its own channel, now and then forgetting a
 * user. When told to stop it reports what was acknowledged, and checks its own reads against it.
 */

import { Metrics } from "../../src/base/metrics.ts";
import { LmdbStore } from "../../src/store/lmdb/lmdb-store.ts";

const [folder, name] = process.argv.slice(2);
const store = await LmdbStore.open({ folder, create: false, queueMax: 10_000, metrics: new Metrics() });
const acknowledged: Record<string, string> = {};
let running = true;
let forgotten = 0;
let mismatches = 0;

process.on("message", () => {
  running = false;
});
process.send?.("ready");

await Promise.all(
  Array.from({ length: 8 }, async (_, channel) => {
    for (let i = 0; running; i++) {
      const userId = `${name}-${channel}-${i % 40}`;
      const facts = [{ channel, value: `value ${i}` }];
      await store.write({ account: "acme", userId, nowMs: Date.now(), facts });
      acknowledged[`${userId}/${channel}`] = `value ${i}`;
      if (store.readFact("acme", userId, channel)?.value !== `value ${i}`) mismatches += 1;
      if (i % 7 !== 3) continue;
      await store.forgetUser("acme", userId);
      delete acknowledged[`${userId}/${channel}`];
      forgotten += 1;
    }
  }),
);
await store.close();
process.send?.({ acknowledged, forgotten, mismatches });
process.disconnect?.();
