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
  for (const elsewhere of ["//elsewhere.example/encode", "/\\elsewhere.example", "/\t/elsewhere.example"]) {
    await memory.getByLabel(/^POST/).fill("/encode");
    await memory.getByRole("button", { name: "Send" }).click();
    await memory.getByText("200 OK").waitFor();
    await memory.getByLabel(/^POST/).fill(elsewhere);
    await memory.getByRole("button", { name: "Send" }).click();
    await memory.getByText("The path begins with one slash.").waitFor();
  }
});

visit(
  "a call that forgets is sent by a second press, and its sample never names the README's user",
  async (visit) => {
    const { page, running, open } = visit;
    const factCount = async (user: string) =>
      (await running.call("GET", `/facts?user_id=${user}`)).json.channel_count;
    for (const user_id of ["ada", "a-user-to-forget"])
      await running.call("POST", "/encode", {
        body: { user_id, label: "TASK.deadline", value: "2026-12-01" },
      });
    await running.call("POST", "/demo/encode", { key: null, body: { label: "USER.name", value: "Grace" } });
    await open("/docs/api");
    await page.getByText("Try the calls with your key").click();
    await page.getByPlaceholder("sb_live_…").fill(running.key);
    const sent: string[] = [];
    page.on("request", (request) => sent.push(`${request.method()} ${new URL(request.url()).pathname}`));
    const user = page.locator("#forgetUser");
    await user.getByRole("button", { name: "Try it" }).click();
    await user.getByRole("button", { name: "Send" }).click();
    await user.getByText("Not sent yet: DELETE /users?user_id=a-user-to-forget cannot be undone.").waitFor();
    // Whoever turns to something else is asked again.
    await user.getByLabel(/^DELETE/).focus();
    await page.keyboard.press("Enter");
    await user.getByRole("button", { name: "Confirm" }).waitFor();
    assert.deepEqual(sent, []);
    await user.getByRole("button", { name: "Confirm" }).click();
    await user.getByText("200 OK").waitFor();
    await user.getByRole("button", { name: "Send" }).waitFor();
    assert.deepEqual([await factCount("a-user-to-forget"), await factCount("ada")], [0, 1]);
    // A path that was typed counts, not the one that the form began with.
    const flush = page.locator("#demoFlush");
    await flush.getByRole("button", { name: "Try it" }).click();
    await flush.getByLabel(/^POST/).fill("/demo/reset");
    await flush.getByRole("button", { name: "Send" }).click();
    await flush.getByText("Not sent yet: POST /demo/reset").waitFor();
    assert.equal(sent.length, 1);
    const deletions = await page
      .locator(".try[data-method=DELETE]")
      .evaluateAll((places) => places.map((place) => (place as HTMLElement).dataset.address));
    assert.equal(deletions.length, 3);
    assert.ok(!deletions.some((address) => /\bada\b/.test(address!)));
  },
);

visit(
  "a block is read by Try it: the one of the body's user takes the place of the sample's",
  async (visit) => {
    const { page, running, open } = visit;
    const fact = { label: "TASK.deadline", value: "2026-12-01" };
    await running.call("POST", "/encode", { body: { user_id: "ada", ...fact } });
    await running.call("POST", "/demo/encode?sandbox=0ab", { key: null, body: fact });
    await open("/docs/api");
    await page.getByText("Try the calls with your key").click();
    await page.getByPlaceholder("sb_live_…").fill(running.key);
    const read = page.locator("#read");
    await read.getByRole("button", { name: "Try it" }).click();
    const sample = await read.getByLabel("Body").inputValue();
    await read.getByLabel("Body").fill(sample.replace('"ada"', '"nobody yet"'));
    await read.getByRole("button", { name: "Send" }).click();
    await read.getByText("There are no facts yet").waitFor();
    await read.getByLabel("Body").fill(sample);
    await read.getByRole("button", { name: "Send" }).click();
    await read.getByRole("status").getByText("200 OK").waitFor();
    assert.match((await read.getByRole("status").textContent())!, /"value": "2026-12-01"/);
    assert.equal(JSON.parse(await read.getByLabel("Body").inputValue()).block.split(" ").length, 514);
    const demo = page.locator("#demoRead");
    await demo.getByRole("button", { name: "Try it" }).click();
    await demo.getByLabel(/^POST/).fill("/demo/read?sandbox=0ab");
    await demo.getByRole("button", { name: "Send" }).click();
    await demo.getByText("200 OK").waitFor();
  },
);

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
    await open("/docs/api");
    await says('"guard_left"');
  },
  { browser: { javaScriptEnabled: false } },
);
