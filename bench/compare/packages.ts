/** The packages of the peers, from bench/compare/node_modules: npm ci --prefix bench/compare installs them. */

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const FOLDER = fileURLToPath(new URL("node_modules", import.meta.url));

export const packageFile = (name: string, file: string) => join(FOLDER, name, file);

export function versionOf(name: string): string {
  return JSON.parse(readFileSync(packageFile(name, "package.json"), "utf8")).version;
}

/** By a variable: the type check of the repository does without the packages. */
export function load<T>(name: string): Promise<T> {
  return import(name) as Promise<T>;
}
