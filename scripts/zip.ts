/** A ZIP archive of files with their permissions. The same files make the same archive. */

import { type Zippable, zipSync } from "fflate";

export interface ZippedFile {
  readonly name: string;
  readonly bytes: Uint8Array;
  /** Its permissions. */
  readonly mode: number;
}

const UNIX = 3;
const REGULAR_FILE = 0o100000;

export function zip(files: readonly ZippedFile[]): Uint8Array {
  const entries = files.map(({ name, bytes, mode }): [string, Zippable[string]] => [
    name,
    [bytes, { os: UNIX, attrs: ((REGULAR_FILE | mode) << 16) >>> 0 }],
  ]);
  return zipSync(Object.fromEntries(entries), { mtime: new Date(1980, 0, 1) });
}
