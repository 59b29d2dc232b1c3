/** A key's holder: use, facts of a user, forgetting one; and the key stays in the page's memory alone. */

import assert from "node:assert/strict";
import { type Visit, visit } from "./visit.ts";

async function signIn({ page, open }: Visit, key: string): Promise<void> {
  await open("/account");
  await page.getByLabel("Your key").fill(key);
  await page.keyboard.press("Enter");
}

visit(
  "the holder of a key sees its tier, its use and the facts of a user, and forgets one",
  async (visit) => {
    const { page, running, says } = visit;
    const key = await running.newKey("navy", "pro");
    for (const [user_id, label, value] of [
      ["grace hopper", "USER.name", "Grace"],
      ["grace hopper", "USER.os", "<b>UNIVAC</b> & co"],
      ["ada", "USER.name", "Lovelace"],
    ]) {
      await running.call("POST", "/encode", { key, body: { user_id, label, value } });
    }
    await signIn(visit, key);
    await says("3 of 50,000");
    await page.getByRole("heading", { name: "navy pro" }).waitFor();
    await page.getByRole("img", { name: /Facts written by day: 3 facts/ }).waitFor();
    await page.getByLabel("User id").fill("grace hopper");
    await page.keyboard.press("Enter");
    await says("2 facts of grace hopper");
    await says("<b>UNIVAC</b> & co");
    // Typed, and not asked for.
    await page.getByLabel("User id").fill("ada");
    await page.getByRole("button", { name: "Forget USER.os" }).click();
    await page.getByRole("button", { name: "Confirm: forget USER.os" }).click();
    await says("USER.os is forgotten.");
    await says("1 fact of grace hopper");
    assert.equal(await page.getByText("Lovelace").count(), 0);
    const { json } = await running.call("GET", "/facts?user_id=grace%20hopper", { key });
    assert.deepEqual(
      json.facts.map(({ label }: { label: string }) => label),
      ["USER.name"],
    );
  },
);

visit(
  "the holder of a bound, reading key sees whose facts it is for, and no button to forget them",
  async (visit) => {
    const { page, running, says } = visit;
    const { key } = await running.service.core.keys.create({
      account: "acme",
      user: "only ada",
      access: "read",
    });
    const body = { user_id: "only ada", label: "USER.name", value: "Lovelace" };
    await running.call("POST", "/encode", { body });
    await signIn(visit, key);
    await says("This key is for the user only ada alone.");
    await says("reads only");
    await page.getByRole("button", { name: "Show facts" }).click();
    await says("1 fact of only ada");
    assert.equal(await page.getByRole("button", { name: "Forget USER.name" }).count(), 0);
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
