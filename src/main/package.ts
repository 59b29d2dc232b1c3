/** Where the package is: its version, its command, the built website. The one place that knows the way up. */

import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** src/main and dist/src/main are two and three folders below the package. */
const ROOT = ["../../", "../../../"]
  .map((up) => new URL(up, import.meta.url))
  .find((url) => existsSync(new URL("package.json", url)))!;

export function packageVersion(): string {
  return JSON.parse(readFileSync(new URL("package.json", ROOT), "utf8")).version;
}

/** The `sideband` command. */
export const COMMAND_PATH = fileURLToPath(new URL("bin/sideband.js", ROOT));

/** The built website, from the sources as from the build; undefined where it was not built. */
export function websiteFolder(): string | undefined {
  const folder = fileURLToPath(new URL("dist/web", ROOT));
  return existsSync(folder) ? folder : undefined;
}
