/** Operators by name: what their tokens and sessions open, until when, and what who only looks cannot do. */

import assert from "node:assert/strict";
import { after, test } from "node:test";
import { PAGE_SECRET_HEADER } from "../../src/http/access/console-session.ts";
import { endAfter } from "../fixtures/ends.ts";
import { rowsOf } from "../fixtures/fields.ts";
import { problemCode, type Running, startPortless } from "./running-service.ts";

const ADMIN_TOKEN = "admin-token-for-tests";
const SAME_ORIGIN = { "sec-fetch-site": "same-origin" };

let started: Promise<Running> | undefined;
const service = () => (started ??= startPortless(undefined, undefined, { warm: false }));
after(async () => (await started?.catch(() => undefined))?.end());

async function add(name: string, access?: "read" | "write"): Promise<string> {
  const running = await service();
  const body = { name, ...(access && { access }) };
  const { status, json } = await running.call("POST", "/admin/operators", { key: ADMIN_TOKEN, body });
  assert.equal(status, 201);
  assert.match(json.token, /^sbo_[\w-]{43}$/);
  return json.token;
}

async function signIn(token: string): Promise<Record<string, string>> {
  const running = await service();
  const options = { key: null, body: { token }, headers: SAME_ORIGIN };
  const { status, headers, json } = await running.call("POST", "/console/session", options);
  assert.equal(status, 200);
  const [cookie] = (headers.get("set-cookie") ?? "").split(";", 1);
  return { cookie, [PAGE_SECRET_HEADER]: json.page_secret, ...SAME_ORIGIN };
}

test("an operator's token and session open the admin API under their name, until they are removed", async () => {
  const running = await service();
  const token = await add("ada");
  const session = await signIn(token);
  const asked = await running.call("GET", "/console/session", { key: null, headers: session });
  assert.deepEqual([asked.json.operator, asked.json.access], ["ada", "write"]);
  const body = { account: "navy" };
  for (const who of [{ key: token }, { key: null, headers: session }])
    assert.equal((await running.call("POST", "/admin/keys", { ...who, body })).status, 201);
  const { json } = await running.call("GET", "/admin/operators", { key: token });
  assert.deepEqual(rowsOf(json.operators, "name", "access"), [["ada", "write"]]);
  assert.doesNotMatch(JSON.stringify(json), /hash|sbo_/);

  const removed = await running.call("DELETE", "/admin/operators/ada", { key: ADMIN_TOKEN });
  assert.equal(removed.status, 200);
  assert.equal((await running.call("GET", "/admin/keys", { key: token })).status, 401);
  assert.equal((await running.call("GET", "/admin/keys", { key: null, headers: session })).status, 401);
  const again = await running.call("DELETE", "/admin/operators/ada", { key: ADMIN_TOKEN });
  assert.equal(problemCode(again), "404 not_found");
});

test("an operator who reads looks at everything and changes nothing, with the token and in the console", async () => {
  const running = await service();
  const token = await add("grace", "read");
  const session = await signIn(token);
  for (const who of [{ key: token }, { key: null, headers: session }]) {
    for (const path of [
      "/admin/keys",
      "/admin/accounts",
      "/admin/usage",
      "/admin/status",
      "/admin/operators",
    ])
      assert.equal((await running.call("GET", path, who)).status, 200, path);
    const refused = await running.call("POST", "/admin/keys", { ...who, body: { account: "navy" } });
    assert.equal(problemCode(refused), "403 read_only_key");
    const name = await running.call("DELETE", "/admin/operators/grace", who);
    assert.equal(name.status, 403);
  }
});

test("an operator's token opens nothing of an account, and no key opens the operator's", async () => {
  const running = await service();
  const token = await add("linus");
  assert.equal((await running.call("GET", "/usage", { key: token })).status, 401);
  assert.equal((await running.call("GET", "/admin/operators")).status, 401);
  assert.equal((await running.call("GET", "/admin/operators", { key: `${token}x` })).status, 401);
});

test("a name is taken once, and those of the admin token and of the data folder never", async () => {
  const running = await service();
  await add("margaret");
  const tryAdding = (name: string) =>
    running.call("POST", "/admin/operators", { key: ADMIN_TOKEN, body: { name } });
  assert.equal(problemCode(await tryAdding("margaret")), "409 conflict");
  for (const name of ["admin", "owner", "Ada", "", "a b", "x".repeat(65)])
    assert.equal(problemCode(await tryAdding(name)), "400 invalid_request", name);
});

test("each of several admin tokens counts, and its sessions end with it", async (t) => {
  const settings = { SIDEBAND_ADMIN_TOKEN: "first-admin-token-1,second-admin-token-2" };
  const running = endAfter(t, await startPortless(settings, undefined, { warm: false }));
  for (const key of ["first-admin-token-1", "second-admin-token-2"])
    assert.equal((await running.call("GET", "/admin/keys", { key })).status, 200);
  const both = await running.call("GET", "/admin/keys", { key: settings.SIDEBAND_ADMIN_TOKEN });
  assert.equal(both.status, 401);
});
