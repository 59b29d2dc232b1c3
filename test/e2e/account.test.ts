/** A key's holder: tier and use; and the key stays in the page's memory alone. */

import assert from "node:assert/strict";
import { type Visit, visit } from "./visit.ts";

async function signIn({ page, open }: Visit, key: string): Promise<void> {
  await open("/account");
  await page.getByLabel("Your key").fill(key);
  await page.keyboard.press("Enter");
}

visit(
  "the holder of a key sees its tier, its use, whom it is for, and the way to the memory",
  async (visit) => {
    const { page, running, says } = visit;
    const key = await running.newKey("navy", "pro");
    for (const user_id of ["grace hopper", "ada"])
      await running.call("POST", "/encode", { key, body: { user_id, label: "USER.name", value: "x" } });
    await signIn(visit, key);
    await says("2 of 50,000");
    await page.getByRole("heading", { name: "navy pro" }).waitFor();
    await page.getByRole("img", { name: /Facts written by day: 2 facts/ }).waitFor();
    await page.getByRole("button", { name: "Forget the key" }).click();
    const bound = { account: "acme", user: "only ada", access: "read" } as const;
    await signIn(visit, (await running.service.core.keys.create(bound)).key);
    await says("This key is for the user only ada alone.");
    await says("reads only");
    await page.locator("main").getByRole("link", { name: "Memory" }).click();
    await page.getByRole("heading", { name: "Memory", exact: true }).waitFor();
  },
);

visit("the key is in no cookie, no storage, no address, and gone after a reload", async (visit) => {
  const { page, running, says } = visit;
  const addresses: string[] = [];
  page.on("request", (request) => addresses.push(request.url()));
  await signIn(visit, running.key);
  await says("no limit");
  const kept = await page.evaluate(() =>
    JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie]),
  );
  assert.equal(kept, '[{},{},""]');
  assert.ok(![page.url(), ...addresses].some((address) => address.includes("sb_live_")));
  await page.reload();
  assert.equal(await page.getByLabel("Your key").inputValue(), "");
});

visit(
  "a wrong key and a revoked one are told apart, and a server that is away is said to be",
  async (visit) => {
    const { page, running, says } = visit;
    await signIn(visit, `${running.key.slice(0, -1)}${running.key.endsWith("0") ? "1" : "0"}`);
    await page.getByRole("alert").waitFor();
    const key = await running.newKey("navy");
    const [record] = await running.service.core.keys.list("navy");
    await running.service.core.keys.revoke(record.id);
    await page.getByLabel("Your key").fill(key);
    await page.keyboard.press("Enter");
    await says(/revoked/);
    await page.route("**/usage**", (route) => route.abort());
    await page.keyboard.press("Enter");
    await says("The server cannot be reached.");
  },
);
