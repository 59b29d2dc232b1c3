/**
 * The browser for the tests: the system's Chromium. Where there is none and we are root on Debian, its package is
 * installed; otherwise the tests that need it say that they were skipped, which is a failure where CI is set.
 */

import { spawnSync } from "node:child_process";
import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";
import { after } from "node:test";
import { type Browser, chromium } from "playwright-core";

const NAMES = ["chromium", "chromium-browser", "google-chrome-stable", "google-chrome"];
const INSTALL_TIMEOUT_MS = 300_000;
const FLAGS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

let launched: Promise<Browser | undefined> | undefined;

/** One browser for all tests of a run, closed at its end; undefined where there is none. */
export function sharedBrowser(): Promise<Browser | undefined> {
  launched ??= launch();
  return launched;
}

after(async () => (await launched)?.close());

async function launch(): Promise<Browser | undefined> {
  const executablePath = findChromium() ?? (installChromium() ? findChromium() : undefined);
  if (executablePath === undefined) return undefined;
  return chromium.launch({ executablePath, args: FLAGS });
}

function findChromium(): string | undefined {
  const folders = (process.env.PATH ?? "").split(delimiter);
  return folders.flatMap((folder) => NAMES.map((name) => join(folder, name))).find(isExecutable);
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

function installChromium(): boolean {
  if (process.getuid?.() !== 0) return false;
  const options = { timeout: INSTALL_TIMEOUT_MS, stdio: "ignore" } as const;
  const install = ["install", "-y", "--no-install-recommends", "chromium"];
  return (
    spawnSync("apt-get", ["update"], options).status === 0 &&
    spawnSync("apt-get", install, options).status === 0
  );
}
