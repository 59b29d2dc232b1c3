/** The page of `sideband open` in a real browser: in by a page of a file, once; and what other pages can make of it. */

import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { BrowserContext } from "playwright-core";
import { OwnerClient } from "../../src/door-client/owner-client.ts";
import { LocalPage } from "../../src/main/local-page.ts";
import { fieldsOf } from "../fixtures/fields.ts";
import type { Running } from "../http/running-service.ts";
import { sharedBrowser } from "./chromium.ts";
import { visit } from "./visit.ts";

/** A page on the data folder of a service, through its door, as the command makes it. */
async function openLocally({ folder }: Running): Promise<{ link: string; close(): void }> {
  const client = OwnerClient.of(folder);
  const page = new LocalPage({ send: (request) => client.send(request), account: "acme", hash: "#user=ada" });
  return { link: await page.start(), close: () => page.close() };
}

async function newContext(): Promise<BrowserContext> {
  const context = await (await sharedBrowser())!.newContext({ reducedMotion: "reduce" });
  context.setDefaultTimeout(60_000);
  return context;
}

visit(
  "one browser is let in by a file that leads to the link, and works on the facts live",
  async ({ running }) => {
    const body = { user_id: "ada", label: "USER.name", value: "Ada" };
    await running.call("POST", "/encode", { body });
    const local = await openLocally(running);
    const context = await newContext();
    try {
      const file = join(running.folder, "open.html");
      writeFileSync(file, `<!doctype html><meta http-equiv="refresh" content="0;url=${local.link}">`);
      const page = await context.newPage();
      await page.goto(pathToFileURL(file).href);
      await page.getByText("Live", { exact: true }).waitFor();
      await page.locator(".fact-value", { hasText: "Ada" }).waitFor();
      assert.equal(
        await page.getByRole("navigation", { name: "Main" }).count(),
        0,
        "there are no other pages here",
      );
      assert.equal(await page.getByRole("button", { name: "Forget the key" }).count(), 0);
      await page.getByRole("button", { name: "Edit USER.name" }).click();
      await page.getByLabel("Value of USER.name").fill("Ada King");
      await page.keyboard.press("Enter");
      await page.getByText("by memory page").first().waitFor();
      await running.call("POST", "/encode", {
        body: { ...body, value: "Ada Lovelace", written_by: "codex" },
      });
      await page.locator(".fact-value", { hasText: "Ada Lovelace" }).waitFor();
      assert.equal((await running.call("GET", "/facts?user_id=ada")).json.facts[0].value, "Ada Lovelace");
      // What reads a file is loaded when one is chosen, from the page's own place.
      const notes = { name: "notes.md", mimeType: "text/markdown", buffer: Buffer.from("- Dog: Turing") };
      await page.locator("input[type=file]").setInputFiles(notes);
      await page.getByRole("button", { name: "Import 1 fact" }).click();
      await page.getByText("by import: notes.md").first().waitFor();
      // A reload, and a new tab at the same address, are still the same browser.
      await page.reload();
      await page.getByText("Live", { exact: true }).waitFor();
      const tab = await context.newPage();
      await tab.goto(page.url());
      await tab.locator(".fact-value", { hasText: "Ada Lovelace" }).waitFor();
      const [cookie] = await context.cookies(page.url());
      assert.deepEqual([cookie.httpOnly, cookie.sameSite, cookie.domain], [true, "Strict", "127.0.0.1"]);
      assert.equal(await page.evaluate(() => document.cookie), "");

      const second = await newContext();
      const stranger = await second.newPage();
      await stranger.goto(local.link);
      await stranger.getByText(/used already/).waitFor();
      await stranger.goto(page.url());
      await stranger.getByText(/This browser was not let in/).waitFor();
      assert.equal(await stranger.getByText("Lovelace").count(), 0);
      await second.close();

      local.close();
      await page.getByText("Not connected: is sideband open running?").waitFor();
    } finally {
      await context.close();
      local.close();
    }
  },
);

visit(
  "a page of another port of this machine gets neither the cookie nor an answer, nor writes",
  async ({ running }) => {
    await running.call("POST", "/encode", { body: { user_id: "ada", label: "USER.name", value: "Ada" } });
    const local = await openLocally(running);
    const cookies: (string | undefined)[] = [];
    const server = createServer((request, response) => {
      cookies.push(request.headers.cookie);
      response.writeHead(200, { "content-type": "text/html" }).end("<!doctype html><title>evil</title>");
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const evil = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const context = await newContext();
    try {
      const page = await context.newPage();
      await page.goto(local.link);
      await page.getByText("Live", { exact: true }).waitFor();
      const base = page.url().replace(/\/memory.*/, "");
      const other = await context.newPage();
      await other.goto(evil);
      await other.reload();
      // Even where it knew the path, which it does not: the browser counts all ports as one site, and sends the cookie.
      const body = JSON.stringify({ user_id: "ada", label: "USER.name", value: "Eve" });
      const headers = { "content-type": "application/json" };
      const attempts: readonly (readonly [string, RequestInit])[] = [
        ["/facts?user_id=ada", {}],
        ["/facts?user_id=ada", { mode: "no-cors" }],
        ["/encode", { method: "POST", body, mode: "no-cors" }],
        ["/encode", { method: "POST", body, headers }],
        ["/facts?user_id=ada&label=USER.name", { method: "DELETE" }],
      ];
      const tried: string[] = [];
      for (const [path, init] of attempts)
        tried.push(
          await other.evaluate(
            ([address, options]) =>
              fetch(address, { credentials: "include", ...options }).then(
                async (answer) => `${answer.type} ${answer.status} ${await answer.text()}`,
                () => "refused",
              ),
            [base + path, init] as const,
          ),
        );
      assert.deepEqual(tried, ["refused", "opaque 0 ", "opaque 0 ", "refused", "refused"]);
      assert.deepEqual([...new Set(cookies)], [undefined]);
      const { facts } = (await running.call("GET", "/facts?user_id=ada")).json;
      assert.deepEqual(fieldsOf(facts, "value"), ["Ada"]);
      // Nor by a frame.
      await other.setContent(`<iframe src="${base}/memory"></iframe>`);
      const frame = other.frames()[1];
      await frame.waitForLoadState().catch(() => {});
      assert.equal(await other.frameLocator("iframe").getByText("Ada").count(), 0);
    } finally {
      await context.close();
      server.close();
      local.close();
    }
  },
);
