/** Connecting by OAuth where several nodes share a database: each step at another node. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { fieldsOf } from "../fixtures/fields.ts";
import { until } from "../fixtures/waiting.ts";
import {
  allow,
  asked,
  authorizePath,
  CALLBACK,
  connect,
  mcp,
  pkce,
  post,
  refresh,
  register,
  startOAuth,
  toolsFor,
} from "../http/oauth-client.ts";
import { databaseSettings, problemCode } from "../http/running-service.ts";
import { newDatabase } from "./server.ts";

async function twoNodes() {
  const settings = databaseSettings(await newDatabase());
  const [a, b] = [await startOAuth(settings), await startOAuth(settings)];
  return {
    a: a.running,
    b: b.running,
    person: a.person,
    end: () => Promise.all([a.running.end(), b.running.end()]),
  };
}

test("registered at one node, allowed at another, exchanged and used at both; a code counts once among all", async () => {
  const { a, b, person, end } = await twoNodes();
  try {
    const { client_id: clientId } = await register(a);
    const { verifier, challenge } = pkce();
    const back = await allow(b, authorizePath(asked(clientId, challenge)), { key: person });
    const fields = {
      grant_type: "authorization_code",
      code: back.searchParams.get("code")!,
      code_verifier: verifier,
      redirect_uri: CALLBACK,
      client_id: clientId,
    };
    const answers = await Promise.all([a, b, a, b, a, b].map((node) => post(node, "/token", fields)));
    assert.equal(answers.filter(({ status }) => status === 200).length, 1);
    const tokens = await connect(b, { key: person });
    for (const node of [a, b]) await toolsFor(node, tokens.access_token);
  } finally {
    await end();
  }
});

test("a refresh token used at two nodes at once has one successor, and a revocation at one ends it at the other", async () => {
  const { a, b, person, end } = await twoNodes();
  try {
    const tokens = await connect(a, { key: person });
    for (const node of [a, b]) await toolsFor(node, tokens.access_token);
    const answers = await Promise.all([a, b, a, b, a, b, a, b].map((node) => refresh(node, tokens)));
    assert.deepEqual(fieldsOf(answers, "status"), Array(8).fill(200));
    assert.equal(new Set(answers.map(({ json }) => json.refresh_token)).size, 1);
    await post(a, "/revoke", { token: tokens.refresh_token, client_id: tokens.clientId });
    assert.equal(problemCode(await mcp(a, tokens.access_token, "tools/list")), "401 invalid_key");
    assert.equal((await refresh(b, { ...tokens, refresh_token: answers[0].json.refresh_token })).status, 400);
    const revokedMs = performance.now();
    await until(async () => (await mcp(b, tokens.access_token, "tools/list")).status === 401);
    assert.ok(performance.now() - revokedMs < 5_000, "as a key that is revoked");
  } finally {
    await end();
  }
});
