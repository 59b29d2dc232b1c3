/** The file of an export. An earlier one stays until the new one is whole and on disk. */

import { createReadStream, realpathSync, rmSync, statSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { requireWritable } from "../agents/user-file.ts";
import { linesOf } from "../base/lines.ts";
import { type ExportedKeys, keysOfExport } from "../memory/transfer.ts";
import { renameFile } from "../store/lmdb/durable-files.ts";

/**
 * Writes a new file beside the old one, which it replaces once it is whole; one that is read-only stays. A pipe or a device
 * is written to itself.
 * @returns whether it is a file
 */
export async function writeWhole(
  lines: AsyncIterable<string> | Iterable<string>,
  out: string,
): Promise<boolean> {
  const found = statSync(out, { throwIfNoEntry: false });
  if (found !== undefined && !found.isFile()) {
    await writeFile(out, lines);
    return false;
  }
  requireWritable(out);
  const path = found === undefined ? out : realpathSync(out);
  const draft = `${path}.${process.pid}.new`;
  try {
    await writeFile(draft, lines, { flag: "wx", mode: 0o600, flush: true });
    renameFile(draft, path);
    return true;
  } finally {
    rmSync(draft, { force: true });
  }
}

/** What the file brings along besides facts. */
export function keysIn(path: string): Promise<ExportedKeys> {
  return keysOfExport(linesOf(createReadStream(path)));
}
