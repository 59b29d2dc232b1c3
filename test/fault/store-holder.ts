/** A process that owns a data folder and holds it until it is killed. */

import { Metrics } from "../../src/base/metrics.ts";
import { LmdbStore } from "../../src/store/lmdb/lmdb-store.ts";
import { changesOf, viewOf } from "../fixtures/views.ts";

const [folder] = process.argv.slice(2);
const store = await LmdbStore.open({ folder, create: true, queueMax: 10, metrics: new Metrics() });
await store.write({ ...viewOf("ada"), changes: changesOf([[0, "Ada"]]) });
process.send?.("ready");
setInterval(() => {}, 60_000);
