/** A key's holder: its use, for whom it is, the way to the facts; and the key stays in the page's memory alone. */

import assert from "node:assert/strict";
import { type Visit, visit } from "./visit.ts";

async function signIn({ page, open }: Visit, key: string): Promise<void> {
  await open("/account");
  await page.getByLabel("Your key").fill(key);
  await page.keyboard.press("Enter");
}

visit("the holder of a key sees its tier, its use and the way to what is remembered", async (visit) => {
  const { page, running, says } = visit;
  const key = await running.newKey("navy", "pro");
  for (const label of ["USER.name", "USER.os", "USER.role"])
    await running.call("POST", "/encode", { key, body: { user_id: "grace", label, value: "Navy" } });
  await signIn(visit, key);
  await says("3 of 50,000");
  await page.getByRole("heading", { name: "navy pro" }).waitFor();
  await page.getByRole("img", { name: /Facts written by day: 3 facts/ }).waitFor();
  await page.getByRole("main").getByRole("link", { name: "Memory" }).click();
  await page.waitForURL("**/memory");
});

visit("the holder of a bound, reading key sees whose facts it is for", async (visit) => {
  const { running, says } = visit;
  const { key } = await running.service.core.keys.create({
    account: "acme",
    user: "only ada",
    access: "read",
  });
  await signIn(visit, key);
  await says("This key is for the user only ada alone.");
  await says("reads only");
});

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
