/** Connecting an application by OAuth: metadata, consent, tokens, and what they open. On either store. */

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { endAfter } from "../fixtures/ends.ts";
import { fieldsOf } from "../fixtures/fields.ts";
import {
  allow,
  asked,
  authorizePath,
  boundKey,
  CALLBACK,
  call,
  connect,
  ISSUER,
  mcp,
  messageOf,
  pkce,
  post,
  RESOURCE,
  refresh,
  register,
  sent,
  startOAuth,
  toolsFor,
} from "./oauth-client.ts";
import { problemCode, startPortless } from "./running-service.ts";

let { running, time, person } = {} as Awaited<ReturnType<typeof startOAuth>>;
before(async () => {
  ({ running, time, person } = await startOAuth());
});
after(() => running?.end());

test("without SIDEBAND_OAUTH there is nothing at its addresses, and a 401 is as ever", async (t) => {
  const plain = endAfter(t, await startPortless({ SIDEBAND_PUBLIC_URL: ISSUER }));
  for (const path of [
    "/authorize",
    "/.well-known/oauth-authorization-server",
    "/.well-known/oauth-protected-resource",
  ])
    assert.equal((await call(plain, "GET", path)).status, 404, path);
  for (const path of ["/token", "/register", "/revoke"])
    assert.equal((await post(plain, path, {})).status, 404, path);
  assert.equal(
    (await mcp(plain, null, "tools/list")).headers.get("www-authenticate"),
    'Bearer realm="sideband"',
  );
  assert.equal(problemCode(await mcp(plain, "sba_W10.x", "tools/list")), "401 invalid_key");
});

test("SIDEBAND_OAUTH stops the start without a public https address that has no path", async () => {
  for (const url of ["", "http://memory.example", "https://memory.example/sideband"])
    await assert.rejects(
      startPortless({ SIDEBAND_OAUTH: "on", SIDEBAND_PUBLIC_URL: url }),
      /needs SIDEBAND_PUBLIC_URL/,
    );
});

test("a 401 of /mcp and of /v1/mcp says where the metadata is and which scopes there are, and never offline_access", async () => {
  for (const path of ["/mcp", "/v1/mcp"]) {
    const answer = await mcp(running, null, "initialize", {}, path);
    assert.equal(answer.status, 401);
    const challenge = answer.headers.get("www-authenticate")!;
    assert.equal(
      challenge,
      `Bearer resource_metadata="${ISSUER}/.well-known/oauth-protected-resource${path}", scope="memory:read memory:write"`,
    );
    const metadata = await call(
      running,
      "GET",
      new URL(/resource_metadata="([^"]+)"/.exec(challenge)![1]).pathname,
    );
    assert.equal(metadata.json.resource, ISSUER + path);
    assert.deepEqual(metadata.json.authorization_servers, [ISSUER]);
    assert.ok(!metadata.text.includes("offline_access"));
    assert.equal(metadata.headers.get("access-control-allow-origin"), "*");
  }
  const wrong = await mcp(running, "sba_nonsense.x", "initialize");
  assert.match(wrong.headers.get("www-authenticate")!, /^Bearer error="invalid_token", resource_metadata=/);
  assert.equal((await call(running, "GET", "/.well-known/oauth-protected-resource")).json.resource, ISSUER);
});

test("the server's metadata has what clients look for before they begin", async () => {
  const { json, text } = await call(running, "GET", "/.well-known/oauth-authorization-server");
  assert.equal(json.issuer, ISSUER);
  assert.deepEqual(
    [json.authorization_endpoint, json.token_endpoint, json.registration_endpoint, json.revocation_endpoint],
    ["authorize", "token", "register", "revoke"].map((path) => `${ISSUER}/${path}`),
  );
  assert.deepEqual(json.code_challenge_methods_supported, ["S256"]);
  assert.equal(json.authorization_response_iss_parameter_supported, true);
  assert.equal(json.client_id_metadata_document_supported, true);
  for (const method of ["none", "client_secret_post"])
    assert.ok(json.token_endpoint_auth_methods_supported.includes(method));
  assert.ok(!text.includes("offline_access"));
});

test("a person allows an application: it gets tokens for a day and for longer, and reads and writes that memory alone", async () => {
  const tokens = await connect(running, { key: person });
  assert.equal(tokens.expires_in, 86_400);
  assert.equal(tokens.scope, "memory:read memory:write");
  assert.equal(tokens.resource, RESOURCE);
  assert.ok((await toolsFor(running, tokens.access_token)).includes("remember"));
  await toolsFor(running, tokens.access_token, "/v1/mcp");
  const kept = await mcp(running, tokens.access_token, "tools/call", {
    name: "remember",
    arguments: { label: "USER.name", value: "Ada", origin: "said" },
  });
  assert.ok(!messageOf(kept).result.isError, kept.text);
  const { json } = await running.call("GET", "/decode?user_id=ada&label=USER.name");
  assert.equal(json.value, "Ada");
  await toolsFor(running, tokens.access_token, "/mcp?user_id=ada");
  const other = await mcp(running, tokens.access_token, "tools/list", {}, "/mcp?user_id=bob");
  assert.equal(problemCode(other), "403 user_not_allowed");
});

test("with a key of the account the person says whose memory it is, and only that one is opened", async () => {
  const { client_id: clientId } = await register(running);
  const path = authorizePath(asked(clientId, pkce().challenge));
  const without = await sent(running, path, { step: "sign-in", key: running.key });
  assert.equal(without.status, 400);
  assert.match(without.text, /say whose memory it is/);
  const tokens = await connect(running, { key: running.key, user: "grace" });
  await toolsFor(running, tokens.access_token, "/mcp?user_id=grace");
  const other = await mcp(running, tokens.access_token, "tools/list", {}, "/mcp?user_id=ada");
  assert.equal(problemCode(other), "403 user_not_allowed");
});

test("who allowed reading alone is read alone: a tool that writes gets 403 insufficient_scope with the scope to ask for", async () => {
  for (const consent of [
    { key: person, access: "read" as const },
    { key: await boundKey(running, "ada", { access: "read" }) },
  ]) {
    const tokens = await connect(running, consent);
    assert.equal(tokens.scope, "memory:read");
    assert.ok(!(await toolsFor(running, tokens.access_token)).includes("remember"));
    const answer = await mcp(running, tokens.access_token, "tools/call", { name: "remember", arguments: {} });
    assert.equal(problemCode(answer), "403 read_only_key");
    assert.match(
      answer.headers.get("www-authenticate")!,
      /^Bearer error="insufficient_scope", .*scope="memory:read memory:write"$/,
    );
  }
  const narrow = await connect(running, { key: person }, { asked: { scope: "memory:read" } });
  assert.equal(narrow.scope, "memory:read");
});

test("groups that the person leaves out are not there for the application", async () => {
  await running.call("POST", "/encode", { body: { user_id: "hal", label: "USER.name", value: "Hal" } });
  await running.call("POST", "/encode", { body: { user_id: "hal", label: "PREF.tone", value: "dry" } });
  const consent = { key: running.key, user: "hal" };
  const root = { asked: { resource: ISSUER } };
  const labelsSeen = async (token: string) =>
    (await call(running, "GET", "/facts", { key: token })).json.facts.map(
      ({ label }: { label: string }) => label,
    );
  const all = await connect(running, consent, root);
  assert.deepEqual(await labelsSeen(all.access_token), ["USER.name", "PREF.tone"]);
  const named = await connect(running, { ...consent, groups: ["PREF"], others: false }, root);
  assert.deepEqual(await labelsSeen(named.access_token), ["PREF.tone"]);
  const without = await connect(running, { ...consent, groups: ["USER"] }, root);
  assert.deepEqual(await labelsSeen(without.access_token), ["USER.name"]);
  const limited = await boundKey(running, "hal", { groups: "PREF" });
  assert.deepEqual(await labelsSeen((await connect(running, { key: limited }, root)).access_token), [
    "PREF.tone",
  ]);
});

test("a refresh token that parallel sessions use within a minute has one successor; used later it ends the connection", async () => {
  const tokens = await connect(running, { key: person });
  const answers = await Promise.all(Array.from({ length: 6 }, () => refresh(running, tokens)));
  assert.deepEqual(fieldsOf(answers, "status"), Array(6).fill(200));
  const [next] = new Set(answers.map(({ json }) => json.refresh_token));
  assert.equal(new Set(answers.map(({ json }) => json.refresh_token)).size, 1);
  assert.notEqual(next, tokens.refresh_token);
  const after = (await refresh(running, { ...tokens, refresh_token: next })).json;
  time.aheadMs += 30_000;
  assert.equal(
    (await refresh(running, tokens)).json.refresh_token,
    next,
    "also when the successor was used meanwhile",
  );
  await toolsFor(running, after.access_token);
  time.aheadMs += 31_000;
  const late = await refresh(running, tokens);
  assert.deepEqual([late.status, late.json.error], [400, "invalid_grant"]);
  for (const token of [after.access_token, tokens.access_token])
    assert.equal(problemCode(await mcp(running, token, "tools/list")), "401 invalid_key");
  assert.equal(
    (await refresh(running, { ...tokens, refresh_token: after.refresh_token })).json.error,
    "invalid_grant",
  );
});

test("a connection goes on over months of refreshing, until the end that the person chose", async () => {
  const tokens = await connect(running, { key: person, days: "30" });
  let current = tokens;
  for (let day = 0; day < 30; day += 1) {
    const answer = await refresh(running, current);
    assert.equal(answer.status, 200, `day ${day}: ${answer.text}`);
    current = { ...current, ...answer.json };
    time.aheadMs += 86_400_000 - (day === 29 ? 60_000 : 0);
  }
  assert.equal(
    problemCode(await mcp(running, tokens.access_token, "tools/list")),
    "401 invalid_key",
    "after a day",
  );
  const last = await refresh(running, current);
  assert.ok(last.json.expires_in <= 60, "no token outlives the connection");
  time.aheadMs += 60_000;
  assert.equal((await refresh(running, { ...current, ...last.json })).json.error, "invalid_grant");
  assert.equal(problemCode(await mcp(running, last.json.access_token, "tools/list")), "401 invalid_key");
});

test("a connection ends at once with the key that allowed it, and an application may end its own", async () => {
  const key = await boundKey(running, "ada");
  const [first, second] = [await connect(running, { key }), await connect(running, { key })];
  const revoked = await post(running, "/revoke", { token: first.access_token, client_id: first.clientId });
  assert.equal(revoked.status, 200);
  assert.equal(problemCode(await mcp(running, first.access_token, "tools/list")), "401 invalid_key");
  assert.equal((await refresh(running, first)).json.error, "invalid_grant");
  await toolsFor(running, second.access_token);
  const records = await running.service.core.keys.list("acme");
  await running.service.core.keys.revoke(records.find(({ prefix }) => prefix === key.slice(0, 12))!.id);
  assert.equal(problemCode(await mcp(running, second.access_token, "tools/list")), "401 invalid_key");
  assert.equal((await refresh(running, second)).json.error, "invalid_grant");
  assert.equal(
    (await post(running, "/revoke", { token: "nobody's", client_id: second.clientId })).status,
    200,
  );
});

test("encodes of an application count to the key that allowed it", async () => {
  const { key } = await running.service.core.keys.create({ account: "small", tier: "free", user: "eve" });
  const { access_token: token } = await connect(running, { key }, { asked: { resource: ISSUER } });
  const body = { label: "USER.name", value: "Eve" };
  assert.equal((await call(running, "POST", "/encode", { key: token, body })).status, 200);
  assert.equal((await call(running, "GET", "/usage", { key })).json.used, 1);
});

test("API keys and short-lived tokens go on working beside it", async () => {
  await toolsFor(running, person);
  const { token } = (
    await call(running, "POST", "/tokens", {
      key: person,
      body: { user_id: "ada", access: "read", ttl_s: 60 },
    })
  ).json;
  await toolsFor(running, token);
});

test("an address with a query of its own, and one of an application, get the answer appended", async () => {
  const uris = ["https://app.example/cb?tenant=7", "cursor://anysphere.cursor-mcp/oauth/callback"];
  const { client_id: clientId } = await register(running, { redirect_uris: uris });
  for (const uri of uris) {
    const path = authorizePath(asked(clientId, pkce().challenge, { redirect_uri: uri }));
    const back = await allow(running, path, { key: person });
    assert.ok(back.href.startsWith(`${uri}${uri.includes("?") ? "&" : "?"}code=`), back.href);
  }
});

test("who does not allow it is sent back with access_denied, without a key", async () => {
  const { client_id: clientId } = await register(running);
  const page = await sent(running, authorizePath(asked(clientId, pkce().challenge)), { step: "deny" });
  assert.match(page.text, /url=https:\/\/app\.example\/callback\?error=access_denied/);
  assert.ok(page.text.includes(`iss=${encodeURIComponent(ISSUER)}`));
  assert.ok(page.text.includes(CALLBACK));
});

test("a person sees what is connected to their memory, and ends it at once; a token sees and ends nothing", async () => {
  const key = await boundKey(running, "lin");
  const tokens = await connect(
    running,
    { key, access: "read", groups: ["USER"], others: false },
    { asked: { resource: ISSUER } },
  );
  await call(running, "GET", "/usage", { key: tokens.access_token });
  const { grants } = (await call(running, "GET", "/grants", { key })).json;
  assert.equal(grants.length, 1);
  const [{ id, ...seen }] = grants;
  assert.deepEqual(
    [seen.application, seen.returns_to, seen.resource, seen.access, seen.groups],
    ["An App", "app.example", ISSUER, "read", "USER"],
  );
  assert.ok(Date.parse(seen.expires_at) > Date.parse(seen.created_at));
  const account = await running.call("GET", "/grants?user_id=lin");
  assert.deepEqual(fieldsOf(account.json.grants, "id"), [id]);
  const other = await boundKey(running, "mia");
  assert.equal(
    problemCode(await call(running, "GET", "/grants?user_id=lin", { key: other })),
    "403 user_not_allowed",
  );
  assert.equal(problemCode(await call(running, "DELETE", `/grants/${id}`, { key: other })), "404 not_found");
  assert.equal(
    problemCode(await call(running, "DELETE", `/grants/${id}`, { key: tokens.access_token })),
    "403 user_not_allowed",
  );
  const reading = await boundKey(running, "lin", { access: "read" });
  assert.equal(
    problemCode(await call(running, "DELETE", `/grants/${id}`, { key: reading })),
    "403 read_only_key",
  );
  assert.equal((await call(running, "DELETE", `/grants/${id}`, { key })).status, 200);
  assert.equal(
    problemCode(await call(running, "GET", "/usage", { key: tokens.access_token })),
    "401 invalid_key",
  );
  assert.deepEqual((await call(running, "GET", "/grants", { key })).json.grants, []);
});

test("erasing a person ends what they have connected, at once, also a stream; the receipt counts it", async () => {
  const key = await boundKey(running, "eda");
  const tokens = await connect(running, { key }, { asked: { resource: ISSUER } });
  await call(running, "POST", "/encode", { key, body: { user_id: "eda", label: "USER.name", value: "Eda" } });
  const { receipt } = (await running.call("DELETE", "/users?user_id=eda&details=true")).json;
  assert.deepEqual([receipt.facts, receipt.connections, receipt.keys_left], [1, 1, 1]);
  const refused = await call(running, "GET", "/facts", { key: tokens.access_token });
  assert.equal(problemCode(refused), "401 invalid_key");
  assert.equal((await refresh(running, tokens)).json.error, "invalid_grant");
  const { keys } = running.service.core;
  assert.ok((await keys.list("acme")).every(({ user, grant }) => user !== "eda" || grant === undefined));
  // The key goes on, as the receipt says; one that connects again begins anew.
  const again = await connect(running, { key }, { asked: { resource: ISSUER } });
  const anew = await call(running, "DELETE", "/users?user_id=eda&details=true", { key });
  assert.deepEqual([anew.json.receipt.facts, anew.json.receipt.connections], [0, 1]);
  assert.equal((await refresh(running, again)).json.error, "invalid_grant");
  assert.equal(problemCode(await call(running, "DELETE", "/users?user_id=eda", { key })), "404 not_found");
});

test("a slip in a parameter of /grants is refused, and nothing is ended", async () => {
  const key = await boundKey(running, "fay");
  const tokens = await connect(running, { key }, { asked: { resource: ISSUER } });
  const [{ id }] = (await call(running, "GET", "/grants", { key })).json.grants;
  for (const [method, path] of [
    ["GET", "/grants?usr_id=fay"],
    ["DELETE", `/grants/${id}?usr_id=fay`],
  ] as const) {
    const { status, json } = await running.call(method, path);
    assert.deepEqual([status, json.param, json.hint], [400, "usr_id", "user_id"]);
  }
  assert.equal((await call(running, "GET", "/facts", { key: tokens.access_token })).status, 200);
});

test("the operator sees connected applications among the keys, ends one, and they count as no keys", async () => {
  const admin = { key: "admin-token-for-tests" };
  const { key } = await running.service.core.keys.create({ account: "desk", tier: "unlimited", user: "ola" });
  const tokens = await connect(running, { key });
  const { keys } = (await call(running, "GET", "/admin/keys?account=desk", admin)).json;
  const granted = keys.find(({ prefix }: { prefix: string }) => prefix === "sba_");
  assert.deepEqual([granted.note, granted.user, keys.length], ["An App", "ola", 2]);
  const accounts = (await call(running, "GET", "/admin/accounts", admin)).json.accounts;
  assert.equal(accounts.find(({ account }: { account: string }) => account === "desk").keys, 1);
  assert.equal((await call(running, "POST", `/admin/keys/${granted.id}/revoke`, admin)).status, 200);
  assert.equal(problemCode(await mcp(running, tokens.access_token, "tools/list")), "401 invalid_key");
});
