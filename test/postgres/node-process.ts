/**
 * One node of a cluster, as a process of its own: starts the service from its environment, tells its address. Runs as one
 * file that nodes.ts makes of it. Most tests ask for no block: the model is loaded where one does.
 */

import { readConfig } from "../../src/config.ts";
import { startService } from "../../src/main/service.ts";

// A thread has no loader of the sources.
const blockWorker = new URL("../../dist/src/blockwork/block-worker.js", import.meta.url);

const service = await startService(readConfig(), { warm: false, blockWorker });
process.stdout.write(`${service.url}\n`);
process.once("SIGTERM", () => void service.close());
