/**
 * `sideband serve`: one process, or a primary with SIDEBAND_WORKERS workers that share the port and the data
 * folder. SIGTERM and SIGINT end it in order: no new connections, running requests finish, the store is closed.
 */

import cluster from "node:cluster";
import type { Config } from "../config.ts";
import { joinPrimary, runPrimary } from "./cluster.ts";
import { firstStartText, prepareDataFolder } from "./first-start.ts";
import { withNewCore } from "./operator.ts";
import { startService } from "./service.ts";

/** Resolves when the service has ended in order. */
export async function serve(config: Config, print: (line: string) => void): Promise<void> {
  if (cluster.isWorker) {
    const service = await startService(config, { companions: joinPrimary() });
    await untilSignal();
    await service.close();
    // The channel to the primary would keep the process alive.
    process.disconnect?.();
    return;
  }
  let firstKey: string | undefined;
  const announce = (url: string) => {
    print(`listening on ${url}`);
    if (firstKey !== undefined) print(firstStartText(url, firstKey, config.dataFolder));
  };
  if (config.workers > 1) {
    firstKey = await withNewCore(config, (core) => prepareDataFolder(core, config));
    return runPrimary(config, announce, untilSignal());
  }
  const service = await startService(config, {
    prepare: async (core) => {
      firstKey = await prepareDataFolder(core, config);
    },
  });
  announce(service.url);
  await untilSignal();
  await service.close();
}

function untilSignal(): Promise<void> {
  return new Promise((resolve) => {
    // Kept for ever: a second signal must not cut the orderly end short.
    for (const signal of ["SIGTERM", "SIGINT"] as const) process.on(signal, () => resolve());
  });
}
