/** Asking for a key: the request arrives, too many are stopped, a server that is away is said to be away. */

import assert from "node:assert/strict";
import type { Page } from "playwright-core";
import { ADMIN_TOKEN, visit } from "./visit.ts";

async function fill(page: Page, email = "grace@navy.example"): Promise<void> {
  await page.getByLabel("Your name").fill("Grace Hopper");
  await page.getByLabel("E-mail").fill(email);
  await page.getByLabel("What you are building").fill("A compiler that remembers.");
  await page.getByRole("combobox", { name: "Tier" }).selectOption("pro");
}

visit(
  "a request for a key arrives with the operator, sent by keyboard",
  async ({ page, running, open, says }) => {
    await open("/keys");
    await fill(page);
    await page.getByLabel("What you are building").fill("A compiler\nthat remembers.\n");
    await page.getByRole("combobox", { name: "Tier" }).focus();
    await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");
    await says("your request has arrived");
    await says(/the operator writes to grace@navy\.example/);
    const { json } = await running.call("GET", "/admin/key-requests", { key: ADMIN_TOKEN });
    assert.equal(json.requests.length, 1);
    const { name, email, purpose, tier, status } = json.requests[0];
    assert.deepEqual(
      [name, email, purpose, tier, status],
      ["Grace Hopper", "grace@navy.example", "A compiler that remembers.", "pro", "open"],
    );
  },
);

visit("the browser itself refuses a form that is not filled in", async ({ page, running, open }) => {
  await open("/keys");
  await fill(page, "no address");
  await page.getByRole("button", { name: "Ask for a key" }).click();
  assert.equal(await page.getByLabel("E-mail").evaluate((input) => input.matches(":user-invalid")), true);
  const { json } = await running.call("GET", "/admin/key-requests", { key: ADMIN_TOKEN });
  assert.deepEqual(json.requests, []);
});

visit("too many requests from one address are stopped, and the form is kept", async (visit) => {
  const { page, running, open, says } = visit;
  const body = { name: "A", email: "a@b.example", purpose: "p" };
  let status = 202;
  for (let i = 0; i < 20 && status === 202; i++) {
    ({ status } = await running.call("POST", "/key-requests", { key: null, body }));
  }
  assert.equal(status, 429);
  await open("/keys");
  await fill(page);
  await page.getByRole("button", { name: "Ask for a key" }).click();
  await says(/Too many requests/);
  assert.equal(await page.getByLabel("Your name").inputValue(), "Grace Hopper");
});

visit("a server that is away loses nothing of what was typed", async ({ page, open, says }) => {
  await open("/keys");
  await fill(page);
  await page.route("**/key-requests", (route) => route.abort());
  await page.getByRole("button", { name: "Ask for a key" }).click();
  await says("The server cannot be reached.");
  await page.unroute("**/key-requests");
  await page.getByRole("button", { name: "Ask for a key" }).click();
  await says("your request has arrived");
});
