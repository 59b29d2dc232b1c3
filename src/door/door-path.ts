/** Where the door of a data folder is: a socket in the folder, or on Windows a named pipe named after it. */

import { createHash } from "node:crypto";
import { mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

const DOOR_FILE = "door.sock";
/** A socket's address holds 104 bytes on macOS and 108 on Linux, its end included. */
const PATH_BYTES_MAX = 100;
const shortened = new Map<string, string>();

export function doorPath(folder: string): string {
  const whole = resolve(folder);
  if (process.platform === "win32") {
    return `\\\\.\\pipe\\sideband-${createHash("sha256").update(whole).digest("hex").slice(0, 32)}`;
  }
  const path = join(whole, DOOR_FILE);
  if (Buffer.byteLength(path) <= PATH_BYTES_MAX) return path;
  return join(shortLink(whole), DOOR_FILE);
}

/** A way to the folder that is short enough for a socket's address. It ends with the process. */
function shortLink(folder: string): string {
  let link = shortened.get(folder);
  if (link === undefined) {
    const home = mkdtempSync(join(tmpdir(), "sideband-"));
    link = join(home, "d");
    symlinkSync(folder, link);
    shortened.set(folder, link);
    process.once("exit", () => rmSync(home, { recursive: true, force: true }));
  }
  return link;
}
