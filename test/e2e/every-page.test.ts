/**
 * Every page of the site, one after the other, on the narrowest phone: its links, and what is too wide. Other widths are
 * in appearance.test.ts.
 */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { findGuides } from "../../scripts/guides.ts";
import { packageFolder } from "../agents/built.ts";
import { sidewaysScrollers } from "./sideways.ts";
import { PHONE, visit } from "./visit.ts";

/** Pages and files that must be reached by links from the front page. */
const LINKED = [
  "/benchmarks",
  "/docs/format",
  "/console",
  "/docs/api",
  "/llms.txt",
  "/docs/format.md",
  "/docs/agents",
];
/** The guides that the site lists. */
const GUIDES = findGuides(packageFolder).flatMap(({ guides }) => guides.map(({ path }) => path));

visit(
  "every link leads somewhere on this site, anchors included, and on a phone no page and no table scrolls sideways",
  async ({ page, running, open }) => {
    const manifest = JSON.parse(readFileSync(join(packageFolder, "dist", "web", "manifest.json"), "utf8"));
    const paths = Object.keys(manifest).filter((path) => manifest[path].type.startsWith("text/html"));
    assert.ok(paths.includes("/console") && paths.includes("/docs/cluster") && paths.length > 50);
    const seen = new Set<string>();
    const waiting = ["/"];
    const tooWide: string[] = [];
    const look = async (path: string) => {
      if (!isGuide(page.url()) || !isGuide(path) || !(await turnTo(page, path))) await open(path);
      for (const { href, leads } of await links(page)) {
        const [target] = href.split("#");
        assert.ok(target.startsWith("/") || target === "", `${path} links to ${href}`);
        if (target !== "") waiting.push(target);
        else assert.ok(leads, `${path}: ${href}`);
      }
      tooWide.push(...(await tooWideOnPhones(page, path)));
    };
    for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
      if (seen.has(path)) continue;
      seen.add(path);
      const { status, headers } = await running.call("GET", path, { key: null });
      assert.equal(status, 200, path);
      if (headers.get("content-type")?.startsWith("text/html")) await look(path);
    }
    for (const path of [...LINKED, ...GUIDES]) assert.ok(seen.has(path), path);
    assert.ok(!seen.has("/docs/decisions/readme"));
    // What no link leads to must have room as well.
    for (const path of paths) if (!seen.has(path)) await look(path);
    assert.deepEqual(tooWide, []);
  },
  { browser: { viewport: PHONE } },
);

/** Guides and decisions. A call's page is loaded for its form, which a script makes. */
function isGuide(address: string): boolean {
  return /\/docs\/(?!api)/.test(address);
}

/**
 * Puts the body of one guide in the place of another's, which takes a quarter of the processor time of loading it; false
 * where the styles or scripts are others.
 */
function turnTo(page: Page, path: string): Promise<boolean> {
  return page.evaluate(async (address) => {
    const text = await (await fetch(address)).text();
    const { head, body } = new DOMParser().parseFromString(text, "text/html");
    const [own, others] = [document.head, head].map((part) =>
      [...part.querySelectorAll("link[rel=stylesheet], script")].map(({ outerHTML }) => outerHTML).join(),
    );
    if (own !== others) return false;
    document.body.replaceWith(body);
    return true;
  }, path);
}

/**
 * The links of a page, and whether those to an anchor lead to something on it. Without a locator, for which each page
 * would load Playwright's script: a seventh of the processor time.
 */
function links(page: Page): Promise<{ href: string; leads: boolean }[]> {
  return page.evaluate(() =>
    [...document.querySelectorAll("a[href]")].map((a) => {
      const href = a.getAttribute("href")!;
      return { href, leads: !/^#./.test(href) || document.getElementById(href.slice(1)) !== null };
    }),
  );
}

/** With everything open that can be opened. */
async function tooWideOnPhones(page: Page, path: string): Promise<string[]> {
  await page.evaluate(() => {
    for (const details of document.querySelectorAll("details")) details.open = true;
    for (const button of document.querySelectorAll<HTMLElement>(".try button")) button.click();
  });
  return (await sidewaysScrollers(page, true)).map((wide) => `${path}: ${wide}`);
}
