/** The operator's console: signing in and out, deciding on requests, keys, usage, the state of the service. */

import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { sharedBrowser } from "./chromium.ts";
import { ADMIN_TOKEN, type Visit, visit } from "./visit.ts";

async function signIn({ page, open }: Pick<Visit, "page" | "open">): Promise<void> {
  await open("/console");
  await page.getByLabel("Admin token").fill(ADMIN_TOKEN);
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "Requests for keys" }).waitFor();
}

async function request({ running }: Visit, name: string): Promise<void> {
  const body = { name, email: `${name.toLowerCase()}@navy.example`, purpose: "To remember.", tier: "pro" };
  assert.equal((await running.call("POST", "/key-requests", { key: null, body })).status, 202);
}

visit("a wrong token is refused; the right one gives a cookie that scripts cannot read", async (visit) => {
  const { page, running, open, says } = visit;
  await open("/console");
  await page.getByLabel("Admin token").fill("not the admin token");
  await page.keyboard.press("Enter");
  await says("This admin token is not valid.");
  await signIn(visit);
  const [cookie] = await page.context().cookies();
  assert.deepEqual([cookie.httpOnly, cookie.sameSite, cookie.path], [true, "Strict", "/"]);
  assert.equal(await page.evaluate(() => document.cookie), "");
  assert.ok(!JSON.stringify(running.logs).includes(ADMIN_TOKEN));
  await page.reload();
  await says("No open requests.");
});

visit("the audit shows who has changed what, and its filters leave out the rest", async (visit) => {
  const { page, running, says } = visit;
  await running.call("PATCH", "/channels", { body: { strict: true } });
  await running.call("PUT", "/projects/loom", { body: { shared: true, members: ["bo"] } });
  await running.newKey("other");
  await signIn(visit);
  const table = page.getByRole("region", { name: "Audited changes" });
  await table.getByText("changeStrict").waitFor();
  await table.getByText("acme; project loom; members bo").waitFor();
  await page.getByLabel("Entries of").selectOption("acme");
  await page.getByLabel("By or about").fill("bo");
  await page.getByRole("button", { name: "Show entries" }).click();
  await table.getByText("changeStrict").waitFor({ state: "detached" });
  await table.getByText("shareProject").waitFor();
  await page.getByLabel("Entries of").selectOption("other");
  await page.getByRole("button", { name: "Show entries" }).click();
  await says("There are no such entries.");
});

visit("too many wrong tokens are stopped", async ({ page, running, open, says }) => {
  for (let i = 0; i < 11; i++) await running.call("GET", "/admin/keys", { key: "wrong" });
  await open("/console");
  await page.getByLabel("Admin token").fill("another wrong token");
  await page.keyboard.press("Enter");
  await says(/Too many requests/);
});

visit("an approval shows the key once, with a text ready to send, and the key works", async (visit) => {
  const { page, running, says } = visit;
  await request(visit, "Grace");
  await signIn(visit);
  await says("To remember.");
  await page.getByRole("button", { name: "Approve" }).click();
  await says("The key of navy-grace, shown only once");
  const key = (await page.locator(".key-line code").textContent()) ?? "";
  const letter = await page.getByLabel("A text ready to send to grace@navy.example").inputValue();
  assert.ok(letter.includes(key) && letter.startsWith("Hello Grace,"));
  const usage = await running.call("GET", "/usage", { key });
  assert.deepEqual([usage.json.account, usage.json.tier, usage.json.limit], ["navy-grace", "pro", 50_000]);
  await page.getByRole("button", { name: "Done, hide the key" }).click();
  await page.reload();
  await says("No open requests.");
  assert.ok(!(await page.content()).includes(key));
});

visit(
  "an account that is not named is a new one; a name that is taken needs a second step that says so",
  async (visit) => {
    const { page, running, says } = visit;
    await running.newKey("navy-grace");
    const owner = await running.newKey("kernel");
    const fact = { user_id: "u", label: "USER.name", value: "Linus" };
    await running.call("POST", "/encode", { key: owner, body: fact });
    await request(visit, "Grace");
    await signIn(visit);
    await page.getByRole("button", { name: "Approve" }).click();
    await says("The key of navy-grace-2, shown only once");
    await page.getByRole("button", { name: "Done, hide the key" }).click();
    await request(visit, "Linus");
    await page.reload();
    const account = page.getByLabel("Account", { exact: true });
    await account.fill("kernel");
    const join = page.getByRole("button", { name: "Give this key access to kernel" });
    assert.equal(await join.count(), 0);
    await page.getByRole("button", { name: "Approve" }).click();
    await says("The account kernel exists, with 1 key and 1 user.");
    const { keys } = (await running.call("GET", "/admin/keys?account=kernel", { key: ADMIN_TOKEN })).json;
    assert.equal(keys.length, 1);
    await account.fill("kernel-2");
    await join.waitFor({ state: "detached" });
    await account.fill("kernel");
    await join.click();
    await says("The key of kernel, shown only once");
    const key = (await page.locator(".key-line code").textContent()) ?? "";
    assert.equal((await running.call("GET", "/usage", { key })).json.account, "kernel");
  },
);

visit("a request is declined, and deleted, open or decided, after a second look", async (visit) => {
  const { page, running, says } = visit;
  for (const name of ["Mallory", "Eve"]) await request(visit, name);
  await signIn(visit);
  await page.getByRole("button", { name: "Decline the request of Eve" }).click();
  await page.getByRole("button", { name: "Confirm: decline the request of Eve" }).click();
  await page.getByText("Decided", { exact: true }).click();
  const requests = async () =>
    (await running.call("GET", "/admin/key-requests", { key: ADMIN_TOKEN })).json.requests;
  assert.deepEqual(
    new Map((await requests()).map(({ name, status }: Record<string, string>) => [name, status])),
    new Map([
      ["Eve", "declined"],
      ["Mallory", "open"],
    ]),
  );
  for (const name of ["Eve", "Mallory"]) {
    await page.getByRole("button", { name: `Delete the request of ${name}` }).click();
    await page.getByRole("button", { name: `Confirm: delete the request of ${name}` }).click();
    await page.getByText(`${name.toLowerCase()}@navy.example`).waitFor({ state: "detached" });
  }
  await says("No open requests.");
  assert.deepEqual(await requests(), []);
});

visit(
  "a key is created for one user, for reading and without a group, and the table says so",
  async (visit) => {
    const { page, running, says } = visit;
    await signIn(visit);
    await page.getByLabel("Account, new or existing").fill("bound");
    await page.getByLabel("For one user (optional)").fill("ada lovelace");
    await page.getByLabel("Access").selectOption("read");
    await page.getByLabel("Groups of labels (optional)").fill("-HEALTH, -HOME");
    await page.getByRole("button", { name: "Create a key" }).click();
    await says("The key of bound, shown only once");
    const key = (await page.locator(".key-line code").textContent()) ?? "";
    assert.equal((await running.call("GET", "/facts", { key })).json.user_id, "ada lovelace");
    assert.equal((await running.call("GET", "/usage", { key })).json.groups, "-HEALTH,-HOME");
    const letter = await page.getByLabel("A text ready to send").inputValue();
    assert.match(letter, /It is for labels of these groups: -HEALTH,-HOME\./);
    const body = { label: "USER.name", value: "x" };
    assert.equal((await running.call("POST", "/encode", { key, body })).json.code, "read_only_key");
    const row = page.locator("tr", { hasText: key.slice(0, 12) });
    await row.getByText("ada lovelace").waitFor();
    await row.getByText("reads only").waitFor();
    await row.getByText("-HEALTH,-HOME").waitFor();
  },
);

visit("a key is created, used, given an expiry and revoked", async (visit) => {
  const { page, running, says } = visit;
  await signIn(visit);
  await page.getByLabel("Account, new or existing").fill("kernel");
  await page.getByRole("form", { name: "Create a key" }).getByLabel("Tier").selectOption("builder");
  await page.getByRole("button", { name: "Create a key" }).click();
  await says("The key of kernel, shown only once");
  const key = (await page.locator(".key-line code").textContent()) ?? "";
  const body = { user_id: "u", label: "USER.name", value: "Linus" };
  assert.equal((await running.call("POST", "/encode", { key, body })).status, 200);
  const prefix = key.slice(0, 12);
  await page.getByLabel(`Expiry of ${prefix}`).fill("2099-12-31");
  await page.getByRole("button", { name: `Set expiry of the key ${prefix} to 2099-12-31` }).click();
  const confirm = `Confirm: set expiry of the key ${prefix} to 2099-12-31`;
  await page.getByRole("button", { name: confirm }).waitFor();
  const { keys } = (await running.call("GET", "/admin/keys?account=kernel", { key: ADMIN_TOKEN })).json;
  assert.equal(keys[0].expires_at, null);
  await page.getByRole("button", { name: confirm }).click();
  await says("until 2099-12-31");
  await page
    .locator("#usage")
    .getByRole("combobox")
    .selectOption({ label: `kernel ${prefix}…` });
  await page.getByRole("img", { name: /Facts written with kernel .*: 1 facts/ }).waitFor();
  await says("1 of 500,000");
  await page.getByRole("button", { name: `Revoke the key ${prefix}` }).click();
  await page.getByRole("button", { name: `Confirm: revoke the key ${prefix}` }).click();
  await page.locator("tr", { hasText: prefix }).getByText("revoked").first().waitFor();
  assert.equal((await running.call("POST", "/encode", { key, body })).status, 403);
});

visit("the tier of a key and the limit of an account are changed", async (visit) => {
  const { page, running } = visit;
  const admin = { key: ADMIN_TOKEN };
  const body = { account: "tiers", tier: "free" };
  const { id, prefix } = (await running.call("POST", "/admin/keys", { ...admin, body })).json;
  await signIn(visit);
  await page.getByLabel(`Tier of ${prefix}`).selectOption("pro");
  await page.getByRole("button", { name: `Set tier of the key ${prefix} to pro` }).click();
  await page.getByRole("button", { name: `Confirm: set tier of the key ${prefix} to pro` }).click();
  const row = page.locator("tr", { hasText: prefix });
  await row.locator("td", { hasText: /^pro$/ }).first().waitFor();
  const { keys } = (await running.call("GET", "/admin/keys?account=tiers", admin)).json;
  assert.deepEqual([keys[0].id, keys[0].tier], [id, "pro"]);
  await page.locator("#accounts").getByRole("combobox", { name: "Account" }).selectOption("tiers");
  await page.getByLabel("Facts a month of all keys together").fill("5");
  await page.getByRole("button", { name: "Set the limit" }).click();
  await page.getByText("0 used this month.").waitFor();
  const { accounts } = (await running.call("GET", "/admin/accounts", admin)).json;
  const found = accounts.find(({ account }: { account: string }) => account === "tiers");
  assert.equal(found.monthly_limit, 5);
});

visit(
  "the users of an account with their projects, page by page, what it shares, and its own labels",
  async (visit) => {
    const { page, running, says } = visit;
    const key = await running.newKey("navy");
    const facts = [{ label: "USER.name", value: "x" }];
    const write = (user_id: string, more = {}) =>
      running.call("POST", "/encode/batch", { key, body: { user_id, facts, ...more } });
    await Promise.all(Array.from({ length: 52 }, (_, i) => write(`user ${String(i).padStart(2, "0")}`)));
    await running.call("POST", "/encode", {
      key,
      body: { user_id: "user 07", label: "TASK.next", value: "x", project: "loom/gate" },
    });
    const label = { label: "SHIP.size", description: "How large it is", one_of: ["S", "L"] };
    await running.call("POST", "/channels", { key, body: label });
    const loom = { shared: true, members: ["user 07", "user 08"], access: "read" };
    await running.call("PUT", "/projects/loom", { key, body: loom });
    await signIn(visit);
    const section = page.locator("#accounts");
    await says("The account shares no project.");
    await says("The account has the 40 standard labels, and may add 216.");
    await section.getByRole("combobox", { name: "Account" }).selectOption("navy");
    await says("50 users of navy, and more");
    await section.getByRole("row", { name: /^loom user 07, user 08 only read 0 never$/ }).waitFor();
    await section.getByRole("row", { name: /user 07 1 loom\/gate/ }).waitFor();
    await section.getByRole("row", { name: /SHIP.size How large it is person one of S, L/ }).waitFor();
    await section.getByRole("button", { name: "Show more users" }).click();
    await says("52 users of navy,");
    await section.getByLabel("Users whose name begins with").fill("user 4");
    await page.keyboard.press("Enter");
    await says("10 users of navy,");
  },
);

visit("the operator adds a set of labels to an account, and makes it strict", async (visit) => {
  const { page, running, says } = visit;
  const key = await running.newKey("navy");
  const channels = async () => (await running.call("GET", "/channels", { key })).json;
  await signIn(visit);
  const section = page.locator("#accounts");
  await section.getByRole("combobox", { name: "Account" }).selectOption("navy");
  await section.getByRole("combobox", { name: "Set of labels" }).selectOption("team");
  await says("Adds 10 labels: TEAM.members,");
  await section.getByRole("button", { name: "Add the set" }).click();
  await section.getByRole("row", { name: /TEAM.on_call Who is on call, and until when project/ }).waitFor();
  await says("The account has all labels of this set.");
  assert.equal((await channels()).free, 206);
  await section.getByRole("button", { name: "Make strict" }).click();
  await says("Strict: only the labels of the account can be written.");
  assert.equal((await channels()).strict, true);
  await section.getByRole("button", { name: "Allow any label" }).click();
  await says("Persons may make labels of their own by writing them.");
  assert.equal((await channels()).strict, undefined);
});

visit("what the service refuses is said in the form, which can be sent again", async (visit) => {
  const { page, says } = visit;
  await signIn(visit);
  await page.getByLabel("Account, new or existing").fill("kernel");
  const expires = page.getByRole("form", { name: "Create a key" }).getByLabel("Expires");
  const create = page.getByRole("button", { name: "Create a key" });
  await expires.fill("2001-01-01");
  await create.click();
  await says("The expiry lies in the past.");
  assert.ok(await create.isEnabled());
  await expires.fill("");
  await create.click();
  await says("The key of kernel, shown only once");
});

visit("a session that has ended leads back to the sign-in, which says so", async (visit) => {
  const { page, says } = visit;
  await signIn(visit);
  await page.context().clearCookies();
  await page.getByLabel("Account, new or existing").fill("kernel");
  await page.getByRole("button", { name: "Create a key" }).click();
  await says("Your session has ended.");
  await page.getByLabel("Admin token").waitFor();
});

visit(
  "a page of another port of the host is sent the cookie, and can do nothing with it",
  async ({ running }) => {
    const cookies: (string | undefined)[] = [];
    const other = createServer((request, response) => {
      cookies.push(request.headers.cookie);
      response.writeHead(200, { "content-type": "text/html" }).end("<!doctype html><title>other</title>");
    });
    await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve));
    // A context of its own: its pages may ask another host.
    const context = await (await sharedBrowser())!.newContext();
    try {
      const page = await context.newPage();
      await signIn({ page, open: async (path) => void (await page.goto(running.url + path)) });
      const neighbour = await context.newPage();
      await neighbour.goto(`http://127.0.0.1:${(other.address() as AddressInfo).port}`);
      const cookie = cookies[0] ?? "";
      assert.match(cookie, /^sideband_console=/, "browsers do not tell ports apart");
      for (const path of ["/admin/keys", "/admin/status"])
        assert.equal((await running.call("GET", path, { key: null, headers: { cookie } })).status, 401);
      await page.reload();
      await page.getByText("No open requests.").waitFor();
    } finally {
      await context.close();
      other.close();
    }
  },
);

visit(
  "signing out ends it, for a copy of it too; health, demo and errors are shown; a server that is away is said to be",
  async (visit) => {
    const { page, running, says } = visit;
    await running.call("POST", "/demo/encode", { key: null, body: { label: "TASK.owner", value: "x" } });
    await signIn(visit);
    await says(/Holds TASK\.owner; reset in/);
    await says("None since this process started.");
    await page.route("**/admin/**", (route) => route.abort());
    await page.getByLabel("Account, new or existing").fill("kernel");
    await page.getByRole("button", { name: "Create a key" }).click();
    await says("The server cannot be reached.");
    await page.unroute("**/admin/**");
    const [{ name, value }] = await page.context().cookies();
    const pageSecret = await page.evaluate(() => sessionStorage.getItem("sideband-console"));
    await page.getByRole("button", { name: "Sign out" }).click();
    await page.getByLabel("Admin token").waitFor();
    assert.deepEqual(await page.context().cookies(), []);
    assert.equal(await page.evaluate(() => sessionStorage.length), 0);
    const headers = { cookie: `${name}=${value}`, "sideband-console": pageSecret! };
    assert.equal((await running.call("GET", "/admin/keys", { key: null, headers })).status, 401);
  },
);

visit("an operator is added with a token shown once, works by it, and is out when removed", async (visit) => {
  const { page, running, says } = visit;
  await signIn(visit);
  await says(/Nobody by name/);
  await page.getByLabel("Name of the operator").fill("grace");
  await page.getByRole("button", { name: "Add an operator" }).click();
  await says("The token of grace, shown only once");
  const token = (await page.locator(".key-line code").textContent()) ?? "";
  const asGrace = async (method: string, path: string) =>
    (await running.call(method, path, { key: token })).status;
  assert.equal(await asGrace("GET", "/admin/operators"), 200);
  assert.equal(await asGrace("DELETE", "/admin/operators/grace"), 403);
  await page.getByRole("button", { name: "Done, hide the token" }).click();
  assert.ok(!(await page.content()).includes(token));
  await page.locator("#operators").getByText("looks at everything, changes nothing").waitFor();
  await page.getByRole("button", { name: "Remove the operator grace" }).click();
  await page.getByRole("button", { name: "Confirm: remove the operator grace" }).click();
  await says(/Nobody by name/);
  assert.equal(await asGrace("GET", "/admin/operators"), 401);
});
