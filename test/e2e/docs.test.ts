/** The docs: guides rendered from docs/*.md, the reference from the OpenAPI document, and no dead link anywhere. */

import assert from "node:assert/strict";
import { OPERATIONS } from "../../src/contract/operations.ts";
import { visit } from "./visit.ts";

visit("the reference has every operation of the OpenAPI document, and opens by keyboard", async (visit) => {
  const { page, open, says } = visit;
  await open("/docs/api#encode");
  await says("Writes a fact. Counts against the monthly limit.");
  assert.equal(
    await page.locator("details#encode").evaluate((element) => (element as HTMLDetailsElement).open),
    true,
  );
  const ids = await page.locator("details.operation").evaluateAll((all) => all.map(({ id }) => id));
  assert.deepEqual(ids.sort(), Object.keys(OPERATIONS).sort());
  await page.locator("details#read summary").focus();
  await page.keyboard.press("Enter");
  await page.locator("details#read").getByText("block_unreadable").waitFor();
});

visit(
  "every link of every page leads somewhere on this site, anchors included",
  async ({ page, running }) => {
    const seen = new Map<string, string>();
    const waiting = ["/"];
    for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
      if (seen.has(path)) continue;
      const response = await page.goto(running.url + path);
      assert.equal(response?.status(), 200, path);
      seen.set(path, await page.content());
      if (!response.headers()["content-type"].startsWith("text/html")) continue;
      for (const href of await page
        .locator("a[href]")
        .evaluateAll((all) => all.map((a) => a.getAttribute("href")!))) {
        const [target, anchor] = href.split("#");
        assert.ok(target.startsWith("/") || target === "", `${path} links to ${href}`);
        if (target !== "" && !seen.has(target)) waiting.push(target);
        if (target === "" && anchor !== undefined)
          assert.ok(seen.get(path)!.includes(`id="${anchor}"`), `${path}: ${href}`);
      }
    }
    assert.ok(seen.has("/docs/format") && seen.has("/console") && seen.has("/docs/api"));
  },
);

visit("a guide has its tables, code and links, and reads without scripts", async ({ page, open, says }) => {
  await open("/docs/format");
  await says("Unused carriers are error correction");
  assert.ok((await page.locator("article table").count()) >= 2);
  assert.equal(await page.locator("script").count(), 0);
  await page.locator("article a", { hasText: "0003" }).click();
  await page.waitForURL(/\/docs\/decisions\/0003/);
});
