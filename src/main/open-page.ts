/**
 * `sideband open`: the memory page on this machine until a signal, or until nobody has used it for a while. All users of a
 * machine see the arguments of its processes, so the browser is given a page in a private folder, which leads to the link.
 */

import { type SpawnOptions, spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { assert } from "../base/assert.ts";
import { type AgentConfig, usesService } from "../config.ts";
import { ownerSend, reachOwner } from "../door-client/background-owner.ts";
import { makePrivateFolder, PAGE_FILE } from "../door-client/private-folder.ts";
import { waitForIdle, waitForSignal } from "./lifetime.ts";
import { LocalPage } from "./local-page.ts";
import { folderError } from "./operator-errors.ts";
import { COMMAND_PATH, packageVersion } from "./package.ts";

interface OpenPageOptions {
  readonly config: AgentConfig;
  /** Where the person works. */
  readonly project: string | undefined;
  readonly idleMs: number;
  /** Whether a browser is opened. */
  readonly browser: boolean;
  /** Tells people that the page is open. */
  readonly announce: (link: string) => void;
}

/** Resolves to why it has ended. */
export async function openPage(options: OpenPageOptions): Promise<"signal" | "idle"> {
  const { config, project, idleMs, browser, announce } = options;
  const { dataFolder, account, userId, personTimeoutMs } = config;
  assert(!usesService(config), "the page of a service is at the service");
  const reach = { begin: true, version: packageVersion() };
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
    return await Promise.race([waitForSignal(), waitForIdle(page, idleMs)]);
  } finally {
    removePage();
    page.close();
  }
}

/** How a file is opened as the person would; elsewhere it is the desktop's own way. */
export function openerOf(
  page: string,
  platform = process.platform,
): { command: string; args: string[]; options?: SpawnOptions } {
  if (platform === "darwin") return { command: "open", args: [page] };
  if (platform !== "win32") return { command: "xdg-open", args: [page] };
  return {
    command: "cmd.exe",
    // The path in quotes, as it may have spaces and &. "start" takes the first quotes for a title.
    args: ["/d", "/s", "/c", `"start "" "${page}""`],
    // Windows looks for the program in the working directory first: that may be a stranger's repository.
    options: { windowsVerbatimArguments: true, windowsHide: true, cwd: dirname(process.execPath) },
  };
}

/** The returned function removes the page, and does nothing the second time. */
export function openInBrowser(link: string): () => void {
  const folder = makePrivateFolder();
  const page = join(folder.path, PAGE_FILE);
  const html = `<!doctype html><meta charset="utf-8"><meta name="referrer" content="no-referrer">
<meta http-equiv="refresh" content="0;url=${link}"><title>Sideband</title><a href="${link}">Open the memory</a>\n`;
  writeFileSync(page, html, { mode: 0o600 });
  const { command, args, options } = openerOf(page);
  // Where there is no such command, the person has the link.
  spawn(command, args, { ...options, detached: true, stdio: "ignore" })
    .on("error", () => {})
    .unref();
  return once(folder.remove);
}

function once(work: () => void): () => void {
  let isDone = false;
  return () => {
    if (!isDone) work();
    isDone = true;
  };
}
