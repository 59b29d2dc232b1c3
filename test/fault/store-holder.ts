/** A process that owns a data folder and holds it until it is killed. */

import { Metrics } from "../../src/base/metrics.ts";
import { LmdbStore } from "../../src/store/lmdb/lmdb-store.ts";

const [folder] = process.argv.slice(2);
const store = await LmdbStore.open({ folder, create: true, queueMax: 10, metrics: new Metrics() });
const facts = [{ channel: 0, value: "Ada" }];
await store.write({ account: "acme", userId: "ada", nowMs: 0, facts });
process.send?.("ready");
setInterval(() => {}, 60_000);
