/**
 * The applications that people connect, each by the requests that it really sends, as its public sources and reports show them:
 * looking for metadata, registering or naming its document, authorizing, exchanging, and then its list of tools.
 */

import assert from "node:assert/strict";
import { rmSync } from "node:fs";
import { after, before, test } from "node:test";
import {
  allow,
  authorizePath,
  call,
  connect,
  ISSUER,
  mcp,
  pkce,
  post,
  RESOURCE,
  refresh,
  startOAuth,
  toolsFor,
} from "./oauth-client.ts";

let { running, person } = {} as Awaited<ReturnType<typeof startOAuth>>;
before(async () => {
  ({ running, person } = await startOAuth());
});
after(async () => {
  await running?.end();
  if (running !== undefined) rmSync(running.folder, { recursive: true, force: true });
});

interface Application {
  readonly name: string;
  /** What it posts to /register, or the address of its document. */
  readonly client: Record<string, unknown> | string;
  readonly redirectUri: string;
  readonly scope?: string;
  /** What else it adds to the authorization request. */
  readonly more?: Record<string, string>;
  readonly resource?: string;
  /** Where its secret goes, if it gets one. */
  readonly secretIn?: "form" | "header";
}

const SCOPE = "memory:read memory:write";
const GRANTS = { grant_types: ["authorization_code", "refresh_token"], response_types: ["code"] };

const APPLICATIONS: readonly Application[] = [
  {
    name: "Claude by its document, with a scope that nobody has and prompt=consent",
    client: "https://claude.ai/oauth/mcp-oauth-client-metadata",
    redirectUri: "https://claude.ai/api/mcp/auth_callback",
    scope: " offline_access",
    more: { prompt: "consent" },
  },
  {
    name: "Claude by registration, with client_secret_post",
    client: {
      client_name: "Claude",
      ...GRANTS,
      token_endpoint_auth_method: "client_secret_post",
      scope: SCOPE,
      redirect_uris: ["https://claude.ai/api/mcp/auth_callback"],
    },
    redirectUri: "https://claude.ai/api/mcp/auth_callback",
    scope: SCOPE,
    secretIn: "form",
  },
  {
    name: "Claude of 2025, whose scope is its own name, without resource",
    client: {
      client_name: "claudeai",
      ...GRANTS,
      token_endpoint_auth_method: "none",
      scope: "claudeai",
      redirect_uris: ["https://claude.ai/api/mcp/auth_callback"],
    },
    redirectUri: "https://claude.ai/api/mcp/auth_callback",
    scope: "claudeai",
    resource: "",
  },
  {
    name: "Claude Code by its document, whose addresses have no port",
    client: "https://claude.ai/oauth/claude-code-client-metadata",
    redirectUri: "http://localhost:58135/callback",
    scope: SCOPE,
  },
  {
    name: "Claude Code by registration",
    client: {
      client_name: "Claude Code (sideband)",
      redirect_uris: ["http://localhost:3118/callback"],
      ...GRANTS,
      token_endpoint_auth_method: "none",
      application_type: "native",
    },
    redirectUri: "http://localhost:3118/callback",
    scope: SCOPE,
  },
  {
    name: "Cursor, with an address of its own scheme, one of https and one of this computer",
    client: {
      client_name: "Cursor",
      redirect_uris: [
        "cursor://anysphere.cursor-mcp/oauth/callback",
        "https://www.cursor.com/agents/mcp/oauth/callback",
        "http://localhost:8787/callback",
      ],
      ...GRANTS,
      token_endpoint_auth_method: "none",
    },
    redirectUri: "cursor://anysphere.cursor-mcp/oauth/callback",
  },
  {
    name: "VS Code by its document, at another port than it names",
    client: "https://vscode.dev/oauth/client-metadata.json",
    redirectUri: "http://127.0.0.1:59656/",
    scope: SCOPE,
  },
  {
    name: "VS Code by registration, where 33418 is taken",
    client: {
      client_name: "Visual Studio Code",
      client_uri: "https://code.visualstudio.com",
      grant_types: ["authorization_code", "refresh_token", "urn:ietf:params:oauth:grant-type:device_code"],
      response_types: ["code"],
      redirect_uris: [
        "https://insiders.vscode.dev/redirect",
        "https://vscode.dev/redirect",
        "http://127.0.0.1/",
        "http://127.0.0.1:33418/",
      ],
      token_endpoint_auth_method: "none",
      application_type: "native",
    },
    redirectUri: "http://127.0.0.1:41000/",
  },
  {
    name: "ChatGPT by its document",
    client: "https://chatgpt.com/oauth/client.json",
    redirectUri: "https://chatgpt.com/connector_platform_oauth_redirect",
    scope: SCOPE,
  },
  {
    name: "ChatGPT by registration, with an address of the connection",
    client: {
      client_name: "ChatGPT",
      redirect_uris: ["https://chatgpt.com/connector/oauth/x7Kd91LmPq"],
      ...GRANTS,
      token_endpoint_auth_method: "none",
    },
    redirectUri: "https://chatgpt.com/connector/oauth/x7Kd91LmPq",
    scope: SCOPE,
  },
  {
    name: "Codex by registration, which sends a secret in the header and no client_id in the form",
    client: {
      client_name: "Codex",
      redirect_uris: ["http://127.0.0.1:37819/callback/6MFBM1In3Ey-"],
      ...GRANTS,
      token_endpoint_auth_method: "client_secret_post",
      application_type: "native",
    },
    redirectUri: "http://127.0.0.1:37819/callback/6MFBM1In3Ey-",
    secretIn: "header",
  },
  {
    name: "Codex by its document",
    client: "https://chatgpt.com/oauth/codex/client.json",
    redirectUri: "http://127.0.0.1:43123/callback",
    scope: SCOPE,
  },
];

/** What every one of them does first: a request without a token, the metadata of the resource, that of the server. */
async function discover(): Promise<Record<string, string>> {
  const challenge = (await mcp(running, null, "initialize")).headers.get("www-authenticate")!;
  const resourceMetadata = new URL(/resource_metadata="([^"]+)"/.exec(challenge)![1]);
  const resource = (await call(running, "GET", resourceMetadata.pathname)).json;
  assert.equal(resource.resource, RESOURCE);
  const issuer = new URL(resource.authorization_servers[0]);
  return (
    await call(running, "GET", `${issuer.pathname.replace(/\/$/, "")}/.well-known/oauth-authorization-server`)
  ).json;
}

for (const { name, client, redirectUri, scope, more, resource = RESOURCE, secretIn } of APPLICATIONS)
  test(`${name}: from the address to the list of tools, and on with a refresh token`, async () => {
    const metadata = await discover();
    const at = (field: string) => new URL(metadata[field]).pathname;
    let [clientId, secret] = [client as string, undefined as string | undefined];
    if (typeof client === "object") {
      // Claude registers twice for a connection, and goes on with the second.
      await call(running, "POST", at("registration_endpoint"), { body: client });
      const registered = await call(running, "POST", at("registration_endpoint"), { body: client });
      assert.equal(registered.status, 201, registered.text);
      ({ client_id: clientId, client_secret: secret } = registered.json);
      assert.deepEqual(registered.json.redirect_uris, client.redirect_uris);
    }
    assert.equal(secret === undefined, secretIn === undefined);
    const { verifier, challenge } = pkce();
    const path = authorizePath({
      response_type: "code",
      client_id: clientId,
      code_challenge: challenge,
      code_challenge_method: "S256",
      redirect_uri: redirectUri,
      state: "gXVXo0/iMD8WMolDHKxSTg==",
      scope,
      resource,
      ...more,
    });
    assert.equal((await call(running, "GET", path)).status, 200);
    const back = await allow(running, path, { key: person });
    assert.ok(back.href.startsWith(`${redirectUri}?`), back.href);
    const basic = { authorization: `Basic ${Buffer.from(`${clientId}:${secret}`).toString("base64")}` };
    const isInHeader = secretIn === "header";
    const sender = isInHeader
      ? {}
      : { client_id: clientId, ...(secret === undefined ? {} : { client_secret: secret }) };
    const fields = {
      grant_type: "authorization_code",
      code: back.searchParams.get("code")!,
      code_verifier: verifier,
      redirect_uri: redirectUri,
      resource,
      ...sender,
    };
    const tokens = await post(running, at("token_endpoint"), fields, isInHeader ? basic : {});
    assert.equal(tokens.status, 200, tokens.text);
    assert.equal(tokens.json.resource, RESOURCE);
    assert.ok((await toolsFor(running, tokens.json.access_token)).includes("recall"));
    const again = await post(
      running,
      at("token_endpoint"),
      { grant_type: "refresh_token", refresh_token: tokens.json.refresh_token, resource, ...sender },
      isInHeader ? basic : {},
    );
    assert.equal(again.status, 200, again.text);
    assert.notEqual(again.json.refresh_token, tokens.json.refresh_token);
    await toolsFor(running, again.json.access_token);
  });

test("where discovery fails an application goes to /authorize, /token and /register at the root: they are there", async () => {
  const metadata = await discover();
  for (const [field, path] of [
    ["authorization_endpoint", "/authorize"],
    ["token_endpoint", "/token"],
    ["registration_endpoint", "/register"],
  ])
    assert.equal(metadata[field], ISSUER + path);
});

test("a page of another origin can read the metadata, register and refresh, as applications in a browser do", async () => {
  const headers = { origin: "https://inspector.example" };
  const asked = { "access-control-request-method": "POST", "access-control-request-headers": "content-type" };
  const preflight = await call(running, "OPTIONS", "/register", { headers: { ...headers, ...asked } });
  assert.equal(preflight.status, 204);
  assert.equal(preflight.headers.get("access-control-allow-origin"), "*");
  const refused = await post(running, "/token", { grant_type: "refresh_token", client_id: "x" }, headers);
  assert.equal(refused.headers.get("access-control-allow-origin"), "*");
  assert.equal(
    (await call(running, "GET", "/authorize", { headers })).headers.get("access-control-allow-origin"),
    null,
  );
});

test("at /mcp a page of an allowed origin sees where a token is to be had", async () => {
  const allowed = await startOAuth({ SIDEBAND_ALLOWED_ORIGINS: "https://agent.example" });
  try {
    const answer = await call(allowed.running, "POST", "/mcp", {
      body: {},
      headers: { origin: "https://agent.example" },
    });
    assert.equal(answer.status, 401);
    assert.match(answer.headers.get("access-control-expose-headers")!, /WWW-Authenticate/);
  } finally {
    await allowed.running.end();
  }
});

test("connections go on after a restart, and so do clients that have registered", async () => {
  const before = await connect(running, { key: person });
  const { folder } = running;
  await running.service.close();
  ({ running } = await startOAuth({}, folder));
  await toolsFor(running, before.access_token);
  const next = await refresh(running, before);
  assert.equal(next.status, 200, next.text);
  const path = authorizePath({
    response_type: "code",
    client_id: before.clientId,
    code_challenge: pkce().challenge,
    code_challenge_method: "S256",
  });
  assert.equal((await call(running, "GET", path)).status, 200);
});
