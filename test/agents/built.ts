/**
 * The package as it is published: `dist` is built anew where a source is younger. Tests that start `sideband` as
 * a host does run what users run, and start it in a third of the time that it takes from the sources. The same for
 * the website.
 */

import { execFileSync } from "node:child_process";
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

export const packageFolder = fileURLToPath(new URL("../../", import.meta.url));

let checked = false;

/** The script behind the command `sideband`. */
export function builtSideband(): string {
  if (!checked && newestMs("src") > modifiedMs("dist/bundle/cli/main.js")) {
    const compiler = join(packageFolder, "node_modules", "typescript", "bin", "tsc");
    const script = (name: string) => join(packageFolder, "scripts", name);
    for (const args of [
      [compiler, "-p", join(packageFolder, "tsconfig.build.json")],
      ["--import", "tsx", script("write-answers.ts")],
      [script("copy-migrations.js")],
      [script("copy-declarations.js")],
      [script("bundle-command.js")],
    ])
      execFileSync(process.execPath, args, { stdio: "inherit" });
  }
  checked = true;
  return join(packageFolder, "bin", "sideband.js");
}

/** npm ci builds the site; after a change of its sources it is built again. */
export function buildWebsite(): void {
  const built = modifiedMs("dist/web/manifest.json");
  if (
    ["src/web", "src/codec", "src/contract", "src/agent-side", "docs", "scripts"].every(
      (folder) => newestMs(folder) <= built,
    )
  )
    return;
  execFileSync("npm", ["run", "build:web"], { cwd: packageFolder, stdio: ["ignore", "ignore", "inherit"] });
}

function modifiedMs(file: string): number {
  return statSync(join(packageFolder, file), { throwIfNoEntry: false })?.mtimeMs ?? 0;
}

function newestMs(folder: string): number {
  return readdirSync(join(packageFolder, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((newest, entry) => Math.max(newest, statSync(join(entry.parentPath, entry.name)).mtimeMs), 0);
}
