/** `sideband open`: the memory page on this machine until a signal, or until nobody has used it for a while. */

import { assert } from "../base/assert.ts";
import { type AgentConfig, usesService } from "../config.ts";
import { ownerSend, reachOwner } from "../door-client/background-owner.ts";
import { openInBrowser } from "./browser.ts";
import { folderError } from "./folder-errors.ts";
import { LocalPage } from "./local-page.ts";
import { COMMAND_PATH, packageVersion } from "./package.ts";

export interface OpenPageOptions {
  readonly config: AgentConfig;
  /** Where the person works. */
  readonly project: string | undefined;
  readonly idleMs: number;
  /** Whether a browser is opened. */
  readonly browser: boolean;
  /** Tells people that the page is open. */
  readonly announce: (link: string) => void;
}

const IDLE_CHECKS = 20;

/** Resolves to why it has ended. */
export async function openPage(options: OpenPageOptions): Promise<"signal" | "idle"> {
  const { config, project, idleMs, browser, announce } = options;
  const { dataFolder, account, userId, personTimeoutMs } = config;
  assert(!usesService(config), "the page of a service is at the service");
  const reach = { begin: false, version: packageVersion() };
  await reachOwner(COMMAND_PATH, dataFolder, personTimeoutMs, reach).catch((error) => {
    throw folderError(dataFolder, error);
  });
  const page = new LocalPage({
    send: ownerSend(COMMAND_PATH, dataFolder, reach),
    account,
    hash: `#${new URLSearchParams({ user: userId, ...(project === undefined ? {} : { project }) })}`,
  });
  const link = await page.start();
  const removePage = browser ? openInBrowser(link) : () => {};
  page.whenUsed(removePage);
  announce(link);
  try {
    return await Promise.race([untilSignalled(), untilUnused(page, idleMs)]);
  } finally {
    removePage();
    page.close();
  }
}

function untilSignalled(): Promise<"signal"> {
  return new Promise((resolve) => {
    for (const signal of ["SIGTERM", "SIGINT"] as const) process.once(signal, () => resolve("signal"));
  });
}

function untilUnused(page: LocalPage, idleMs: number): Promise<"idle"> {
  return new Promise((resolve) => {
    const timer = setInterval(() => {
      if (page.idleMs < idleMs) return;
      clearInterval(timer);
      resolve("idle");
    }, idleMs / IDLE_CHECKS);
    // The server keeps the process; once that is closed, nothing does.
    timer.unref();
  });
}
