/** The attacks of RFC 9700 on tokens and clients: one test for each that applies here. Those on requests and consent are in oauth-attacks.test.ts. */

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import {
  allow,
  asked,
  authorizePath,
  boundKey,
  CALLBACK,
  call,
  codeFor,
  connect,
  decide,
  exchange,
  ISSUER,
  mcp,
  pkce,
  post,
  RESOURCE,
  refresh,
  refusal,
  register,
  sent,
  startOAuth,
  ticketIn,
  toolsFor,
} from "./oauth-client.ts";
import { problemCode } from "./running-service.ts";

let { running, person } = {} as Awaited<ReturnType<typeof startOAuth>>;
before(async () => {
  ({ running, person } = await startOAuth());
});
after(() => running?.end());

const newCode = (more: Record<string, string | undefined> = {}) => codeFor(running, person, more);

test("token of another resource: what is for /mcp opens nothing else, and no foreign one opens /mcp (RFC 8707, RFC 9700, 2.3)", async () => {
  const tokens = await connect(running, { key: person });
  for (const [method, path] of [
    ["GET", "/facts"],
    ["GET", "/context"],
    ["GET", "/usage"],
    ["GET", "/channels"],
  ]) {
    const answer = await call(running, method, path, { key: tokens.access_token });
    assert.equal(problemCode(answer), "401 invalid_key", path);
  }
  const whole = await connect(running, { key: person }, { asked: { resource: `${ISSUER}/` } });
  assert.equal(whole.resource, ISSUER);
  assert.equal((await call(running, "GET", "/usage", { key: whole.access_token })).status, 200);
  await toolsFor(running, whole.access_token);
  for (const resource of [
    "https://other.example/mcp",
    `${ISSUER}/other`,
    `${ISSUER}/mcp#x`,
    "http://memory.example/mcp",
    "x",
  ]) {
    const { client_id: clientId } = await register(running);
    const page = await call(running, "GET", authorizePath(asked(clientId, pkce().challenge, { resource })));
    assert.equal(page.status, 400, resource);
  }
  const { clientId, verifier, code } = await newCode();
  assert.equal(
    refusal(await exchange(running, code, clientId, verifier, { resource: ISSUER })),
    "400 invalid_target",
  );
  const foreign = await startOAuth({ SIDEBAND_PUBLIC_URL: "https://other.example" });
  try {
    assert.equal(
      problemCode(await mcp(foreign.running, tokens.access_token, "tools/list")),
      "401 invalid_key",
    );
  } finally {
    await foreign.running.end();
  }
});

test("forged tokens: no part of a token can be changed, and a token is never taken from a query (RFC 9700, 4.3.2)", async () => {
  const {
    access_token: token,
    refresh_token: next,
    clientId,
  } = await connect(running, { key: person, access: "read" });
  const [head, seal] = token.split(".");
  const content = JSON.parse(Buffer.from(head.slice(4), "base64url").toString());
  const written = `sba_${Buffer.from(JSON.stringify([content[0], content[1], "write"])).toString("base64url")}.${seal}`;
  for (const forged of [
    written,
    `${head}.${"A".repeat(seal.length)}`,
    `${head}.`,
    head,
    next,
    `sba_bnVsbA.${seal}`,
  ])
    assert.equal(problemCode(await mcp(running, forged, "tools/list")), "401 invalid_key");
  for (const wrong of [token, `${next}x`, next.replace("sbr_", "sba_"), "x"])
    assert.equal(refusal(await refresh(running, { clientId, refresh_token: wrong })), "400 invalid_grant");
  assert.equal((await mcp(running, null, "tools/list", {}, `/mcp?api_key=${token}`)).status, 401);
  assert.equal((await call(running, "GET", `/mcp?api_key=${token}`)).status, 401);
});

test("a refresh token is its application's alone (RFC 9700, 2.2.2)", async () => {
  const tokens = await connect(running, { key: person });
  const other = await register(running);
  assert.equal(
    refusal(await refresh(running, { ...tokens, clientId: other.client_id })),
    "400 invalid_grant",
  );
  const stolen = await post(running, "/revoke", { token: tokens.refresh_token, client_id: other.client_id });
  assert.equal(stolen.status, 200);
  await toolsFor(running, tokens.access_token);
  const wrong = {
    grant_type: "refresh_token",
    refresh_token: tokens.refresh_token,
    client_id: tokens.clientId,
  };
  assert.equal(
    refusal(await post(running, "/token", { ...wrong, resource: "https://other.example" })),
    "400 invalid_target",
  );
});

test("an unknown client gets 401 invalid_client, so that it registers again", async () => {
  const { client_id: clientId } = await register(running);
  for (const id of [
    "nobody",
    "sbc_x.y",
    `${clientId}x`,
    clientId.slice(0, -1),
    clientId.replace("sbc_", "sbc_A"),
  ]) {
    const answer = await post(running, "/token", {
      grant_type: "refresh_token",
      refresh_token: "x",
      client_id: id,
    });
    assert.equal(refusal(answer), "401 invalid_client", id);
    assert.equal((await call(running, "GET", authorizePath(asked(id, pkce().challenge)))).status, 401);
  }
  assert.equal(refusal(await post(running, "/token", { grant_type: "refresh_token" })), "401 invalid_client");
});

test("an application with a secret cannot be played without it, in the form or in the header", async () => {
  for (const method of ["client_secret_post", "client_secret_basic"]) {
    const client = await register(running, { token_endpoint_auth_method: method });
    const fields = { grant_type: "refresh_token", refresh_token: "x" };
    const { client_id: id, client_secret: secret = "" } = client;
    const basic = (password: string) => ({
      authorization: `Basic ${Buffer.from(`${id}:${password}`).toString("base64")}`,
    });
    for (const answer of [
      await post(running, "/token", { ...fields, client_id: id }),
      await post(running, "/token", { ...fields, client_id: id, client_secret: `${secret}x` }),
      await post(running, "/token", fields, basic("wrong")),
    ])
      assert.equal(refusal(answer), "401 invalid_client");
    const wrong = await post(running, "/token", fields, basic("wrong"));
    assert.match(wrong.headers.get("www-authenticate")!, /^Basic/);
    for (const answer of [
      await post(running, "/token", { ...fields, client_id: id, client_secret: secret }),
      await post(running, "/token", fields, basic(secret)),
    ])
      assert.equal(refusal(answer), "400 invalid_grant", "the client is known");
  }
});

test("a flood of registrations stores nothing, and none is refused for the others", async () => {
  const { store } = running.service.core;
  const before = (await store.listKeys()).length;
  const answers = await Promise.all(
    Array.from({ length: 300 }, (_, i) => register(running, { client_name: `App ${i}` })),
  );
  assert.equal(new Set(answers.map(({ client_id }) => client_id)).size, 300);
  assert.equal((await store.listKeys()).length, before);
});

test("a registration takes https, loopback and an application's own scheme, and nothing that a browser runs", async () => {
  const good = [
    "http://127.0.0.1:9/cb",
    "http://[::1]/cb",
    "http://localhost:33418/",
    "vscode://vscode.github/callback",
    "com.example.app:/cb",
  ];
  const bad = [
    "javascript:alert(1)",
    "javascript://app.example/%0aalert(1)",
    "data:text/html,x",
    "vbscript:x",
    "file:///etc/passwd",
    "blob:https://app.example/x",
    "http://app.example/cb",
    "http://localhost.evil.example/cb",
    "https://user:pass@app.example/cb",
    "https://app.example/cb#x",
    "https://app.example/c b",
    "https://app.example/\u0000",
    `https://app.example/${"x".repeat(600)}`,
    "/callback",
    "mailto:ada@example.org",
    7,
    null,
  ];
  assert.deepEqual((await register(running, { redirect_uris: good })).redirect_uris, good);
  for (const address of bad) {
    const refused = await call(running, "POST", "/register", { body: { redirect_uris: [address] } });
    assert.equal(refusal(refused), "400 invalid_redirect_uri", String(address));
    const kept = await register(running, { redirect_uris: [address, CALLBACK] });
    assert.deepEqual(kept.redirect_uris, [CALLBACK], "one that is refused leaves the others");
  }
  for (const body of [[], "x", {}, { redirect_uris: [] }, { redirect_uris: CALLBACK }])
    assert.equal((await call(running, "POST", "/register", { body })).status, 400);
  const long = Array.from({ length: 10 }, (_, i) => `https://app.example/${"y".repeat(400)}${i}`);
  assert.equal(
    refusal(await call(running, "POST", "/register", { body: { redirect_uris: long } })),
    "400 invalid_client_metadata",
  );
});

test("a parameter that is there twice is refused, in the query and in the form (RFC 6749, 3.1)", async () => {
  const { clientId, verifier, code } = await newCode();
  const path = authorizePath(asked(clientId, pkce().challenge));
  assert.equal((await call(running, "GET", `${path}&resource=${encodeURIComponent(RESOURCE)}`)).status, 400);
  const form = new URLSearchParams({
    grant_type: "authorization_code",
    code,
    client_id: clientId,
    code_verifier: verifier,
  });
  form.append("code", "other");
  assert.equal(refusal(await post(running, "/token", form)), "400 invalid_request");
});

test("nothing of a token, a code or a client is in the store", async () => {
  const tokens = await connect(running, { key: person });
  const stored = JSON.stringify(await running.service.core.store.listKeys());
  for (const text of [tokens.access_token, tokens.refresh_token, tokens.clientId])
    for (const part of text.split(".")) assert.ok(!stored.includes(part));
});

test("a person's connections have a bound", async () => {
  const key = await boundKey(running, "many");
  const { client_id: clientId } = await register(running);
  const { verifier, challenge } = pkce();
  const path = authorizePath(asked(clientId, challenge));
  for (let i = 0; i < 100; i++) {
    const code = (await allow(running, path, { key })).searchParams.get("code")!;
    assert.equal((await exchange(running, code, clientId, verifier)).status, 200);
  }
  const ticket = ticketIn((await sent(running, path, { step: "sign-in", key })).text);
  const full = await decide(running, path, ticket, {});
  assert.equal(full.status, 400);
  assert.match(full.text, /100 connected applications/);
});
