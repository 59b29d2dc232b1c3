/**
 * A visit to the website in a real browser, on a real service: `visit` opens a page for one test and afterwards
 * makes sure that nothing was asked of another host, that no script failed, and that the policy blocked nothing.
 */

import assert from "node:assert/strict";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { fileURLToPath } from "node:url";
import type {
  Browser,
  BrowserContext,
  BrowserContextOptions,
  ConsoleMessage,
  Page,
  Request,
  WebError,
} from "playwright-core";
import { type Clock, systemClock } from "../../src/base/clock.ts";
import { buildWebsite } from "../agents/built.ts";
import { type Running, startRunning } from "../http/running-service.ts";
import { sharedBrowser } from "./chromium.ts";

export const ADMIN_TOKEN = "admin-token-for-tests";
export const OUTPUT = fileURLToPath(new URL("../output", import.meta.url));
export const PHONE = { width: 360, height: 740 };
export const DESK = { width: 1280, height: 800 };
/** Generous: a loaded machine is no failure. */
const TIMEOUT_MS = 60_000;

export interface Visit {
  readonly page: Page;
  readonly running: Running;
  /** Opens a path of the site. */
  open(path: string): Promise<void>;
  /** What the page says, once it does. */
  says(text: string | RegExp): Promise<void>;
}

interface VisitOptions {
  readonly settings?: Record<string, string>;
  /** Of a context of its own: what differs from the shared one. Needed, also without any, by a test that sets the clock. */
  readonly browser?: BrowserContextOptions;
  /** The time of its service. */
  readonly clock?: Clock;
}

let shared: Promise<BrowserContext> | undefined;

function newContext(browser: Browser, options?: BrowserContextOptions): Promise<BrowserContext> {
  return browser.newContext({ viewport: DESK, reducedMotion: "reduce", ...options });
}

/** One context for most visits. A page of it stays open, and with it the process that all pages of a context share. */
async function openShared(browser: Browser): Promise<BrowserContext> {
  const context = await newContext(browser);
  await context.newPage();
  return context;
}

/** Hands the shared context on as if it were new; after a failure the next visit has a new one. */
async function leaveShared(context: BrowserContext, page: Page, failed: boolean): Promise<void> {
  if (failed) {
    shared = undefined;
    await context.close();
    return;
  }
  await page.close();
  await context.clearCookies();
  await context.clearPermissions();
}

/** Declares a test in the browser. Its service is its own, so that tests do not see each other's facts. */
export function visit(
  title: string,
  body: (visit: Visit) => Promise<void>,
  options: VisitOptions = {},
): void {
  test(title, async (t: TestContext) => {
    const browser = await sharedBrowser();
    if (browser === undefined) {
      t.skip("no Chromium on this machine");
      return;
    }
    buildWebsite();
    // A reset in the middle of a test would be another test.
    const settings = { SIDEBAND_DEMO_RESET_S: "86400", ...options.settings };
    // Most pages show no block: the model is loaded where one does.
    const { clock = systemClock } = options;
    const running = await startRunning(settings, undefined, { warm: false, clock });
    const isOwn = options.browser !== undefined;
    if (!isOwn) shared ??= openShared(browser);
    const context = await (isOwn
      ? newContext(browser, options.browser)
      : (shared as Promise<BrowserContext>));
    context.setDefaultTimeout(TIMEOUT_MS);
    const faults: string[] = [];
    const seeRequest = (request: Request) => {
      const url = request.url();
      if (!url.startsWith(running.url) && !url.startsWith("blob:")) faults.push(`asked another host: ${url}`);
    };
    const seeError = (error: WebError) => void faults.push(`a script failed: ${error.error().message}`);
    const seeMessage = (message: ConsoleMessage) => {
      // Answers such as 401 and 429 are part of the tests; what the policy blocks is not.
      const expected = /Failed to load resource|net::ERR_/.test(message.text());
      if (message.type() === "error" && !expected) faults.push(`console: ${message.text()}`);
    };
    context.on("request", seeRequest).on("weberror", seeError).on("console", seeMessage);
    const page = await context.newPage();
    let failed = true;
    try {
      await body({
        page,
        running,
        open: async (path) => void (await page.goto(running.url + path)),
        says: (text) => page.getByText(text).first().waitFor(),
      });
      assert.deepEqual(faults, []);
      failed = false;
    } catch (error) {
      // What the page looked like says more than the locator that was waited for.
      const name = title.replace(/[^a-z0-9]+/gi, "-").slice(0, 60);
      await page.screenshot({ path: join(OUTPUT, `failed-${name}.png`), fullPage: true });
      throw error;
    } finally {
      context.off("request", seeRequest).off("weberror", seeError).off("console", seeMessage);
      await (isOwn ? context.close() : leaveShared(context, page, failed));
      await running.end();
    }
  });
}
