/**
 * Compiles src/reader/assembly/kernel.ts (AssemblyScript) to WebAssembly and writes it, as base64, into
 * src/reader/kernel-module.generated.ts, so that Node and browsers load it without a file of its own:
 * npm ci --prefix scripts/kernel && npm run kernel. The compiler takes 100 MB, so it is a package of its own. The file
 * that is written holds the checksums of the source and of the module, which a test compares. The compiler gives the
 * same bytes for the same source: `npm run kernel -- --check` compiles and compares, and writes nothing.
 */

import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const SOURCE_FOLDER = "src/reader/assembly";
const TARGET = new URL("../src/reader/kernel-module.generated.ts", import.meta.url);
const COMPILER = join(root, "scripts", "kernel", "node_modules", "assemblyscript", "bin", "asc.js");
const OPTIONS = [
  "-O3",
  "--runtime",
  "stub",
  "--enable",
  "simd",
  "--importMemory",
  "--initialMemory",
  "4",
  "--noAssert",
];

/** The text of the generated file for a compiled module. */
export function kernelModuleSource(module: Uint8Array): string {
  const base64 = Buffer.from(module).toString("base64");
  return `/**
 * Written by scripts/build-kernel.ts; ${module.length} bytes of WebAssembly.
 * SHA-256 of the source in assembly/: ${sourceChecksum()}
 * SHA-256 of the module: ${sha256(module)}
 */

export const KERNEL_MODULE =
  "${base64}";
`;
}

/** The compiler runs in a process of its own: tsx, which runs this one, takes ten seconds to import it. */
function compileKernel(): Uint8Array {
  if (!existsSync(COMPILER))
    throw new Error("the compiler is not installed: run npm ci --prefix scripts/kernel");
  const folder = mkdtempSync(join(tmpdir(), "sideband-kernel-"));
  try {
    const file = join(folder, "kernel.wasm");
    const source = `${SOURCE_FOLDER}/kernel.ts`;
    execFileSync(process.execPath, [COMPILER, source, "--outFile", file, ...OPTIONS], { cwd: root });
    return readFileSync(file);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Over the options of the compiler and every file of the source, in the order of their names. */
function sourceChecksum(): string {
  const folder = join(root, SOURCE_FOLDER);
  const files = readdirSync(folder)
    .filter((name) => name.endsWith(".ts"))
    .sort();
  return sha256(
    [OPTIONS.join(" "), ...files.map((name) => readFileSync(join(folder, name), "utf8"))].join("\n"),
  );
}

function sha256(content: string | Uint8Array): string {
  return createHash("sha256").update(content).digest("hex");
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const text = kernelModuleSource(compileKernel());
  if (!process.argv.includes("--check")) writeFileSync(TARGET, text);
  else if (text !== readFileSync(TARGET, "utf8")) {
    console.error("src/reader/kernel-module.generated.ts is not what the source compiles to: npm run kernel");
    process.exitCode = 1;
  }
}
