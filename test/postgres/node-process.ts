/** One node of a cluster, as a process of its own: starts the service from its environment, tells its address. */

import { readConfig } from "../../src/config.ts";
import { startService } from "../../src/main/service.ts";

const service = await startService(readConfig());
process.stdout.write(`${service.url}\n`);
process.once("SIGTERM", () => void service.close());
