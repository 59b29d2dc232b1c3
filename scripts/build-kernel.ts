/**
 * Compiles src/reader/assembly/kernel.ts (AssemblyScript) to WebAssembly and writes it, as base64, into
 * src/reader/kernel-module.generated.ts, so that Node and browsers load it without a file of its own:
 * npm run kernel. The compiler gives the same bytes for the same source; a test compares them.
 */

import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const SOURCE = "src/reader/assembly/kernel.ts";
const TARGET = new URL("../src/reader/kernel-module.generated.ts", import.meta.url);
const OPTIONS = ["-O3", "--runtime", "stub", "--enable", "simd", "--importMemory", "--noAssert"];

/** The compiler runs in a process of its own: tsx, which runs this one, takes ten seconds to import it. */
export function compileKernel(): Uint8Array {
  const compiler = join(root, "node_modules", "assemblyscript", "bin", "asc.js");
  const folder = mkdtempSync(join(tmpdir(), "sideband-kernel-"));
  try {
    const file = join(folder, "kernel.wasm");
    execFileSync(process.execPath, [compiler, SOURCE, "--outFile", file, ...OPTIONS], { cwd: root });
    return readFileSync(file);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

export function kernelModuleSource(module: Uint8Array): string {
  const base64 = Buffer.from(module).toString("base64");
  return `/** Written by scripts/build-kernel.ts from assembly/kernel.ts; ${module.length} bytes of WebAssembly. */\n\nexport const KERNEL_MODULE =\n  "${base64}";\n`;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  writeFileSync(TARGET, kernelModuleSource(compileKernel()));
}
