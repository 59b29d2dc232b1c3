/**
 * The package as npm packs it, in a project of its own. Its dependencies are links to those of the repository, so that no
 * registry is asked.
 */

import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { builtSideband, packageFolder } from "./built.ts";

export interface PackedProject {
  readonly folder: string;
  /** The script in the unpacked package. */
  readonly script: string;
  end(): void;
}

interface Tarball {
  readonly file: string;
  /** The paths of what is in it. */
  readonly paths: ReadonlySet<string>;
}

let packed: Tarball | undefined;

/** What npm packs, once for all tests of a process. */
export function packedTarball(): Tarball {
  if (packed !== undefined) return packed;
  builtSideband();
  const folder = mkdtempSync(join(tmpdir(), "sideband-tarball-"));
  process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
  const args = ["pack", "--json", "--ignore-scripts", "--pack-destination", folder];
  const [{ filename, files }] = JSON.parse(
    execFileSync("npm", args, {
      cwd: packageFolder,
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"],
      maxBuffer: 1 << 26,
    }),
  ) as [{ filename: string; files: { path: string }[] }];
  packed = { file: join(folder, filename), paths: new Set(files.map(({ path }) => path)) };
  return packed;
}

export function packedProject(): PackedProject {
  const folder = mkdtempSync(join(tmpdir(), "sideband-packed-"));
  const modules = join(folder, "node_modules");
  const installed = join(modules, "sideband");
  mkdirSync(installed, { recursive: true });
  execFileSync("tar", ["-xzf", packedTarball().file, "-C", installed, "--strip-components=1"]);
  const manifest = JSON.parse(readFileSync(join(installed, "package.json"), "utf8"));
  for (const name of Object.keys(manifest.dependencies)) {
    mkdirSync(dirname(join(modules, name)), { recursive: true });
    symlinkSync(join(packageFolder, "node_modules", name), join(modules, name), "dir");
  }
  mkdirSync(join(modules, ".bin"));
  const script = join(installed, manifest.bin.sideband);
  chmodSync(script, 0o755);
  symlinkSync(script, join(modules, ".bin", "sideband"));
  writeFileSync(join(folder, "package.json"), '{ "name": "scratch", "private": true }\n');
  return { folder, script, end: () => rmSync(folder, { recursive: true, force: true }) };
}
