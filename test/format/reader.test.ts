/**
 * The format page is enough to write a reader: one in Python, which follows the page alone, reads every golden block. The
 * reader model takes most of the time: where it has own channels, its values are those of version 7, and the blocks are
 * read that show the directory.
 */

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { suite, test } from "node:test";
import { promisify } from "node:util";
import { packageFolder } from "../agents/built.ts";
import type { Vectors } from "../fixtures/vectors.ts";
import { findNumpy } from "./numpy.ts";

const run = promisify(execFile);
const vectors = join(packageFolder, "test", "vectors");
const golden = readdirSync(vectors).filter((name) => name.startsWith("blocks-v"));
const FEW: Readonly<Record<string, (block: Vectors["blocks"][number]) => boolean>> = {
  "blocks-v23.json": ({ carried }) => carried.length < 10,
};

suite("a reader in Python", { concurrency: true }, () => {
  for (const name of golden) {
    test(`reads ${name}`, async (t) => {
      if (!findNumpy()) {
        t.skip("no python3 with numpy on this machine");
        return;
      }
      const script = join(packageFolder, "test", "format", "reader.py");
      const alphabet = join(packageFolder, "src", "codec", "alphabet-data.ts");
      const weights = join(packageFolder, "models", "reader-5.bin");
      const whole = JSON.parse(readFileSync(join(vectors, name), "utf8")) as Vectors;
      const blocks = whole.blocks.filter(FEW[name] ?? (() => true));
      const folder = mkdtempSync(join(tmpdir(), "sideband-format-"));
      t.after(() => rmSync(folder, { recursive: true }));
      writeFileSync(join(folder, name), JSON.stringify({ ...whole, blocks }));
      const args = [script, "--alphabet", alphabet, "--weights", weights, join(folder, name)];
      // Its products are too small to be shared by threads, which would wait for each other in vain.
      const env = { ...process.env, OPENBLAS_NUM_THREADS: "1" };
      const { stdout } = await run("python3", args, { env });
      const values = blocks.reduce((sum, { carried }) => sum + carried.length, 0);
      assert.ok(values >= (name in FEW ? 10 : 100), "there are values to read");
      assert.equal(stdout, `${name}: ${blocks.length} blocks read, ${values} values\n`);
    });
  }
});
