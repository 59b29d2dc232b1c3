/**
 * Before the tests: the programs that the chosen files need and this machine does not have. Where we are root on Debian
 * their packages are installed, and one line says which and what for. Without them the tests that need them are skipped.
 */

import { spawnSync } from "node:child_process";
import { findCaddy, findChromium, findPgbouncer } from "./fixtures/programs.ts";
import { findNumpy } from "./format/numpy.ts";

const INSTALL_TIMEOUT_MS = 300_000;
/** RUNLEVEL tells Debian's packages not to start their services. */
const options = {
  timeout: INSTALL_TIMEOUT_MS,
  stdio: "ignore",
  env: { ...process.env, RUNLEVEL: "1" },
} as const;

interface DebianPackage {
  readonly name: string;
  readonly purpose: string;
  readonly files: RegExp;
  isThere(): boolean;
}

const PACKAGES: readonly DebianPackage[] = [
  {
    name: "chromium-headless-shell",
    purpose: "the website in a browser",
    files: /^test\/e2e\//,
    isThere: () => findChromium() !== undefined,
  },
  {
    name: "pgbouncer",
    purpose: "PostgreSQL behind a pooler",
    files: /^test\/postgres\/poolers/,
    isThere: () => findPgbouncer() !== undefined,
  },
  {
    name: "caddy",
    purpose: "the proxy of deploy/ in front of nodes",
    files: /^test\/postgres\/proxy/,
    isThere: () => findCaddy() !== undefined,
  },
  {
    name: "mypy",
    purpose: "the types of the Python client",
    files: /^test\/python\//,
    isThere: () => spawnSync("mypy", ["--version"], { stdio: "ignore" }).status === 0,
  },
  { name: "python3-numpy", purpose: "the reader in Python", files: /^test\/format\//, isThere: findNumpy },
];

/** The packages that these test files need; only those that are not there, unless told otherwise. */
export function missingPackages(
  files: readonly string[],
  isThere = (entry: DebianPackage) => entry.isThere(),
): readonly Pick<DebianPackage, "name" | "purpose">[] {
  return PACKAGES.filter((entry) => files.some((path) => entry.files.test(path)) && !isThere(entry));
}

export function installMissing(files: readonly string[]): void {
  const missing = missingPackages(files);
  if (missing.length === 0 || process.getuid?.() !== 0) return;
  const list = missing.map(({ name, purpose }) => `${name} (${purpose})`).join(", ");
  console.log(`installing Debian's packages for the tests: ${list}`);
  spawnSync("apt-get", ["update"], options);
  for (const { name } of missing) {
    const { status } = spawnSync("apt-get", ["install", "-y", "--no-install-recommends", name], options);
    if (status !== 0) console.log(`${name} could not be installed`);
  }
}
