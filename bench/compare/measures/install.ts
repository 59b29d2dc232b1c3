/**
 * What npm installs for a peer into an empty folder, from its cache: seconds, packages, MB. The first time fills the cache.
 * Scripts of packages are left out: they would compile here what others download. What Debian installs is counted beside, and for
 * Sideband, whose package is packed from a built clone, the way of its README too.
 */

import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Measure } from "../measure.ts";
import type { Place } from "../place.ts";

const ROOT = fileURLToPath(new URL("../../..", import.meta.url));

export const install: Measure = {
  limitS: 900,
  async run({ place, peer: { packages, debian } }) {
    if (packages.length === 0) return { seconds: 0, packages: 0, mb: 0 };
    const at = place();
    const wanted = packages.map((name) => (name === "sideband" ? packed(at) : name));
    npm(at, "first", wanted);
    const startedAt = performance.now();
    const folder = npm(at, "second", wanted);
    const seconds = Math.round((performance.now() - startedAt) / 100) / 10;
    const lock = JSON.parse(readFileSync(join(folder, "package-lock.json"), "utf8"));
    return {
      seconds,
      packages: Object.keys(lock.packages).length - 1,
      mb: megabytesOf(join(folder, "node_modules")),
      ...(packages.includes("sideband") ? { clone: cloned(at) } : {}),
      ...(debian === undefined ? {} : { debian: debianSize(debian) }),
    };
  },
};

/** As our README says: a clone, and npm ci, which installs what the tests need too and builds. */
function cloned({ folder }: Place) {
  const at = join(folder, "clone");
  const startedAt = performance.now();
  execFileSync("git", ["clone", "--quiet", "--depth", "1", `file://${ROOT}`, at], { stdio: "ignore" });
  execFileSync("npm", ["ci", "--prefer-offline", "--no-audit", "--no-fund"], { cwd: at, stdio: "ignore" });
  const seconds = Math.round((performance.now() - startedAt) / 100) / 10;
  const { packages } = JSON.parse(readFileSync(join(at, "node_modules/.package-lock.json"), "utf8"));
  return { seconds, packages: Object.keys(packages).length, mb: megabytesOf(at) };
}

function megabytesOf(folder: string): number {
  const [kilobytes] = execFileSync("du", ["-sk", folder], { encoding: "utf8" }).split("\t");
  return Math.round(Number(kilobytes) / 102.4) / 10;
}

function debianSize(names: readonly string[]) {
  const shown = execFileSync("dpkg-query", ["--status", ...names], { encoding: "utf8" });
  const kilobytes = [...shown.matchAll(/^Installed-Size: (\d+)$/gm)].map(([, size]) => Number(size));
  const sum = kilobytes.reduce((total, each) => total + each, 0);
  return { packages: names.length, mb: Math.round(sum / 102.4) / 10 };
}

function npm({ folder }: Place, name: string, packages: readonly string[]): string {
  const at = join(folder, name);
  mkdirSync(at);
  const options = ["--prefer-offline", "--no-audit", "--no-fund", "--ignore-scripts", "--prefix", at];
  execFileSync("npm", ["install", ...options, ...packages], { cwd: at, stdio: "ignore" });
  return at;
}

/** The package as it would be published. */
function packed({ folder }: Place): string {
  execFileSync("npm", ["pack", "--ignore-scripts", "--pack-destination", folder], {
    cwd: ROOT,
    stdio: "ignore",
  });
  const file = readdirSync(folder).find((name) => name.endsWith(".tgz"));
  return join(folder, file as string);
}
