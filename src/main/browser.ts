/**
 * Opens a link in the person's browser. All users of a machine see the arguments of its processes, so the browser is given
 * a page in a private folder, which leads to the link.
 */

import { spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { makePrivateFolder, PAGE_FILE } from "../door-client/private-folder.ts";

/** By platform, what opens a file as the person would; elsewhere it is the desktop's own. */
const OPENERS: Readonly<Record<string, readonly string[]>> = {
  darwin: ["open"],
  win32: ["cmd", "/c", "start", ""],
};
const DESKTOP_OPENER = ["xdg-open"];

/** The returned function removes the page, and does nothing the second time. */
export function openInBrowser(link: string): () => void {
  const folder = makePrivateFolder();
  const page = join(folder.path, PAGE_FILE);
  const html = `<!doctype html><meta charset="utf-8"><meta name="referrer" content="no-referrer">
<meta http-equiv="refresh" content="0;url=${link}"><title>Sideband</title><a href="${link}">Open the memory</a>\n`;
  writeFileSync(page, html, { mode: 0o600 });
  const [command, ...args] = OPENERS[process.platform] ?? DESKTOP_OPENER;
  // Where there is no such command, the person has the link.
  spawn(command, [...args, page], { detached: true, stdio: "ignore" })
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
