/** A key's holder: tier, use, users and labels; and the key stays in the page's memory alone. */

import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { after } from "node:test";
import type { ChannelsAnswer } from "../../src/contract/answers.ts";
import { OwnerClient } from "../../src/door-client/owner-client.ts";
import { savedReceipt } from "./memory-visit.ts";
import { type Visit, visit } from "./visit.ts";

const backups = mkdtempSync(`${tmpdir()}/sideband-backups-`);
after(() => rmSync(backups, { recursive: true }));

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

visit(
  "the holder sees the account's users with their projects, and its labels, which can be hidden",
  async (visit) => {
    const { page, running, says } = visit;
    const key = await running.newKey("navy");
    const label = { label: "SHIP.size", description: "How large it is", one_of: ["S", "L"] };
    await running.call("POST", "/channels", { key, body: label });
    const fact = { user_id: "grace & co", label: "TASK.next", value: "x", project: "loom/gate" };
    await running.call("POST", "/encode", { key, body: fact });
    const hiddenLabels = async () => {
      const { channels } = (await running.call("GET", "/channels", { key })).json as ChannelsAnswer;
      return channels.filter(({ hidden }) => hidden).map(({ label }) => label);
    };
    await signIn(visit, key);
    await says("1 user of navy,");
    await page.getByRole("row", { name: /grace & co 0 loom\/gate/ }).waitFor();
    await page.getByRole("row", { name: /SHIP.size How large it is person one of S, L/ }).waitFor();
    await page.getByRole("button", { name: "Hide SHIP.size" }).click();
    await page.getByRole("row", { name: /SHIP.size .* hidden; one of S, L/ }).waitFor();
    await page.getByText("The 40 standard labels").click();
    await page.getByRole("button", { name: "Hide USER.os" }).click();
    await says("The 40 standard labels, 1 hidden");
    assert.deepEqual(await hiddenLabels(), ["USER.os", "SHIP.size"]);
    await page.getByRole("button", { name: "Show SHIP.size" }).click();
    await page.getByRole("button", { name: "Hide SHIP.size" }).waitFor();
    assert.deepEqual(await hiddenLabels(), ["USER.os"]);
    await page.getByRole("link", { name: "grace & co" }).click();
    await page.getByLabel("Your key").fill(key);
    await page.keyboard.press("Enter");
    await page.locator(".whose").getByText("grace & co").waitFor();
  },
);

visit(
  "the holder erases a user, sees what that was and what goes on, and saves a receipt that the service knows",
  async (visit) => {
    const { page, running, says } = visit;
    const key = await running.newKey("navy");
    for (const [user_id, value] of [
      ["ada", "x"],
      ["ada", "y"],
      ["grace", "z"],
    ])
      await running.call("POST", "/encode", { key, body: { user_id, label: "USER.name", value } });
    await running.service.core.keys.create({ account: "navy", user: "ada" });
    await signIn(visit, key);
    await page.getByRole("button", { name: "Erase everything of ada, which cannot be undone" }).click();
    await page.getByRole("button", { name: "Confirm: erase everything of ada" }).click();
    await says(/Everything of ada is erased/);
    await says(/1 fact and 1 earlier value, 1 label at 1 place, 0 connected applications/);
    await says("The service's backups hold it until");
    await says("1 key for ada alone can write until revoked.");
    await says("1 user of navy,");
    const receipt = await savedReceipt(page, "ada");
    const verify = (sent: object) =>
      OwnerClient.of(running.folder).json("POST", "/operator/verify-receipt", sent);
    assert.deepEqual(await verify(receipt), { genuine: true, key_known: true });
    assert.deepEqual(await verify({ ...receipt, facts: 2 }), { genuine: false, key_known: true });
  },
  { settings: { SIDEBAND_BACKUP_DIR: backups } },
);

visit("a key that only reads is offered no erasure", async (visit) => {
  const { page, running, says } = visit;
  const body = { user_id: "ada", label: "USER.name", value: "x" };
  await running.call("POST", "/encode", { body });
  await signIn(visit, (await running.service.core.keys.create({ account: "acme", access: "read" })).key);
  await says("1 user of acme,");
  assert.equal(await page.getByRole("button", { name: /^Erase/ }).count(), 0);
});

visit("the holder adds a set of labels, and makes the account strict", async (visit) => {
  const { page, running, says } = visit;
  const key = await running.newKey("navy");
  await signIn(visit, key);
  await says("Adds 14 labels: FAMILY.partner,");
  await page.getByRole("button", { name: "Add the set" }).click();
  await says("Own labels: 14; 202 more may be added");
  await page.getByRole("button", { name: "Make strict" }).click();
  await says("Strict: only the labels of the account can be written.");
  const { channels, strict } = (await running.call("GET", "/channels", { key })).json as ChannelsAnswer;
  assert.deepEqual([channels.length, strict], [54, true]);
});

visit(
  "the holder shares a project after a look at what goes along, changes its members, and gives it back",
  async (visit) => {
    const { page, running, says } = visit;
    const key = await running.newKey("navy");
    const write = (user_id: string, label: string, value: string) =>
      running.call("POST", "/encode", { key, body: { user_id, label, value, project: "loom" } });
    await write("ada", "PROJ.stack", "Rust");
    await write("ada", "TASK.next", "hers alone");
    const seenBy = async (user: string) =>
      (await running.call("GET", `/facts?user_id=${user}&project=loom`, { key })).json.facts.map(
        ({ label }: { label: string }) => label,
      );
    await signIn(visit, key);
    await says("No project is shared.");
    await page.getByRole("button", { name: "Share a project …" }).click();
    await page.getByLabel(/^Project, as agents name it/).fill("loom");
    await page.getByLabel("Shared with").selectOption("these members");
    await page.getByLabel(/^Members:/).fill("ada\ngrace\n");
    await page.getByLabel(/^Take along/).fill("ada");
    await page.getByRole("button", { name: "Show what would be shared" }).click();
    await says(/These facts of ada become the team's/);
    assert.deepEqual(await page.locator(".taken li").allTextContents(), ["PROJ.stack Rust"]);
    assert.deepEqual(await seenBy("grace"), [], "nothing is shared by looking");
    await page.getByRole("button", { name: "Share the project, with 1 fact" }).click();
    await says("loom is shared: it has 1 fact. 1 fact came along.");
    await page.getByRole("row", { name: /loom ada, grace read and write 1 20/ }).waitFor();
    assert.deepEqual(await seenBy("grace"), ["PROJ.stack"]);

    await page.getByRole("button", { name: "Change loom" }).click();
    await page.getByLabel(/^Members:/).fill("ada");
    await page.getByLabel("Members may").selectOption("read");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByRole("row", { name: /loom ada only read 1/ }).waitFor();
    assert.deepEqual(await seenBy("grace"), []);

    await page.getByRole("button", { name: "Change loom" }).click();
    await page.getByRole("button", { name: "End the sharing" }).click();
    await page
      .getByRole("alert")
      .getByText(/has shared facts/)
      .waitFor();
    await page.getByLabel(/^Give what is shared/).fill("ada");
    await page.getByRole("button", { name: "Give it to ada" }).click();
    await says("loom is not shared any more. ada has got 1 fact.");
    await says("No project is shared.");
    assert.deepEqual((await seenBy("ada")).sort(), ["PROJ.stack", "TASK.next"]);
  },
);

visit("what a project shares is erased for all after a question", async (visit) => {
  const { page, running, says } = visit;
  const key = await running.newKey("navy");
  await running.call("PUT", "/projects/loom", { key, body: { shared: true } });
  const fact = { user_id: "ada", label: "PROJ.stack", value: "Rust", project: "loom" };
  await running.call("POST", "/encode", { key, body: fact });
  await signIn(visit, key);
  await page.getByRole("button", { name: "Change loom" }).click();
  await page.getByRole("button", { name: /^Erase 1 fact for all of loom/ }).click();
  assert.equal((await running.call("GET", "/projects/loom", { key })).json.facts, 1, "it asks first");
  await page.getByRole("button", { name: /^Confirm: erase 1 fact for all/ }).click();
  await says("1 fact of loom is erased for all.");
  assert.equal((await running.call("GET", "/projects/loom", { key })).status, 404);
});

visit("a key that reads, a bound key and a token show what they may, and no error", async (visit) => {
  const { page, running, says } = visit;
  const { keys } = running.service.core;
  const body = { user_id: "ada", access: "write", ttl_s: 60 };
  const { token } = (await running.call("POST", "/tokens", { body })).json;
  await running.call("PUT", "/projects/loom", { body: { shared: true, members: ["ada"] } });
  await running.call("PUT", "/projects/hull", { body: { shared: true, members: ["grace"] } });
  const holders = [
    { key: (await keys.create({ account: "acme", access: "read" })).key, seesUsers: true },
    { key: (await keys.create({ account: "acme", user: "ada" })).key, seesUsers: false },
    { key: token, seesUsers: false },
  ];
  for (const { key, seesUsers } of holders) {
    await signIn(visit, key);
    await says("The 40 standard labels");
    assert.equal(await page.getByRole("button", { name: "Add the set" }).count(), 0);
    await page.getByRole("row", { name: /^loom/ }).waitFor();
    assert.equal(await page.getByRole("row", { name: /^hull/ }).count(), seesUsers ? 1 : 0);
    assert.equal(await page.getByRole("button", { name: /Share a project|^Change / }).count(), 0);
    if (seesUsers) await says("There are no such users.");
    assert.equal(await page.getByRole("heading", { name: "Users" }).count(), seesUsers ? 1 : 0);
    await page.getByText("The 40 standard labels").click();
    await page.getByRole("row", { name: /USER.name/ }).waitFor();
    assert.equal(await page.getByRole("button", { name: /^Hide / }).count(), 0);
    assert.equal(await page.getByRole("alert").count(), 0);
  }
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
