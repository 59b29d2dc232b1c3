/** Runs the reader in Python over golden blocks: one process for all files, since the weights take a second to load. */

import { execFile } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { packageFolder } from "../agents/built.ts";
import type { BlockVector, Vectors } from "../fixtures/vectors.ts";

const run = promisify(execFile);
const VECTORS = join(packageFolder, "test", "vectors");

export interface Readings {
  /** What the reader printed. */
  readonly printed: string;
  /** What it prints where it has read everything. */
  readonly wanted: string;
  readonly blocks: number;
  readonly values: number;
}

/** Reads the blocks of every version that `isWanted` takes. Throws where the reader finds a difference. */
export async function readInPython(
  isWanted: (block: BlockVector, version: number) => boolean,
): Promise<Readings> {
  const folder = mkdtempSync(join(tmpdir(), "sideband-format-"));
  const readings = { wanted: "", blocks: 0, values: 0 };
  const files: string[] = [];
  try {
    for (const name of readdirSync(VECTORS).filter((file) => file.startsWith("blocks-v"))) {
      const whole = JSON.parse(readFileSync(join(VECTORS, name), "utf8")) as Vectors;
      const blocks = whole.blocks.filter((block) => isWanted(block, whole.formatVersion));
      const values = blocks.reduce((sum, { carried }) => sum + carried.length, 0);
      files.push(join(folder, name));
      writeFileSync(join(folder, name), JSON.stringify({ ...whole, blocks }));
      readings.blocks += blocks.length;
      readings.values += values;
      readings.wanted += `${name}: ${blocks.length} blocks read, ${values} values\n`;
    }
    const script = join(packageFolder, "test", "format", "reader.py");
    const alphabet = join(packageFolder, "src", "codec", "alphabet-data.ts");
    const weights = join(packageFolder, "models", "reader-5.bin");
    // Its products are too small to be shared by threads, which would wait for each other in vain.
    const env = { ...process.env, OPENBLAS_NUM_THREADS: "1" };
    const args = [script, "--alphabet", alphabet, "--weights", weights, ...files];
    const { stdout } = await run("python3", args, { env });
    return { printed: stdout, ...readings };
  } finally {
    rmSync(folder, { recursive: true });
  }
}
