/** The address of a data folder's door: a socket in the folder, or on Windows a named pipe with a hash of its path. */

import { createHash } from "node:crypto";
import { symlinkSync } from "node:fs";
import { join, resolve, win32 } from "node:path";
import { LINK_FILE, makePrivateFolder } from "./private-folder.ts";

const DOOR_FILE = "door.sock";
/** A socket's address has at most 104 bytes on macOS and 108 on Linux, with the final zero. */
const PATH_BYTES_MAX = 100;
const shortened = new Map<string, string>();

export function doorPath(folder: string, platform = process.platform): string {
  if (platform === "win32") {
    // Of the two spellings C:\data and c:\data, hosts use both.
    const name = win32.resolve(folder).toLowerCase();
    return `\\\\.\\pipe\\sideband-${createHash("sha256").update(name).digest("hex").slice(0, 32)}`;
  }
  const whole = resolve(folder);
  const path = join(whole, DOOR_FILE);
  if (Buffer.byteLength(path) <= PATH_BYTES_MAX) return path;
  return join(shortLink(whole), DOOR_FILE);
}

/** A symbolic link to the folder that is short enough for a socket's address. It is removed when the process ends. */
function shortLink(folder: string): string {
  let link = shortened.get(folder);
  if (link === undefined) {
    const home = makePrivateFolder();
    link = join(home.path, LINK_FILE);
    symlinkSync(folder, link);
    shortened.set(folder, link);
    process.once("exit", home.remove);
  }
  return link;
}
