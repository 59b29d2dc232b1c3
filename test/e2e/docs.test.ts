/** The docs: guides rendered from docs/*.md, the reference from the OpenAPI document, and no dead link anywhere. */

import assert from "node:assert/strict";
import { OPERATIONS } from "../../src/contract/operations.ts";
import { PHONE, type Visit, visit } from "./visit.ts";

visit(
  "every operation has a page, with its fields, its errors, an example and three languages",
  async ({ page, open, says }) => {
    await open("/docs/api#read");
    const ids = await page.locator(".calls tr").evaluateAll((all) => all.map(({ id }) => id));
    assert.deepEqual(ids.sort(), Object.keys(OPERATIONS).sort());
    assert.ok((await page.locator("#read").boundingBox())!.y < 800, "the address leads to the operation");
    await page.locator("#read a").click();
    await page.waitForURL(/\/docs\/api\/read$/);
    await says("guard_left");
    await page.getByRole("link", { name: "block_unreadable" }).waitFor();
    const python = page.locator("pre", { hasText: "import json, os, urllib" });
    assert.equal(await python.isVisible(), false);
    await page.getByText("Python", { exact: true }).click();
    await python.waitFor();
    // The list of calls leads on, and the page is marked in it.
    assert.equal(
      (await page.locator(".side [aria-current=page]").innerText()).replace(/\s+/g, " "),
      "POST /read",
    );
    await page.locator(".side").getByRole("link", { name: "GET /facts", exact: true }).click();
    await page.waitForURL(/\/docs\/api\/facts$/);
  },
);

visit("a call is tried on the demo without a key, and on the memory with one", async (visit) => {
  const { page, running, open, says } = visit;
  const send = () => page.getByRole("button", { name: "Send" }).click();
  await openTry(visit, "demo-encode");
  await page.getByLabel("Body").fill('{"label":"USER.name","value":"Grace"}');
  await send();
  await says('"value": "Grace"');
  await openTry(visit, "encode");
  await send();
  await says("This call needs a key");
  await page.getByPlaceholder("sb_live_…").fill(running.key);
  await send();
  await says("200 OK");
  // The README's user is nobody's to try with.
  const factOf = (user: string) => running.call("GET", `/decode?user_id=${user}&label=TASK.deadline`);
  assert.deepEqual([(await factOf("try-it")).json.value, (await factOf("ada")).status], ["2026-12-01", 404]);
  for (const elsewhere of ["//elsewhere.example/encode", "/\\elsewhere.example", "/\t/elsewhere.example"]) {
    await page.getByLabel(/^POST/).fill("/encode");
    await send();
    await says("200 OK");
    await page.getByLabel(/^POST/).fill(elsewhere);
    await send();
    await says("The path begins with one slash.");
  }
  await open("/docs/api/admin-keys");
  assert.equal(await page.locator(".try").count(), 0);
});

visit("a call that forgets is sent by a second press", async (visit) => {
  const { page, running, says } = visit;
  const factCount = async (user: string) =>
    (await running.call("GET", `/facts?user_id=${user}`)).json.channel_count;
  for (const user_id of ["ada", "a-user-to-forget"])
    await running.call("POST", "/encode", {
      body: { user_id, label: "TASK.deadline", value: "2026-12-01" },
    });
  await openTry(visit, "forget-user");
  await page.getByPlaceholder("sb_live_…").fill(running.key);
  const sent: string[] = [];
  page.on("request", (request) => sent.push(`${request.method()} ${new URL(request.url()).pathname}`));
  await page.getByRole("button", { name: "Send" }).click();
  await says("Not sent yet: DELETE /users?user_id=a-user-to-forget cannot be undone.");
  // Whoever turns to something else is asked again.
  await page.getByLabel(/^DELETE/).focus();
  await page.keyboard.press("Enter");
  await page.getByRole("button", { name: "Confirm" }).waitFor();
  assert.deepEqual(sent, []);
  await page.getByRole("button", { name: "Confirm" }).click();
  await says("200 OK");
  await page.getByRole("button", { name: "Send" }).waitFor();
  assert.deepEqual([await factCount("a-user-to-forget"), await factCount("ada")], [0, 1]);
  // A path that was typed counts, not the one that the form began with.
  await openTry(visit, "demo-flush");
  await page.getByLabel(/^POST/).fill("/demo/reset");
  await page.getByRole("button", { name: "Send" }).click();
  await says("Not sent yet: POST /demo/reset");
});

visit(
  "a block is read by Try it: the one of the body's user takes the place of the sample's",
  async (visit) => {
    const { page, running, says } = visit;
    const send = () => page.getByRole("button", { name: "Send" }).click();
    const fact = { label: "TASK.deadline", value: "2026-12-01" };
    await running.call("POST", "/encode", { body: { user_id: "try-it", ...fact } });
    await running.call("POST", "/demo/encode?sandbox=0ab", { key: null, body: fact });
    await openTry(visit, "read");
    await page.getByPlaceholder("sb_live_…").fill(running.key);
    const body = page.getByLabel("Body");
    const sample = await body.inputValue();
    await body.fill(sample.replace('"try-it"', '"nobody yet"'));
    await send();
    await says("There are no facts yet");
    await body.fill(sample);
    await send();
    const answer = page.locator(".try").getByRole("status");
    await answer.getByText("200 OK").waitFor();
    assert.match((await answer.textContent())!, /"value": "2026-12-01"/);
    assert.equal(JSON.parse(await body.inputValue()).block.split(" ").length, 514);
    await openTry(visit, "demo-read");
    await page.getByLabel(/^POST/).fill("/demo/read?sandbox=0ab");
    await send();
    await says("200 OK");
  },
);

async function openTry({ page, open }: Visit, call: string): Promise<void> {
  await open(`/docs/api/${call}`);
  await page.getByRole("button", { name: "Try it" }).click();
}

visit("the search finds sections of guides and operations, by keyboard", async ({ page, open, says }) => {
  await open("/docs/agents/codex");
  await page.keyboard.press("/");
  await page.keyboard.type("de bruijn");
  await says("The block: 1. Words and places");
  await page.keyboard.press("Enter");
  await page.waitForURL(/\/docs\/format#1-words-and-places/);
  await page.keyboard.press("Control+k");
  await page.keyboard.type("how do i delete a user");
  await page.locator(".hits a", { hasText: "DELETE /users" }).first().waitFor();
  await page.keyboard.press("ArrowDown");
  assert.equal(await page.locator(".hits .chosen").count(), 1);
  await page.keyboard.press("Escape");
  assert.equal(await page.locator(".found").isVisible(), false);
  await page.getByRole("searchbox").fill("zzzzqqq");
  await says("Nothing found.");
});

visit(
  "on a phone the menu and the sections of the page open without a script, and the page is reached by them",
  async ({ page, open }) => {
    await open("/docs/format");
    await page.getByRole("button", { name: "On this page" }).click();
    await page.locator("#on-page").getByRole("link", { name: "8. Seal" }).click();
    await page.waitForURL(/#8-seal$/);
    await open("/docs/format");
    assert.equal(await page.locator("#pages").isVisible(), false);
    await page.getByRole("button", { name: "Menu" }).click();
    await page.locator("#pages").getByRole("link", { name: "Claude Code" }).click();
    await page.waitForURL(/\/docs\/agents\/claude-code$/);
    await page.getByRole("button", { name: "Menu" }).click();
    await page.keyboard.press("Escape");
    assert.equal(await page.locator("#pages").isVisible(), false);
  },
  { browser: { viewport: PHONE, javaScriptEnabled: false } },
);

visit("on this page marks the section that is being read", async ({ page, open }) => {
  await open("/docs/format#8-seal");
  await page.locator("#on-page [aria-current]", { hasText: "8. Seal" }).waitFor();
});

visit("code is coloured and the typeface is the site's own, in light and dark", async ({ page, open }) => {
  await open("/docs/api/encode");
  const colours = async () => {
    const found = await page
      .locator(".call-code pre:visible span")
      .evaluateAll((spans) => spans.map((span) => getComputedStyle(span).color));
    return new Set(found);
  };
  const light = await colours();
  await page.emulateMedia({ colorScheme: "dark" });
  const dark = await colours();
  assert.ok(light.size >= 4 && dark.size >= 4, `${light.size} and ${dark.size} colours`);
  assert.equal([...light].filter((colour) => dark.has(colour)).length, 0);
  // Preloaded; where it came too late for this page it is there for the next.
  await open("/docs/api/decode");
  const loaded = await page.evaluate(async () => {
    await document.fonts.ready;
    return [...document.fonts].filter(({ status }) => status === "loaded").map(({ family }) => family);
  });
  assert.deepEqual(loaded.map((name) => name.replaceAll('"', "")).sort(), ["Geist", "Geist Mono"]);
});

visit("code is copied as it is shown", async ({ page, open }) => {
  await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
  await open("/docs");
  await page.getByRole("button", { name: "Copy the code" }).first().click();
  assert.equal(await page.evaluate(() => navigator.clipboard.readText()), "npm ci && npm start");
});

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
    await says("from sideband import Sideband");
    await open("/docs/api/read");
    await says('"guard_left"');
  },
  { browser: { javaScriptEnabled: false } },
);
