/** The docs: guides rendered from docs/*.md, the reference from the OpenAPI document, and no dead link anywhere. */

import assert from "node:assert/strict";
import { OPERATIONS } from "../../src/contract/operations.ts";
import { visit } from "./visit.ts";

visit("the reference has every operation, with deep links, examples and three languages", async (visit) => {
  const { page, open } = visit;
  await open("/docs/api#read");
  const ids = await page.locator("section.operation").evaluateAll((all) => all.map(({ id }) => id));
  assert.deepEqual(ids.sort(), Object.keys(OPERATIONS).sort());
  assert.ok((await page.locator("#read").boundingBox())!.y < 800, "the address leads to the operation");
  const read = page.locator("#read");
  await read.getByText("guard_left").first().waitFor();
  assert.equal(await read.getByText("import urllib", { exact: false }).isVisible(), false);
  await read.getByText("Python", { exact: true }).click();
  await page.locator("#encode").getByText('json.dumps({ "user_id"').waitFor();
  await read.getByText("Fields and errors").click();
  await read.getByText("block_unreadable").waitFor();
});

visit("a call is tried on the demo without a key, and on the memory with one", async (visit) => {
  const { page, running, open } = visit;
  await open("/docs/api");
  const demo = page.locator("#demoEncode");
  await demo.getByRole("button", { name: "Try it" }).click();
  await demo.getByLabel("Body").fill('{"label":"USER.name","value":"Grace"}');
  await demo.getByRole("button", { name: "Send" }).click();
  await demo.getByText('"value": "Grace"').waitFor();
  const memory = page.locator("#encode");
  await memory.getByRole("button", { name: "Try it" }).click();
  await memory.getByRole("button", { name: "Send" }).click();
  await memory.getByText("This call needs a key").waitFor();
  await page.getByPlaceholder("sb_live_…").fill(running.key);
  await memory.getByRole("button", { name: "Send" }).click();
  await memory.getByText("200 OK").waitFor();
  const { json } = await running.call("GET", "/decode?user_id=ada&label=TASK.deadline");
  assert.equal(json.value, "2026-12-01");
  await memory.getByLabel(/^POST/).fill("//elsewhere.example/encode");
  await memory.getByRole("button", { name: "Send" }).click();
  await memory.getByText("The path begins with one slash.").waitFor();
});

visit("the search finds sections of guides and operations, by keyboard", async ({ page, open, says }) => {
  await open("/docs/agents/codex");
  await page.keyboard.press("/");
  await page.keyboard.type("de bruijn");
  await says("The block: 1. Words and places");
  await page.keyboard.press("Enter");
  await page.waitForURL(/\/docs\/format#1-words-and-places/);
  await page.getByRole("searchbox").fill("block_unreadable read");
  await says("API reference: POST /read");
  await page.getByRole("searchbox").fill("zzzz");
  await says("Nothing found.");
});

visit("code is copied as it is shown", async ({ page, open }) => {
  await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
  await open("/docs");
  await page.getByRole("button", { name: "Copy the code" }).first().click();
  assert.equal(
    await page.evaluate(() => navigator.clipboard.readText()),
    "npm ci\nnpm install -g .\nsideband serve",
  );
});

visit(
  "every link of every page leads somewhere on this site, anchors included",
  async ({ page, running }) => {
    const seen = new Map<string, string>();
    const waiting = ["/"];
    for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
      if (seen.has(path)) continue;
      const { status, headers, text } = await running.call("GET", path, { key: null });
      assert.equal(status, 200, path);
      seen.set(path, text);
      if (!headers.get("content-type")?.startsWith("text/html")) continue;
      await page.goto(running.url + path);
      seen.set(path, await page.content());
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
    const agents = [
      "claude-code",
      "codex",
      "hermes",
      "openclaw",
      "mcp",
      "ai-sdk",
      "langgraph",
      "openai-agents",
      "sdk",
    ];
    for (const path of [
      "/docs/format",
      "/console",
      "/docs/api",
      "/llms.txt",
      "/docs/format.md",
      "/docs/agents",
    ])
      assert.ok(seen.has(path), path);
    for (const name of agents) assert.ok(seen.has(`/docs/agents/${name}`), name);
    assert.ok(!seen.has("/docs/decisions/readme"));
  },
);

visit(
  "a guide has its tables, code and links, and reads without scripts",
  async ({ page, open, says }) => {
    await open("/docs/format");
    await says("Unused carriers are error correction");
    assert.ok((await page.locator("article table").count()) >= 2);
    await page.locator("article a", { hasText: "0003" }).click();
    await page.waitForURL(/\/docs\/decisions\/0003/);
    await open("/docs");
    await page.getByText("Python", { exact: true }).first().click();
    await says("def call(method, path, body=None)");
    await open("/docs/api");
    await says('"guard_left"');
  },
  { browser: { javaScriptEnabled: false } },
);
