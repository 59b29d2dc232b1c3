/**
 * The whole flow of the official TypeScript client with a person in a real browser: from the address of /mcp alone to its tools,
 * again with a refreshed token, and its end on the person's page. And what the consent page is in a browser.
 */

import assert from "node:assert/strict";
import { createServer, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { type TestContext, test } from "node:test";
import {
  Client,
  type OAuthClientProvider,
  StreamableHTTPClientTransport,
  UnauthorizedError,
} from "@modelcontextprotocol/client";
import type { Page } from "playwright-core";
import { buildWebsite } from "../agents/built.ts";
import { boundKey } from "../http/oauth-client.ts";
import { type Running, startRunning } from "../http/running-service.ts";
import { sharedBrowser } from "./chromium.ts";

const TIMEOUT_MS = 60_000;

async function listen(server: Server): Promise<string> {
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** A port that was free a moment ago: the service has to know its address before it listens. */
async function freeAddress(): Promise<string> {
  const server = createServer();
  const address = await listen(server);
  await new Promise((resolve) => server.close(resolve));
  return address;
}

/** A service that applications can connect to, an application's own server, and a page of a browser. */
async function opened(
  t: TestContext,
  run: (parts: {
    running: Running;
    page: Page;
    callback: string;
    called: () => Promise<URL>;
  }) => Promise<void>,
): Promise<void> {
  const browser = await sharedBrowser();
  if (browser === undefined) return t.skip("no Chromium on this machine");
  buildWebsite();
  const publicUrl = await freeAddress();
  const settings = {
    SIDEBAND_OAUTH: "on",
    SIDEBAND_PUBLIC_URL: publicUrl,
    SIDEBAND_PORT: new URL(publicUrl).port,
  };
  const running = await startRunning(settings, undefined, { warm: false });
  const waiting: ((url: URL) => void)[] = [];
  const application = createServer((request: IncomingMessage, response) => {
    response
      .setHeader("content-type", "text/html")
      .end("<title>application</title><h1>Back in the application</h1>");
    if (request.url!.startsWith("/callback")) waiting.shift()?.(new URL(request.url!, "http://application"));
  });
  const address = await listen(application);
  const context = await browser.newContext();
  context.setDefaultTimeout(TIMEOUT_MS);
  try {
    const called = () => new Promise<URL>((resolve) => waiting.push(resolve));
    await run({ running, page: await context.newPage(), callback: `${address}/callback`, called });
  } finally {
    await context.close();
    application.close();
    application.closeAllConnections();
    await running.end();
  }
}

/** What an application keeps, and where it sends its person. */
class Provider implements OAuthClientProvider {
  readonly redirectUrl: string;
  readonly visited: URL[] = [];
  #client: ReturnType<NonNullable<OAuthClientProvider["clientInformation"]>>;
  #tokens: ReturnType<OAuthClientProvider["tokens"]>;
  #verifier = "";

  constructor(redirectUrl: string) {
    this.redirectUrl = redirectUrl;
  }

  get clientMetadata() {
    return {
      client_name: "The official client",
      redirect_uris: [this.redirectUrl],
      token_endpoint_auth_method: "none",
    };
  }

  state = () => "the state of this test";
  clientInformation = () => this.#client;
  saveClientInformation: NonNullable<OAuthClientProvider["saveClientInformation"]> = (client) => {
    this.#client = client;
  };
  tokens = () => this.#tokens;
  saveTokens: OAuthClientProvider["saveTokens"] = (tokens) => {
    this.#tokens = tokens;
  };
  invalidateCredentials = () => {
    this.#tokens = undefined;
  };
  redirectToAuthorization = (url: URL) => void this.visited.push(url);
  saveCodeVerifier = (verifier: string) => {
    this.#verifier = verifier;
  };
  codeVerifier = () => this.#verifier;
}

test("the official client connects by the address alone: a person signs in, allows, and it has the tools", async (t) => {
  await opened(t, async ({ running, page, callback, called }) => {
    const provider = new Provider(callback);
    const transport = () =>
      new StreamableHTTPClientTransport(new URL(`${running.url}/mcp`), { authProvider: provider });
    const first = transport();
    await assert.rejects(new Client({ name: "e2e", version: "1" }).connect(first), UnauthorizedError);

    const key = await boundKey(running, "ada");
    const blocked: string[] = [];
    page.on("console", (message) => message.type() === "error" && blocked.push(message.text()));
    await page.goto(provider.visited[0].href);
    await page.getByRole("heading", { name: "Connect The official client to your memory" }).waitFor();
    await page.getByText("a program on this computer (127.0.0.1)").waitFor();
    await page.getByLabel("Your API key").fill(`${key.slice(0, -1)}x`);
    await page.getByRole("button", { name: "Continue" }).click();
    await page.getByRole("alert").waitFor();
    await page.getByLabel("Your API key").fill(key);
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Allow The official client to use this memory?" }).waitFor();
    await page.getByText("ada", { exact: true }).waitFor();
    await page.getByLabel("PROJ").uncheck();
    await page.getByLabel("Until when").selectOption("30");
    const back = called();
    await page.getByRole("button", { name: "Allow", exact: true }).click();
    const { searchParams } = await back;
    await page.getByRole("heading", { name: "Back in the application" }).waitFor();
    // The first answer of a key that is wrong has the status 400, which the console of a browser reports.
    assert.deepEqual(
      blocked.filter((text) => !text.includes("400")),
      [],
    );
    assert.equal(searchParams.get("state"), "the state of this test");

    await first.finishAuth(searchParams);
    const client = new Client({ name: "e2e", version: "1" });
    await client.connect(transport());
    assert.ok((await client.listTools()).tools.some(({ name }) => name === "remember"));
    await client.callTool({
      name: "remember",
      arguments: { label: "USER.name", value: "Ada", origin: "said" },
    });
    await client.close();
    assert.equal((await running.call("GET", "/decode?user_id=ada&label=USER.name")).json.value, "Ada");

    // A token that counts no more is refreshed by the client itself.
    const tokens = (await provider.tokens())!;
    provider.saveTokens({ ...tokens, access_token: "sba_gone.x" });
    const later = new Client({ name: "e2e", version: "1" });
    await later.connect(transport());
    assert.ok((await later.listTools()).tools.length > 0);
    assert.notEqual((await provider.tokens())!.refresh_token, tokens.refresh_token);
    await later.close();

    await page.goto(`${running.url}/memory`);
    await page.getByLabel("Your key").fill(key);
    await page.keyboard.press("Enter");
    const card = page.locator("#applications");
    await card.getByText("The official client").waitFor();
    await card.getByText("-PROJ").waitFor();
    await card.getByRole("button", { name: "End the connection of The official client" }).click();
    await card.getByRole("button", { name: "Confirm: end the connection of The official client" }).click();
    await card.getByText("None is connected.").waitFor();
    await assert.rejects(new Client({ name: "e2e", version: "1" }).connect(transport()), UnauthorizedError);
  });
});

test("a page of another site can neither show the consent page in a frame nor send its forms", async (t) => {
  await opened(t, async ({ running, page, callback }) => {
    const { client_id: id } = (
      await running.call("POST", "/register", {
        key: null,
        body: { redirect_uris: [callback], token_endpoint_auth_method: "none" },
      })
    ).json;
    const challenge = "x".repeat(43);
    const query = new URLSearchParams({
      ...{ response_type: "code", client_id: id, redirect_uri: callback },
      ...{ code_challenge: challenge, code_challenge_method: "S256" },
    });
    const consent = `${running.url.replace("127.0.0.1", "localhost")}/authorize?${query}`;
    await page.goto(new URL("/", callback).href);
    await page.setContent(`<iframe id="inner" src="${consent}"></iframe>`);
    await page.waitForFunction(() => performance.getEntriesByType("resource").length > 0);
    const frames = await Promise.all(page.frames().map((frame) => frame.content().catch(() => "")));
    assert.ok(!frames.some((html) => html.includes("Your API key")), "it is not in the frame");
    await page.setContent(
      `<form method="post" action="${consent}"><input name="step" value="deny"><button>Send</button></form>`,
    );
    await page.getByRole("button", { name: "Send" }).click();
    await page.getByText("This call is for the console of this site").waitFor();
  });
});
