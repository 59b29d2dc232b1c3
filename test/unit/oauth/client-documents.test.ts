/** Metadata documents of clients: what is fetched, from where, within which bounds, and what counts. On a real TLS server. */

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import type { RequestListener } from "node:http";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { ClientDocuments, isDocumentAddress, nameIn } from "../../../src/oauth/client-documents.ts";

const ADDRESS = "https://app.example/client.json";
const DOCUMENT = { client_id: ADDRESS, client_name: "An App", redirect_uris: ["https://app.example/cb"] };
const CLIENT = { name: "An App", redirectUris: ["https://app.example/cb"] };

let answer: RequestListener;
let asked = 0;
const server = { port: 0, ca: "", close: () => {} };
before(async () => {
  const folder = mkdtempSync(join(tmpdir(), "sideband-documents-"));
  const names = "subjectAltName=DNS:app.example,DNS:claude.ai";
  const key = ["-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2"];
  execFileSync(
    "openssl",
    ["req", ...key, "-keyout", "key", "-out", "ca", "-subj", "/CN=app.example", "-addext", names],
    {
      cwd: folder,
      stdio: "pipe",
    },
  );
  const [privateKey, ca] = ["key", "ca"].map((name) => readFileSync(join(folder, name), "utf8"));
  rmSync(folder, { recursive: true });
  const listening = createServer({ key: privateKey, cert: ca }, (request, response) => {
    asked += 1;
    answer(request, response);
  });
  await new Promise<void>((resolve) => {
    listening.listen(0, "127.0.0.1", resolve);
  });
  Object.assign(server, {
    port: (listening.address() as AddressInfo).port,
    ca,
    close: () => listening.close(),
  });
});
after(() => server.close());

/** Every name leads to the server here. */
function documents(now = () => 0): ClientDocuments {
  const lookup = ((_name: string, options: { all?: boolean }, callback: (...args: unknown[]) => void) =>
    options.all
      ? callback(null, [{ address: "127.0.0.1", family: 4 }])
      : callback(null, "127.0.0.1", 4)) as never;
  const { port, ca } = server;
  return new ClientDocuments({ clock: { now }, lookup, port, ca });
}

function sends(body: unknown, status = 200, headers: Record<string, string> = {}): void {
  answer = (_request, response) => {
    response.writeHead(status, { "content-type": "application/json", ...headers });
    response.end(typeof body === "string" ? body : JSON.stringify(body));
  };
}

test("a document that names its own address and an address to return to is a client", async () => {
  sends(DOCUMENT);
  assert.deepEqual(await documents().clientAt(ADDRESS, "a"), CLIENT);
  sends({ ...DOCUMENT, client_name: undefined }, 200, {
    "content-type": "application/cimd+json; charset=utf-8",
  });
  assert.equal((await documents().clientAt(ADDRESS, "a"))?.name, "app.example");
  sends({
    ...DOCUMENT,
    token_endpoint_auth_method: "private_key_jwt",
    token_endpoint_auth_methods_supported: ["none"],
  });
  assert.deepEqual(await documents().clientAt(ADDRESS, "a"), CLIENT);
  sends({ ...DOCUMENT, redirect_uris: ["javascript:x", ...DOCUMENT.redirect_uris] });
  assert.deepEqual(await documents().clientAt(ADDRESS, "a"), CLIENT);
});

test("any other is none: another's, one without an address, one with a secret, a redirect, a page, one that is too long", async () => {
  for (const [body, status, headers] of [
    [{ ...DOCUMENT, client_id: "https://app.example/other.json" }],
    [{ ...DOCUMENT, redirect_uris: [] }],
    [{ ...DOCUMENT, redirect_uris: ["http://evil.example/cb"] }],
    [{ ...DOCUMENT, redirect_uris: "https://app.example/cb" }],
    [{ ...DOCUMENT, client_secret: "x" }],
    [{ ...DOCUMENT, token_endpoint_auth_method: "client_secret_post" }],
    [{ ...DOCUMENT, token_endpoint_auth_method: "private_key_jwt" }],
    ["null"],
    ["<html>"],
    ["{"],
    [DOCUMENT, 302, { location: "https://app.example/other.json" }],
    [DOCUMENT, 404],
    [DOCUMENT, 200, { "content-type": "text/html" }],
    [{ ...DOCUMENT, padding: "x".repeat(20_000) }],
  ] as const) {
    sends(body, status, headers);
    assert.equal(await documents().clientAt(ADDRESS, "a"), undefined, JSON.stringify(body).slice(0, 200));
  }
});

test("a server that sends nothing, or without end, or that nobody vouches for, keeps nobody waiting", async () => {
  answer = () => {};
  const startedMs = performance.now();
  assert.equal(await documents().clientAt(ADDRESS, "a"), undefined);
  assert.ok(performance.now() - startedMs < 30_000);
  answer = (_request, response) => {
    response.writeHead(200, { "content-type": "application/json" });
    const more = setInterval(() => response.write(" ".repeat(10_000)), 1);
    response.on("close", () => clearInterval(more));
  };
  assert.equal(await documents().clientAt(ADDRESS, "a"), undefined);
  sends(DOCUMENT);
  const { port } = server;
  const lookup = ((_name: string, _options: object, callback: (...args: unknown[]) => void) =>
    callback(null, [{ address: "127.0.0.1", family: 4 }])) as never;
  assert.equal(
    await new ClientDocuments({ clock: { now: () => 0 }, lookup, port }).clientAt(ADDRESS, "a"),
    undefined,
  );
});

test("SSRF: a document is fetched from public addresses alone, whatever the name, and an address is no name (RFC 9700, MCP)", async () => {
  sends(DOCUMENT);
  asked = 0;
  const real = new ClientDocuments({ clock: { now: () => 0 }, port: server.port, ca: server.ca });
  for (const host of ["localhost", "app.localhost", "localtest.invalid"])
    assert.equal(await real.clientAt(`https://${host}/client.json`, "a"), undefined);
  assert.equal(asked, 0);
  for (const address of [
    "http://app.example/client.json",
    "https://127.0.0.1/client.json",
    "https://[::1]/client.json",
    "https://2130706433/client.json",
    "https://0x7f.1/client.json",
    "https://localhost/client.json",
    "https://app.example:8443/client.json",
    "https://app.example:443/client.json",
    "https://user@app.example/client.json",
    "https://app.example/client.json#x",
    "https://app.example/a/../client.json",
    "https://APP.example/client.json",
    "https://app.example/",
    "https://app.example",
    `https://app.example/${"x".repeat(600)}`,
    "ftp://app.example/client.json",
  ])
    assert.equal(isDocumentAddress(address), false, address);
  for (const address of [
    ADDRESS,
    "https://claude.ai/oauth/mcp-oauth-client-metadata",
    "https://app.example/c?v=1",
  ])
    assert.equal(isDocumentAddress(address), true, address);
});

test("an outcome is kept for a while, and one address asks for few: nobody has a third party asked again and again", async () => {
  let nowMs = 0;
  const found = documents(() => nowMs);
  sends(DOCUMENT);
  asked = 0;
  await Promise.all(Array.from({ length: 20 }, () => found.clientAt(ADDRESS, "a")));
  assert.equal(asked, 1);
  nowMs = 600_001;
  await found.clientAt(ADDRESS, "a");
  assert.equal(asked, 2);
  for (let i = 0; i < 19; i++) await found.clientAt(`https://app.example/${i}.json`, "a");
  await assert.rejects(found.clientAt("https://app.example/20.json", "a"), /try again/);
  assert.equal(asked, 21);
  await found.clientAt("https://app.example/20.json", "b");
});

test("a client that many people use is known where its document cannot be had, and its document counts where it can", async () => {
  const claude = "https://claude.ai/oauth/mcp-oauth-client-metadata";
  sends("", 503);
  const pinned = { name: "Claude", redirectUris: ["https://claude.ai/api/mcp/auth_callback"] };
  assert.deepEqual(await documents().clientAt(claude, "a"), pinned);
  sends({ client_id: claude, client_name: "Claude 2", redirect_uris: ["https://claude.ai/new"] });
  assert.deepEqual(await documents().clientAt(claude, "a"), {
    name: "Claude 2",
    redirectUris: ["https://claude.ai/new"],
  });
  sends({ client_id: "https://claude.ai/other", redirect_uris: [] });
  assert.equal(await documents().clientAt(claude, "a"), undefined);
});

test("a client's name is one line without characters that change how it reads", () => {
  assert.equal(nameIn(" Cl\u202eaude\n\u0007 "), "Cl aude");
  assert.equal(nameIn("x".repeat(200))?.length, 80);
  for (const none of ["", " \n", undefined, 7]) assert.equal(nameIn(none), undefined);
});
