/** An answer to an older question that comes last must not take the place of a newer one. */

import assert from "node:assert/strict";
import type { Route } from "playwright-core";
import { ADMIN_TOKEN, visit } from "./visit.ts";

visit(
  "the playground keeps what was written while an older refresh was on its way",
  async ({ page, open, says }) => {
    await page.clock.install();
    await open("/playground#sandbox=abc");
    await says("No facts yet");
    let release: (() => Promise<void>) | undefined;
    const hold = async (route: Route) => {
      if (release !== undefined) return route.continue();
      const response = await route.fetch();
      release = () => route.fulfill({ response });
    };
    await page.route("**/demo/context?*", hold);
    await page.clock.runFor(16_000);
    while (release === undefined) await page.waitForTimeout(20);
    await page.getByPlaceholder("Ada Okafor").fill("Grace");
    await page.getByRole("button", { name: "Write" }).click();
    await says("USER.name=Grace");
    const answered = page.waitForResponse("**/demo/context?*");
    await release();
    await (await answered).finished();
    await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => resolve(undefined))));
    assert.equal(await page.getByText("No facts yet").count(), 0);
  },
  { browser: {} },
);

visit(
  "who signs out of the console is not shown it again by a refresh on its way",
  async ({ page, open }) => {
    await page.clock.install();
    await open("/console");
    await page.getByLabel("Admin token").fill(ADMIN_TOKEN);
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Requests for keys" }).waitFor();
    let release: (() => Promise<void>) | undefined;
    await page.route("**/admin/status", async (route) => {
      const response = await route.fetch();
      release = () => route.fulfill({ response });
    });
    await page.clock.runFor(31_000);
    while (release === undefined) await page.waitForTimeout(20);
    await page.getByRole("button", { name: "Sign out" }).click();
    await page.getByLabel("Admin token").waitFor();
    const answered = page.waitForResponse("**/admin/status");
    await release();
    await (await answered).finished();
    await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => resolve(undefined))));
    assert.equal(await page.getByRole("heading", { name: "Requests for keys" }).count(), 0);
  },
  { browser: {} },
);
