/** GET /audit and /admin/audit: who sees what, by what name, page by page; and what leaves an entry beside the operations of the table. */

import assert from "node:assert/strict";
import { rmSync } from "node:fs";
import { after, before, test } from "node:test";
import type { AuditedChange } from "../../src/contract/answers.ts";
import { boundKey, connect, mcp, messageOf, post, startOAuth } from "./oauth-client.ts";

let { running, person } = {} as Awaited<ReturnType<typeof startOAuth>>;
before(async () => {
  ({ running, person } = await startOAuth());
});
after(async () => {
  await running?.end();
  if (running !== undefined) rmSync(running.folder, { recursive: true, force: true });
});

const ADMIN = "admin-token-for-tests";

async function entriesOf(query: string, key: string = ADMIN): Promise<AuditedChange[]> {
  const path = key === ADMIN ? "/admin/audit" : "/audit";
  const { status, json, text } = await running.call("GET", `${path}?limit=200&${query}`, { key });
  assert.equal(status, 200, text);
  return json.entries;
}

async function encode(user_id: string, label: string, more: object = {}) {
  const { status, text } = await running.call("POST", "/encode", {
    body: { user_id, label, value: "v", ...more },
  });
  assert.equal(status, 200, text);
}

async function idOf(key: string): Promise<string> {
  const keys = await running.service.core.keys.list();
  return keys.find(({ prefix }) => key.startsWith(prefix))!.id;
}

test("an entry says who, from where, what, whose and when, to the operator and to the account", async () => {
  const headers = { "x-request-id": "shared-once" };
  const body = { shared: true, members: ["bo", "cy"] };
  await running.call("PUT", "/projects/loom", { body, headers });
  const [entry] = await entriesOf("operation=shareProject");
  const { id, at, address, ...rest } = entry!;
  assert.match(id, /^[0-9a-f]{16}$/);
  assert.ok(Math.abs(Date.parse(at) - Date.now()) < 60_000);
  assert.equal(typeof address, "string");
  assert.deepEqual(rest, {
    operation: "shareProject",
    account: "acme",
    by: { key_id: await idOf(running.key) },
    of: { project: "loom", members: ["bo", "cy"] },
    request_id: "shared-once",
  });
  assert.deepEqual(await entriesOf("operation=shareProject", running.key), [entry]);
});

test("an operator has a name to operators; the account learns that it was one, not who nor from where", async () => {
  const added = await running.call("POST", "/admin/operators", { key: ADMIN, body: { name: "grace" } });
  const body = { account: "acme", user: "dee" };
  const made = await running.call("POST", "/admin/keys", { key: added.json.token, body });
  const [entry] = await entriesOf("operation=adminCreateKey");
  assert.deepEqual(entry!.by, { operator: "grace" });
  assert.deepEqual(entry!.of, { user_id: "dee", key_id: made.json.id });
  const [told] = await entriesOf("operation=adminCreateKey", running.key);
  assert.deepEqual([told!.by, told!.address], [{ operator: "operator" }, null]);
  assert.deepEqual((await entriesOf("operation=adminAddOperator"))[0]!.of, { operator: "grace" });
  assert.deepEqual(await entriesOf("operation=adminAddOperator", running.key), []);
});

test("an account sees its own entries alone, and only with a key for all of it", async () => {
  const other = await running.newKey("other");
  await running.call("PATCH", "/channels", { key: other, body: { strict: true } });
  assert.deepEqual(
    (await entriesOf("", other)).map(({ operation }) => operation),
    ["changeStrict"],
  );
  const all = await entriesOf("account=acme");
  assert.ok(all.length > 0 && all.every(({ account }) => account === "acme"));
  const token = await running.call("POST", "/tokens", {
    body: { user_id: "ada", access: "read", ttl_s: 60 },
  });
  const { key: grouped } = await running.service.core.keys.create({ account: "acme", groups: "USER" });
  for (const [key, code] of [
    [person, "user_not_allowed"],
    [token.json.token, "user_not_allowed"],
    [grouped, "group_not_allowed"],
  ]) {
    const refused = await running.call("GET", "/audit", { key });
    assert.deepEqual([refused.status, refused.json.code], [403, code]);
  }
  assert.equal((await running.call("GET", "/admin/audit")).status, 401);
});

test("a fact that is forgotten with its history is noted, with the person of the token; kept history is not", async () => {
  await encode("eve", "USER.role");
  await encode("eve", "USER.os");
  const key = await boundKey(running, "eve");
  const { json } = await running.call("POST", "/tokens", {
    key,
    body: { user_id: "eve", access: "write", ttl_s: 60 },
  });
  for (const query of ["label=USER.role", "label=USER.os&keep_history=true"])
    assert.equal((await running.call("DELETE", `/facts?${query}`, { key: json.token })).status, 200);
  const entries = await entriesOf("account=acme&user=eve");
  assert.deepEqual(
    entries.map(({ operation, by, of }) => ({ operation, by, of })),
    [
      {
        operation: "forgetFact",
        by: { key_id: await idOf(key), person: "eve" },
        of: { user_id: "eve", label: "USER.role" },
      },
    ],
  );
  assert.equal((await running.call("DELETE", "/facts?user_id=eve&label=USER.role")).status, 404);
  assert.equal((await entriesOf("account=acme&user=eve")).length, 1);
});

test("whoever is erased has no name in any entry any more, and is found by whoever knows it", async () => {
  await encode("kim", "USER.role");
  await encode("kim", "USER.os");
  await running.call("DELETE", "/facts?user_id=kim&label=USER.os");
  assert.equal((await running.call("DELETE", "/users?user_id=kim")).status, 200);
  const entries = await entriesOf("account=acme&user=kim");
  assert.deepEqual(
    entries.map(({ operation }) => operation),
    ["forgetUser", "forgetFact"],
  );
  for (const { of, erased } of entries) {
    assert.equal(of.user_id, null);
    assert.match(erased![0]!, /^[0-9a-f]{32}$/);
  }
  assert.doesNotMatch(JSON.stringify(await entriesOf("")), /kim/);
  // Of one who has a key and nothing else it is told, too, who has taken the name away.
  const bound = { account: "acme", tier: "unlimited", user: "zoe" };
  assert.equal((await running.call("POST", "/admin/keys", { key: ADMIN, body: bound })).status, 201);
  assert.equal((await running.call("DELETE", "/users?user_id=zoe")).status, 404);
  assert.deepEqual(
    (await entriesOf("account=acme&user=zoe")).map(({ operation }) => operation),
    ["forgetUser", "adminCreateKey"],
  );
  assert.doesNotMatch(JSON.stringify(await entriesOf("")), /zoe/);
  assert.equal((await running.call("GET", "/admin/audit?user=kim", { key: ADMIN })).status, 400);
});

test("pages go on where the one before has ended, and a wrong cursor or moment is refused", async () => {
  const seen: string[] = [];
  for (let cursor: string | null = ""; cursor !== null; ) {
    const more: string = cursor === "" ? "" : `&cursor=${cursor}`;
    const { json } = await running.call("GET", `/admin/audit?limit=2${more}`, { key: ADMIN });
    seen.push(...json.entries.map(({ id }: AuditedChange) => id));
    cursor = json.next_cursor;
  }
  assert.deepEqual(
    seen,
    (await entriesOf("")).map(({ id }) => id),
  );
  const [last] = await entriesOf("");
  assert.deepEqual(await entriesOf(`until=${encodeURIComponent(last!.at)}`), (await entriesOf("")).slice(1));
  const beyondTime = Buffer.from(`${"9".repeat(15)} 0123456789abcdef`).toString("base64url");
  for (const query of ["cursor=x", `cursor=${beyondTime}`, "since=yesterday", "limit=0"])
    assert.equal((await running.call("GET", `/admin/audit?${query}`, { key: ADMIN })).status, 400);
});

test("tools of /mcp leave the entries of their operations", async () => {
  const { key } = await running.service.core.keys.create({ account: "tools" });
  const tool = async (name: string, input: object) => {
    const answer = await mcp(running, key, "tools/call", { name, arguments: { user_id: "ada", ...input } });
    assert.equal(messageOf(answer).result.isError ?? false, false, answer.text);
  };
  await tool("remember", { label: "USER.role", value: "smith", origin: "said" });
  await tool("forget", { label: "USER.role" });
  await tool("remember", { label: "USER.os", value: "Plan 9", origin: "said" });
  await tool("forget", { label: "USER.os", for_good: true });
  await tool("add_label", { label: "SHIP.name", description: "The ship" });
  const { json } = await running.call("GET", "/audit", { key });
  assert.deepEqual(
    json.entries.map(({ operation, of }: AuditedChange) => ({ operation, of })),
    [
      { operation: "addLabel", of: { label: "SHIP.name" } },
      { operation: "forgetFact", of: { user_id: "ada", label: "USER.os" } },
    ],
  );
});

test("an application that is allowed, and ended, is noted for the person, once", async () => {
  const connected = await connect(running, { key: person });
  for (let i = 0; i < 2; i++)
    await post(running, "/revoke", { token: connected.refresh_token, client_id: connected.clientId });
  const entries = await entriesOf("account=acme&user=ada");
  assert.deepEqual(
    entries.map(({ operation, by, of }) => [operation, by.person ?? null, of.user_id]),
    [
      ["endApplication", null, "ada"],
      ["allowApplication", "ada", "ada"],
    ],
  );
});
