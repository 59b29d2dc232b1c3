/**
 * A secret is written, replaced, and erased as the peer says: where it can still be found. In its files it is looked for byte by
 * byte, before and after what the peer calls compaction, and in a copy of the folder that was made before.
 */

import { cpSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Measure } from "../measure.ts";

const LABEL = "FACT.canary";
const OTHERS = 20;

export const erase: Measure = {
  limitS: 240,
  async run({ place, start, run }) {
    const canary = `canary ${run} ${"quetzal".repeat(3)}`;
    const at = place();
    const memory = await start(at);
    for (let i = 0; i < OTHERS; i++) await memory.write(`FACT.other${i}`, `another fact ${i}`);
    await memory.write(LABEL, canary);
    await memory.write(LABEL, `${canary}, again`);
    const before = { read: (await memory.read(LABEL))?.includes(canary), files: isIn(at.data, canary) };
    const backup = join(at.folder, "backup");
    cpSync(at.data, backup, { recursive: true, filter: (path) => !path.endsWith(".sock") });
    await memory.erase(LABEL);
    const answers = [await memory.read(LABEL), await memory.index()];
    const history = await memory.history?.(LABEL).catch(() => "");
    const files = isIn(at.data, canary);
    await memory.compact?.();
    const filesAfter = isIn(at.data, canary);
    const inBackup = isIn(backup, canary);
    const answered = answers.some((text) => text?.includes(canary));
    return {
      before,
      answered,
      history: history?.includes(canary) ?? false,
      files,
      filesAfter,
      backup: inBackup,
    };
  },
};

/** Whether any file below a folder has the text. */
function isIn(folder: string, text: string): boolean {
  return readdirSync(folder, { withFileTypes: true, recursive: true }).some(
    (entry) => entry.isFile() && readFileSync(join(entry.parentPath, entry.name)).includes(text),
  );
}
