/**
 * `sideband serve`: one process, or a primary with SIDEBAND_WORKERS workers that share the port and the data
 * folder. SIGTERM and SIGINT end it in order: no new connections, running requests finish, the store is closed.
 */

import cluster from "node:cluster";
import type { Config } from "../config.ts";
import { joinPrimary, runPrimary } from "./cluster.ts";
import { firstStartText, prepareDataFolder } from "./first-start.ts";
import { type Service, startService } from "./service.ts";

/** Resolves when the service has ended in order. */
export async function serve(config: Config, print: (line: string) => void): Promise<void> {
  if (cluster.isWorker) {
    const service = await startService(config, { companions: joinPrimary() });
    await untilSignal();
    await service.close();
    return;
  }
  const firstKey = await prepareDataFolder(config);
  const announce = (url: string) => {
    print(`listening on ${url}`);
    if (firstKey !== undefined) print(firstStartText(url, firstKey, config.dataFolder));
  };
  if (config.workers > 1) return runPrimary(config, announce, untilSignal());
  const service: Service = await startService(config);
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
