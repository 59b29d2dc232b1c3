/** What each of the three packages weighs: its tarball as npm packs it, and an installation of that in an empty project. */

import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { packageFolder } from "../agents/built.ts";
import { withTable } from "./table.ts";

const PAGE = join(packageFolder, "docs", "PLATFORMS.md");
const BUILT = join(packageFolder, "dist", "packages");
const FOLDERS = [packageFolder, join(BUILT, "client"), join(BUILT, "block")];

interface PackageSize {
  readonly name: string;
  readonly tarballBytes: number;
  readonly unpackedBytes: number;
  /** With its dependencies, itself included. */
  readonly packages: number;
  readonly installedBytes: number;
}

/** Measures the built packages and writes the table of docs/PLATFORMS.md. */
export function writePackageSizes(): void {
  const sizes = FOLDERS.map(sizeOf);
  const rows = sizes.map(({ name, tarballBytes, unpackedBytes, packages, installedBytes }) => [
    `\`${name}\``,
    ...[tarballBytes, unpackedBytes].map(kilobytes),
    String(packages),
    kilobytes(installedBytes),
  ]);
  const head = ["package", "tarball", "unpacked", "packages in an installation", "installed"];
  const page = withTable(readFileSync(PAGE, "utf8"), "What an installation brings", [head, ...rows]);
  const where = `Linux, ${process.arch}, Node ${process.version.slice(1)}, ${new Date().toISOString().slice(0, 10)}`;
  writeFileSync(
    PAGE,
    page.replace(/(Measured on )[^\n]*(\.\n)/, (_, before, end) => before + where + end),
  );
}

function sizeOf(folder: string): PackageSize {
  const room = mkdtempSync(join(tmpdir(), "sideband-size-"));
  const npm = (cwd: string, ...args: string[]) =>
    execFileSync("npm", [...args, "--ignore-scripts"], {
      cwd,
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"],
      maxBuffer: 1 << 26,
    });
  try {
    const [packed] = JSON.parse(npm(folder, "pack", "--json", "--pack-destination", room));
    const project = join(room, "project");
    mkdirSync(project);
    writeFileSync(join(project, "package.json"), '{ "private": true }\n');
    npm(project, "install", join(room, packed.filename), "--no-audit", "--no-fund");
    const modules = join(project, "node_modules");
    const { packages } = JSON.parse(readFileSync(join(modules, ".package-lock.json"), "utf8"));
    return {
      name: packed.name,
      tarballBytes: packed.size,
      unpackedBytes: packed.unpackedSize,
      packages: Object.keys(packages).length,
      installedBytes: fileBytesIn(modules),
    };
  } finally {
    rmSync(room, { recursive: true });
  }
}

function fileBytesIn(folder: string): number {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, entry) => sum + statSync(join(entry.parentPath, entry.name)).size, 0);
}

function kilobytes(bytes: number): string {
  return `${Math.round(bytes / 1000).toLocaleString("en-US")} KB`;
}
