/**
 * The browser for the tests: the system's Chromium, which `prepare.ts` has installed where it could. Where there is
 * none, the tests that need it are skipped.
 */

import { after } from "node:test";
import { type Browser, chromium } from "playwright-core";
import { findChromium } from "../fixtures/programs.ts";

/**
 * What is not needed of Chromium. The popups of its address bar are two pages for each window, and take a third of the
 * processor time of a test. A list of ours takes the place of Playwright's: the others are those of it that count here.
 */
const FEATURES_OFF = [
  "WebUIOmniboxPopup",
  "WebUIOmniboxAimPopup",
  "AimEnabled",
  "AvoidUnnecessaryBeforeUnloadCheckSync",
  "DestroyProfileOnBrowserClose",
  "HttpsFirstBalancedModeAutoEnable",
  "HttpsUpgrades",
  "MediaRouter",
  "NetworkTimeServiceQuerying",
  "OptimizationHints",
  "PaintHolding",
  "PreconnectToSearch",
];

const FLAGS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  // The pages of a context share a process: a new one for each page is a fifth of the processor time of a short test.
  "--renderer-process-limit=1",
  // A short visit has ended before the threads that compile and collect beside it have earned their processor time.
  "--js-flags=--single-threaded",
  `--disable-features=${FEATURES_OFF.join(",")}`,
];

let launched: Promise<Browser | undefined> | undefined;

/** One browser for all tests of a run, closed at its end; undefined where there is none. */
export function sharedBrowser(): Promise<Browser | undefined> {
  launched ??= launch();
  return launched;
}

// A failed start is reported by the tests that asked for the browser; the other hooks must still run.
after(async () => (await launched?.catch(() => undefined))?.close());

async function launch(): Promise<Browser | undefined> {
  const executablePath = findChromium();
  if (executablePath === undefined) return undefined;
  return chromium.launch({ executablePath, args: FLAGS });
}
