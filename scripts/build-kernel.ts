/**
 * Compiles src/reader/assembly/kernel.ts (AssemblyScript) to WebAssembly and writes it, as base64, into
 * src/reader/kernel-module.generated.ts, so that Node and browsers load it without a file of its own:
 * npm run kernel. The compiler gives the same bytes for the same source; a test compares them.
 */

import { writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import asc from "assemblyscript/asc";

const root = fileURLToPath(new URL("..", import.meta.url));
const SOURCE = "src/reader/assembly/kernel.ts";
const TARGET = new URL("../src/reader/kernel-module.generated.ts", import.meta.url);
const OPTIONS = ["-O3", "--runtime", "stub", "--enable", "simd", "--importMemory", "--noAssert"];

export async function compileKernel(): Promise<Uint8Array> {
  let module: Uint8Array | undefined;
  const { error, stderr } = await asc.main(
    [SOURCE, "--outFile", "kernel.wasm", "--baseDir", root, ...OPTIONS],
    {
      writeFile: (name: string, contents: Uint8Array | string) => {
        if (name === "kernel.wasm" && typeof contents !== "string") module = contents.slice();
      },
    },
  );
  if (error !== null || module === undefined) throw new Error(`the kernel does not compile:\n${stderr}`);
  return module;
}

export function kernelModuleSource(module: Uint8Array): string {
  const base64 = Buffer.from(module).toString("base64");
  return `/** Written by scripts/build-kernel.ts from assembly/kernel.ts; ${module.length} bytes of WebAssembly. */\n\nexport const KERNEL_MODULE =\n  "${base64}";\n`;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  writeFileSync(TARGET, kernelModuleSource(await compileKernel()));
}
