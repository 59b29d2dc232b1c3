/** Requests for keys over HTTP: what is taken, how many, and what an approval may give access to. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { type Answer, problemCode, sharedRunning, startPortless } from "./running-service.ts";

const ADMIN_TOKEN = "admin-token-for-tests";
const REQUEST = { name: "Grace", email: "grace@example.org", purpose: "an agent for notes" };

const running = sharedRunning(() => startPortless({ SIDEBAND_TRUST_PROXY: "1" }));

let addresses = 0;
const nextAddress = () => `192.0.2.${++addresses}`;
const admin = (method: string, path: string, body?: unknown) =>
  running.call(method, path, { key: ADMIN_TOKEN, ...(body === undefined ? {} : { body }) });
const ask = (body: object = REQUEST, from = nextAddress()) =>
  running.call("POST", "/key-requests", { key: null, body, headers: { "x-forwarded-for": from } });

/** The id of a new request. */
async function newRequest(): Promise<string> {
  const name = `Grace ${addresses}`;
  assert.equal((await ask({ ...REQUEST, name })).status, 202);
  const { requests } = (await admin("GET", "/admin/key-requests")).json;
  return requests.find((request: { name: string }) => request.name === name).id;
}

const approve = (id: string, body: object): Promise<Answer> =>
  admin("POST", `/admin/key-requests/${id}/approve`, body);

test("an approval gives no access to an account that exists, unless it says join", async () => {
  await running.newKey("taken");
  const fact = { user_id: "u", label: "USER.name", value: "secret" };
  await running.call("POST", "/encode", { key: await running.newKey("taken"), body: fact });
  const id = await newRequest();
  for (const body of [{ account: "taken" }, { account: "taken", join: false }]) {
    const refused = await approve(id, body);
    assert.equal(problemCode(refused), "409 account_exists");
    assert.equal(refused.json.param, "account");
    assert.match(refused.json.detail, /^The account taken exists, with 2 keys and 1 user\./);
  }
  assert.equal((await admin("GET", "/admin/keys?account=taken")).json.keys.length, 2);
  const joined = await approve(id, { account: "taken", join: true });
  assert.equal(joined.status, 201);
  const read = await running.call("GET", "/facts?user_id=u", { key: joined.json.key });
  assert.equal(read.json.facts[0].value, "secret");
});

test("an approval without an account makes one under an unused name", async () => {
  const first = await approve(await newRequest(), {});
  const second = await approve(await newRequest(), { tier: "pro" });
  assert.deepEqual([first.status, first.json.account], [201, "example-grace"]);
  assert.deepEqual([second.status, second.json.account, second.json.tier], [201, "example-grace-2", "pro"]);
  const refused = await approve(await newRequest(), { join: true });
  assert.deepEqual([problemCode(refused), refused.json.param], ["400 invalid_request", "account"]);
});

test("a request can be deleted, once", async () => {
  const id = await newRequest();
  const deleted = await admin("DELETE", `/admin/key-requests/${id}`);
  assert.deepEqual([deleted.status, deleted.json], [200, { status: "ok" }]);
  assert.equal(problemCode(await admin("DELETE", `/admin/key-requests/${id}`)), "404 not_found");
  assert.equal(problemCode(await approve(id, { account: "deleted" })), "409 conflict");
  const stranger = await running.call("DELETE", `/admin/key-requests/${id}`, { key: null });
  assert.equal(problemCode(stranger), "401 missing_key");
});

test("texts that a store cannot hold or that mislead the operator are 400 and name the field", async () => {
  for (const [param, text] of [
    ["name", "Gr\u0000ace"],
    ["email", "gr\u0000ace@example.org"],
    ["email", "grace@example"],
    ["email", "nonsense"],
    ["purpose", "notes\u0000"],
    ["purpose", "line one\nline two"],
    ["purpose", "a \ud800 surrogate"],
    ["name", "Grace \u202eecarG"],
    ["name", "Grace \u2066"],
  ]) {
    const refused = await ask({ ...REQUEST, [param]: text });
    assert.equal(problemCode(refused), "400 invalid_request", JSON.stringify(text));
    assert.equal(refused.json.param, param);
  }
});

test("the addresses of one IPv6 network share a limit, and IPv4 in IPv6 is the IPv4 address", async () => {
  const statuses = async (...from: string[]) => {
    const answers: number[] = [];
    for (const address of from) answers.push((await ask(REQUEST, address)).status);
    return answers;
  };
  const network = [1, 2, 3, 4, 5, 6].map((i) => `2001:db8:1:2:${i}::${i}`);
  assert.deepEqual(await statuses(...network), [202, 202, 202, 202, 202, 429]);
  assert.deepEqual(await statuses("2001:db8:1:3::1"), [202]);
  const same = ["198.51.100.7", "::ffff:198.51.100.7", "::ffff:c633:6407", "198.51.100.7", "198.51.100.7"];
  assert.deepEqual(await statuses(...same, "::ffff:198.51.100.7"), [202, 202, 202, 202, 202, 429]);
  assert.deepEqual(await statuses("::ffff:198.51.100.8"), [202]);
});

test("wrong admin tokens are counted by IPv6 network, at the admin API and at the sign-in", async () => {
  const attempt = async (i: number) => {
    const headers = { "x-forwarded-for": `2001:db8:9:9::${i}`, "sec-fetch-site": "same-origin" };
    const answer =
      i % 2 === 0
        ? await running.call("GET", "/admin/keys", { key: "wrong", headers })
        : await running.call("POST", "/console/session", { key: null, body: { token: "wrong" }, headers });
    return answer.status;
  };
  for (let i = 0; i < 10; i++) assert.equal(await attempt(i), 401);
  assert.deepEqual([await attempt(10), await attempt(11)], [429, 429]);
});
