/** The attacks of RFC 9700, and of the MCP specification, on requests, codes and consent: one test for each that applies here. */

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
  nextOf,
  pkce,
  post,
  refresh,
  refusal,
  register,
  sent,
  startOAuth,
  ticketIn,
} from "./oauth-client.ts";
import { problemCode } from "./running-service.ts";

let { running, time, person } = {} as Awaited<ReturnType<typeof startOAuth>>;
before(async () => {
  ({ running, time, person } = await startOAuth());
});
after(() => running?.end());

const newCode = (more: Record<string, string | undefined> = {}) => codeFor(running, person, more);

test("redirect: an address that is not the application's own gets nothing, however near it is (RFC 9700, 4.1)", async () => {
  const { client_id: clientId } = await register(running, {
    redirect_uris: [CALLBACK, "http://localhost/callback", "cursor://anysphere.cursor-mcp/oauth/callback"],
  });
  for (const address of [
    "https://evil.example/callback",
    "https://app.example/callback/",
    "https://app.example/callback?x=1",
    "https://app.example:8443/callback",
    "https://app.example/callback/../evil",
    "https://app.example.evil.example/callback",
    "https://app.example@evil.example/callback",
    "https://user@app.example/callback",
    "http://app.example/callback",
    "https://app.example/callback#x",
    "http://localhost:1234/other",
    "http://localhost.evil.example:1234/callback",
    "http://127.0.0.1:1234/callback",
    "http://localhost@evil.example/callback",
    "cursor://anysphere.cursor-mcp/oauth/callback/x",
    "cursor://evil/oauth/callback",
    "javascript:alert(1)",
    "//evil.example",
  ]) {
    const page = await call(
      running,
      "GET",
      authorizePath(asked(clientId, pkce().challenge, { redirect_uri: address })),
    );
    assert.equal(page.status, 400, address);
    assert.equal(page.headers.get("location"), null);
    assert.ok(!page.text.includes("evil") && !page.text.includes("<form"), page.text);
  }
});

test("open redirect: a wrong request sends no browser anywhere by itself, it shows a link and the host (RFC 9700, 4.11)", async () => {
  const { client_id: clientId } = await register(running);
  const { challenge } = pkce();
  for (const [wrong, error] of [
    [{ response_type: "token" }, "unsupported_response_type"],
    [{ code_challenge: undefined }, "invalid_request"],
    [{ resource: "https://other.example/mcp" }, "invalid_target"],
  ] as const) {
    const page = await call(running, "GET", authorizePath(asked(clientId, challenge, wrong)));
    assert.equal(page.status, 400);
    assert.equal(page.headers.get("location"), null);
    assert.ok(!page.text.includes('http-equiv="refresh"'), "not by the page either");
    assert.ok(
      page.text.includes(`error=${error}`) && page.text.includes(">Back to app.example</a>"),
      page.text,
    );
  }
});

test("an implicit answer, PKCE without S256, and none at all are refused (RFC 9700, 2.1.1, 2.1.2, 4.8)", async () => {
  const { client_id: clientId } = await register(running);
  const { challenge } = pkce();
  for (const wrong of [
    { response_type: "token" },
    { response_type: "code token" },
    { code_challenge_method: "plain" },
    { code_challenge_method: undefined },
    { code_challenge: undefined },
    { code_challenge: "short" },
  ]) {
    const page = await call(running, "GET", authorizePath(asked(clientId, challenge, wrong)));
    assert.equal(page.status, 400, JSON.stringify(wrong));
  }
  const grant = { grant_type: "password", username: "ada", password: person, client_id: clientId };
  assert.equal(refusal(await post(running, "/token", grant)), "400 unsupported_grant_type");
});

test("code injection: a stolen code is worth nothing without the verifier, or to another application (RFC 9700, 4.5)", async () => {
  const { clientId, verifier, code } = await newCode();
  const other = await register(running, { client_name: "Thief" });
  const attacker = pkce();
  assert.equal(refusal(await exchange(running, code, clientId, attacker.verifier)), "400 invalid_grant");
  assert.equal(refusal(await exchange(running, code, clientId, undefined)), "400 invalid_request");
  assert.equal(refusal(await exchange(running, code, other.client_id, verifier)), "400 invalid_grant");
  assert.equal(
    refusal(await exchange(running, code, clientId, verifier, { redirect_uri: "https://app.example/other" })),
    "400 invalid_grant",
  );
  for (const at of [4, 40, code.length - 4]) {
    const changed = code.slice(0, at) + (code[at] === "A" ? "B" : "A") + code.slice(at + 1);
    assert.equal(refusal(await exchange(running, changed, clientId, verifier)), "400 invalid_grant");
  }
  assert.equal(
    (await exchange(running, code, clientId, verifier)).status,
    200,
    "and is still the application's own",
  );
});

test("code replay: a code is used once, whoever comes first, and a second use ends what came of it (RFC 6749, 4.1.2)", async () => {
  const { clientId, verifier, code } = await newCode();
  const answers = await Promise.all(
    Array.from({ length: 8 }, () => exchange(running, code, clientId, verifier)),
  );
  const won = answers.filter(({ status }) => status === 200);
  assert.equal(won.length, 1);
  const token = won[0].json.access_token;
  assert.equal(problemCode(await mcp(running, token, "tools/list")), "401 invalid_key");
  assert.equal(
    refusal(await refresh(running, { clientId, refresh_token: won[0].json.refresh_token })),
    "400 invalid_grant",
  );
});

test("with an erased person all codes have ended, used and unused ones, and no dead token revives", async () => {
  const [key, other] = [await boundKey(running, "gus"), await boundKey(running, "eve")];
  const [used, unused, foreign] = [
    await codeFor(running, key, {}),
    await codeFor(running, key, {}),
    await codeFor(running, other, {}),
  ];
  const tokens = (await exchange(running, used.code, used.clientId, used.verifier)).json;
  const { receipt } = (await running.call("DELETE", "/users?user_id=gus&details=true")).json;
  for (const { code, clientId, verifier } of [used, unused, used])
    assert.equal(refusal(await exchange(running, code, clientId, verifier)), "400 invalid_grant");
  assert.equal(problemCode(await mcp(running, tokens.access_token, "tools/list")), "401 invalid_key");
  assert.equal(refusal(await refresh(running, { ...used, ...tokens })), "400 invalid_grant");
  assert.equal(receipt.connections, 2, "what was allowed and not begun counts");
  assert.deepEqual((await call(running, "GET", "/grants?user_id=gus", { key })).json.grants, []);
  assert.equal((await exchange(running, foreign.code, foreign.clientId, foreign.verifier)).status, 200);
  const again = await connect(running, { key });
  assert.equal((await mcp(running, again.access_token, "tools/list")).status, 200);
});

test("a code lives for a minute", async () => {
  const { clientId, verifier, code } = await newCode();
  time.aheadMs += 60_001;
  assert.equal(refusal(await exchange(running, code, clientId, verifier)), "400 invalid_grant");
});

test("mix-up: every answer names the issuer, allowed, refused or denied (RFC 9700, 4.4; RFC 9207)", async () => {
  const { back, clientId } = await newCode();
  assert.equal(back.searchParams.get("iss"), ISSUER);
  const path = authorizePath(asked(clientId, pkce().challenge));
  const denied = nextOf((await sent(running, path, { step: "deny" })).text);
  assert.equal(denied.searchParams.get("iss"), ISSUER);
  const wrong = await call(running, "GET", authorizePath(asked(clientId, "short")));
  assert.ok(wrong.text.includes(`iss=${encodeURIComponent(ISSUER)}`));
});

test("CSRF: the state comes back letter by letter, and no other site can send the forms (RFC 9700, 4.7)", async () => {
  const state = `a b&c=d"<é>${"x".repeat(500)}`;
  const { back } = await newCode({ state });
  assert.equal(back.searchParams.get("state"), state);
  const { client_id: clientId } = await register(running);
  const path = authorizePath(asked(clientId, pkce().challenge));
  for (const headers of [
    {},
    { "sec-fetch-site": "cross-site" },
    { "sec-fetch-site": "same-site" },
    { origin: "https://evil.example" },
  ]) {
    const answer = await post(
      running,
      path,
      { step: "sign-in", key: person },
      headers as Record<string, string>,
    );
    assert.equal(answer.status, 400, JSON.stringify(headers));
    assert.ok(!answer.text.includes("ticket"));
  }
});

test("consent cannot be given in a person's place: a ticket is for one request, for ten minutes, and nobody makes one", async () => {
  const { client_id: clientId } = await register(running);
  const evil = await register(running, { client_name: "Thief", redirect_uris: ["https://evil.example/cb"] });
  const { challenge } = pkce();
  const path = authorizePath(asked(clientId, challenge));
  const ticket = ticketIn((await sent(running, path, { step: "sign-in", key: person })).text);
  const elsewhere = [
    asked(evil.client_id, challenge, { redirect_uri: "https://evil.example/cb" }),
    asked(clientId, pkce().challenge),
    asked(clientId, challenge, { state: "other" }),
    asked(clientId, challenge, { resource: ISSUER }),
  ];
  for (const request of elsewhere) {
    const page = await decide(running, authorizePath(request), ticket, {});
    assert.equal(page.status, 400);
    assert.ok(!page.text.includes("code="), page.text);
  }
  const { code } = await newCode();
  for (const forged of ["", "x", code, ticket.slice(0, -2)])
    assert.equal((await decide(running, path, forged, {})).status, 400);
  time.aheadMs += 600_001;
  assert.equal((await decide(running, path, ticket, {})).status, 400);
});

test("a token signs nobody in: only a key does, and the page has it nowhere", async () => {
  const { access_token: token, refresh_token: next } = await connect(running, { key: person });
  const { client_id: clientId } = await register(running);
  const path = authorizePath(asked(clientId, pkce().challenge));
  for (const key of [token, next, "", "sb_live_x", `${person}x`])
    assert.equal((await sent(running, path, { step: "sign-in", key })).status, 400);
  const page = await sent(running, path, { step: "sign-in", key: person });
  assert.ok(!page.text.includes(person) && !page.text.includes(person.slice(8)));
  assert.ok(!running.logs.join("").includes(person.slice(8)), "nor has the log");
  const minted = await call(running, "POST", "/tokens", {
    key: token,
    body: { user_id: "ada", access: "read", ttl_s: 60 },
  });
  assert.ok(minted.status >= 400);
});

test("whoever is refused has a line in the log with the code and the address, and with nothing that was sent", async () => {
  const { client_id: clientId } = await register(running);
  const { verifier, challenge } = pkce();
  const path = authorizePath(asked(clientId, challenge, { state: "sent-state" }));
  const key = `${person.slice(0, -1)}${person.endsWith("x") ? "y" : "x"}`;
  const ticket = ticketIn((await sent(running, path, { step: "sign-in", key: person })).text);
  const begun = running.logs.length;
  await sent(running, path, { step: "sign-in", key });
  await sent(running, path, { step: "sent-step" });
  await sent(running, path, { step: "allow", ticket: "sent-ticket" });
  await sent(running, path, { step: "allow", ticket });
  await call(running, "GET", authorizePath(asked("sent-client", challenge)));
  await call(running, "GET", authorizePath(asked(clientId, challenge, { resource: "https://sent.example" })));
  await exchange(running, "sent-code", clientId, verifier);
  await refresh(running, { clientId, refresh_token: "sbr_sent.token" });
  await post(running, "/token", { client_id: "sent-client" });
  await post(running, "/revoke", { client_id: clientId });
  await call(running, "POST", "/register", { body: { redirect_uris: ["http://sent.example"] } });
  await call(running, "POST", "/register", { body: [] });
  const text = running.logs.slice(begun).join("");
  const lines = running.logs.slice(begun).map((line) => JSON.parse(line));
  assert.deepEqual(
    lines.map(({ route, status, code }) => `${route} ${status} ${code}`),
    [
      "/authorize 400 invalid_key",
      "/authorize 400 invalid_request",
      "/authorize 400 invalid_request",
      "/authorize 400 invalid_request",
      "/authorize 401 invalid_client",
      "/authorize 400 invalid_target",
      "/token 400 invalid_grant",
      "/token 400 invalid_grant",
      "/token 401 invalid_client",
      "/revoke 400 invalid_request",
      "/register 400 invalid_redirect_uri",
      "/register 400 invalid_client_metadata",
    ],
  );
  for (const { address } of lines) assert.equal(address, "127.0.0.1");
  for (const secret of ["sent", key, ticket, verifier, challenge, clientId])
    assert.ok(!text.includes(secret), text);
});

test("a key that was revoked between the two forms allows nothing", async () => {
  const key = await boundKey(running, "ada");
  const { client_id: clientId } = await register(running);
  const path = authorizePath(asked(clientId, pkce().challenge));
  const ticket = ticketIn((await sent(running, path, { step: "sign-in", key })).text);
  const records = await running.service.core.keys.list("acme");
  await running.service.core.keys.revoke(records.find(({ prefix }) => prefix === key.slice(0, 12))!.id);
  assert.equal((await decide(running, path, ticket, {})).status, 400);
});

test("a form asks for no more than the request and the key allow", async () => {
  const { client_id: clientId } = await register(running);
  const reading = await boundKey(running, "ada", { access: "read" });
  for (const [key, scope] of [
    [person, "memory:read"],
    [reading, "memory:read memory:write"],
  ]) {
    const { verifier, challenge } = pkce();
    const path = authorizePath(asked(clientId, challenge, { scope }));
    const back = await allow(running, path, { key, access: "write" });
    const { json } = await exchange(running, back.searchParams.get("code")!, clientId, verifier);
    assert.equal(json.scope, "memory:read");
    const wider = await post(running, "/token", {
      ...{ grant_type: "refresh_token", refresh_token: json.refresh_token, client_id: clientId },
      scope: "memory:read memory:write",
    });
    assert.equal(wider.json.scope, "memory:read");
  }
});

test("clickjacking: no page may show the consent page in a frame, and it runs and loads nothing (RFC 9700, 4.16)", async () => {
  const { client_id: clientId } = await register(running, { client_name: `"><script>alert(1)</script>` });
  const page = await call(
    running,
    "GET",
    authorizePath(asked(clientId, pkce().challenge, { state: `"><img src=x>` })),
  );
  const policy = page.headers.get("content-security-policy")!;
  assert.match(policy, /default-src 'none'.*frame-ancestors 'none'/);
  assert.ok(!/script-src|unsafe-inline/.test(policy));
  assert.equal(page.headers.get("x-frame-options"), "DENY");
  assert.equal(page.headers.get("cache-control"), "no-store");
  assert.equal(page.headers.get("referrer-policy"), "same-origin");
  assert.ok(!page.text.includes("<script") && !page.text.includes("<img"), page.text);
});

test("phishing: the page says where the answer goes and who vouches for the name, and warns of programs on the device", async () => {
  const { client_id: far } = await register(running, {
    client_name: "Claude",
    redirect_uris: ["https://evil.example/cb"],
  });
  const page = await call(
    running,
    "GET",
    authorizePath(asked(far, pkce().challenge, { redirect_uri: undefined })),
  );
  assert.match(page.text, /it has given this name itself/);
  assert.match(page.text, /Sends you back to<\/dt><dd><strong>evil\.example/);
  assert.ok(!page.text.includes('class="warning"'));
  const { client_id: near } = await register(running, { redirect_uris: ["http://localhost/cb"] });
  const local = await call(
    running,
    "GET",
    authorizePath(asked(near, pkce().challenge, { redirect_uri: "http://localhost:4000/cb" })),
  );
  assert.match(local.text, /class="warning"/);
});

test("a made-up token whose id no store can look for is refused as any other, without a credential and by the client", async () => {
  const { client_id: clientId } = await register(running);
  const made = (prefix: string, content: readonly unknown[]) =>
    `${prefix}${Buffer.from(JSON.stringify(content)).toString("base64url")}.x`;
  for (const id of ["\0", "g\0", "\u0001", "\ud800", ""]) {
    const access = made("sba_", [id, 9e15, "read"]);
    assert.equal(problemCode(await mcp(running, access, "tools/list")), "401 invalid_key");
    assert.equal(
      problemCode(await call(running, "GET", "/facts?user_id=ada", { key: access })),
      "401 invalid_key",
    );
    const next = made("sbr_", [id, 0]);
    assert.equal(refusal(await refresh(running, { clientId, refresh_token: next })), "400 invalid_grant");
    for (const token of [access, next])
      assert.equal((await post(running, "/revoke", { token, client_id: clientId })).status, 200);
  }
});
