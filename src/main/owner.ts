/**
 * The operator's commands use the owner of the data folder, or are it themselves for as long as they work; in both
 * cases they go through the door. With PostgreSQL there is no folder to own: a command then runs a service of its own,
 * on a private socket.
 */

import { randomBytes } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import type { Config } from "../config.ts";
import { hasCurrentOwner } from "../door-client/background-owner.ts";
import { NoOwnerError, OwnerClient } from "../door-client/owner-client.ts";
import { doorPath, makePrivateFolder } from "../door-client/private-folder.ts";
import { folderError, isAbout } from "./operator-errors.ts";
import { packageVersion } from "./package.ts";
import type { OpenStoreOptions } from "./stores.ts";

export type { OwnerClient };

/** How long an owner may take to hand the folder over, and to answer. */
const HAND_OVER_MS = 15_000;
const ANSWER_MS = 10_000;
const POLL_MS = 20;

/** Runs `work` with the owner of the data folder; where there is none, this process is it until `work` is done. */
export async function withOwner<T>(
  config: Config,
  options: Pick<OpenStoreOptions, "create" | "readOnly" | "newMasterKey">,
  work: (client: OwnerClient) => Promise<T>,
): Promise<T> {
  const asOwner = async (path: string, adminTokens = config.adminTokens) => {
    // Loaded only now: where there is an owner, its service does the work.
    const { exitNow, startService } = await import("./service.ts");
    const service = await startService(
      { ...config, adminTokens, logLevel: "error" },
      { ...options, tcp: false, warm: false, doorPath: path, onLost: exitNow },
    ).catch((error: unknown) => {
      throw isAbout(config.dataFolder, error) ? folderError(config.dataFolder, error) : error;
    });
    return work(new OwnerClient(path)).finally(() => service.close());
  };
  if (config.databaseUrl !== undefined) {
    const home = makePrivateFolder();
    // Nobody else comes to that socket: no file with a token is made for it.
    return asOwner(doorPath(home.path), [randomBytes(24).toString("base64url")]).finally(home.remove);
  }
  const path = doorPath(config.dataFolder);
  const client = new OwnerClient(path);
  const hasOwner = () =>
    hasCurrentOwner(config.dataFolder, packageVersion(), ANSWER_MS).catch((error) => {
      throw folderError(config.dataFolder, error);
    });
  for (const endMs = performance.now() + HAND_OVER_MS; ; await pause(POLL_MS)) {
    try {
      return await ((await hasOwner()) ? work(client) : asOwner(path));
    } catch (error) {
      // Another process has just become the owner, or is about to end: its door will open, or the folder be free.
      const { FolderInUseError } = await import("../store/lmdb/data-folder.ts");
      const changing = error instanceof FolderInUseError || error instanceof NoOwnerError;
      if (!changing || performance.now() >= endMs) throw error;
    }
  }
}
