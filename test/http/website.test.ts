/** The website over plain HTTP: headers, caching, compression, the demo's key, and the console's sessions. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, test } from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { marked } from "marked";
import { loadCodebooks } from "../../src/blockwork/codebooks.ts";
import { readBlock } from "../../src/codec/read-block.ts";
import { CONTENT_SECURITY_POLICY, chooseEncoding } from "../../src/http/routes/website-files.ts";
import { READER_WEIGHTS } from "../../src/reader/weights-path.ts";
import { endAfter } from "../fixtures/ends.ts";
import { type Running, startRunning } from "./running-service.ts";

const ADMIN_TOKEN = "admin-token-for-tests";
const manifestFile = fileURLToPath(new URL("../../dist/web/manifest.json", import.meta.url));

let started: Promise<Running> | undefined;
const service = () => (started ??= startRunning());
after(async () => (await started?.catch(() => undefined))?.end());

/** fetch would undo the compression: ask for the bytes as they are sent. */
async function raw(path: string, headers: Record<string, string> = {}, method = "GET") {
  const { request } = await import("node:http");
  const { url } = await service();
  return new Promise<{ status: number; headers: Record<string, unknown>; body: Buffer }>(
    (resolve, reject) => {
      const sent = request(url + path, { method, headers }, (response) => {
        const chunks: Buffer[] = [];
        response.on("data", (chunk: Buffer) => chunks.push(chunk));
        response.on("end", () =>
          resolve({
            status: response.statusCode ?? 0,
            headers: response.headers,
            body: Buffer.concat(chunks),
          }),
        );
      });
      sent.on("error", reject);
      sent.end();
    },
  );
}

test("pages have a policy that allows this origin alone and nothing inline, and hold to it", async () => {
  assert.doesNotMatch(CONTENT_SECURITY_POLICY, /unsafe-inline|'unsafe-eval'|https?:|\*/);
  const manifest = JSON.parse(readFileSync(manifestFile, "utf8")) as Record<string, { type: string }>;
  for (const [path, { type }] of Object.entries(manifest)) {
    if (!type.startsWith("text/html")) continue;
    const { status, headers, body } = await raw(path);
    assert.equal(status, 200, path);
    assert.equal(headers["content-security-policy"], CONTENT_SECURITY_POLICY);
    assert.equal(headers["x-content-type-options"], "nosniff");
    const html = body.toString();
    assert.doesNotMatch(html, /<script(?![^>]*\bsrc=)|<style|\sstyle=|\son\w+=|(?:src|href)="https?:/, path);
  }
});

test("hashed files are cached for ever, pages are asked for again and answered 304", async () => {
  const page = await raw("/playground");
  assert.equal(page.headers["cache-control"], "no-cache");
  const again = await raw("/playground", { "if-none-match": String(page.headers.etag) });
  assert.deepEqual([again.status, again.body.length], [304, 0]);
  const script = /src="(\/assets\/[^"]+)"/.exec(page.body.toString())![1];
  const file = await raw(script);
  assert.equal(file.headers["cache-control"], "public, max-age=31536000, immutable");
  const head = await raw(script, {}, "HEAD");
  assert.deepEqual([head.status, head.body.length], [200, 0]);
  assert.equal(head.headers["content-length"], file.headers["content-length"]);
});

test("each form of a file decompresses to the same bytes, under a tag of its own", async () => {
  const plain = await raw("/");
  const brotli = await raw("/", { "accept-encoding": "gzip, deflate, br" });
  const gzip = await raw("/", { "accept-encoding": "gzip, br;q=0" });
  assert.deepEqual([brotli.headers["content-encoding"], gzip.headers["content-encoding"]], ["br", "gzip"]);
  assert.equal(plain.headers["content-encoding"], undefined);
  assert.deepEqual(brotliDecompressSync(brotli.body), plain.body);
  assert.deepEqual(gunzipSync(gzip.body), plain.body);
  assert.equal(new Set([plain, brotli, gzip].map(({ headers }) => headers.etag)).size, 3);
  for (const { headers } of [plain, brotli, gzip]) assert.equal(headers.vary, "accept-encoding");
});

test("a model's weights are sent whole, as they are, with their length", async () => {
  const manifest = JSON.parse(readFileSync(manifestFile, "utf8")) as Record<string, { sizeBytes: number }>;
  const [path, { sizeBytes }] = Object.entries(manifest).find(([name]) => name.endsWith(".bin"))!;
  const { status, headers, body } = await raw(path, { "accept-encoding": "br" });
  assert.deepEqual([status, headers["content-encoding"], body.length], [200, undefined, sizeBytes]);
  assert.equal(headers["content-length"], String(sizeBytes));
  assert.equal(headers["cache-control"], "public, max-age=31536000, immutable");
  assert.equal((await raw(path, { "if-none-match": String(headers.etag) })).status, 304);
  assert.deepEqual(body, readFileSync(READER_WEIGHTS));
});

test("a form is chosen that the browser takes", () => {
  const forms = new Map([
    ["identity", 0],
    ["br", 0],
    ["gzip", 0],
  ] as const);
  assert.equal(chooseEncoding("BR ; q=0.5", forms), "br");
  assert.equal(chooseEncoding("br;q=0.0, gzip", forms), "gzip");
  assert.equal(chooseEncoding("zstd", forms), "identity");
  assert.equal(chooseEncoding(undefined, forms), "identity");
});

test("a tag is known weakly compared, in a list, and by a star", async () => {
  const { headers } = await raw("/playground");
  const tag = String(headers.etag);
  for (const known of [tag, `W/${tag}`, `"other", W/${tag}`, `W/"other",${tag}`, "*"])
    assert.equal((await raw("/playground", { "if-none-match": known })).status, 304, known);
  for (const other of ['"other"', 'W/"other"', tag.slice(1, -1)])
    assert.equal((await raw("/playground", { "if-none-match": other })).status, 200, other);
});

const BROWSER = "text/html,application/xhtml+xml,application/xml;q=0.9,image/webp,*/*;q=0.8";

test("at an address where there is nothing a browser is shown a page, and a client gets the problem", async () => {
  for (const path of ["/nowhere", "/v1/nowhere", "/docs/nowhere", "/operator/owner", "/not-found"]) {
    const { status, headers, body } = await raw(path, { accept: BROWSER });
    assert.deepEqual(
      [status, headers["content-type"], headers.vary],
      [404, "text/html; charset=utf-8", "accept"],
    );
    assert.equal(headers["content-security-policy"], CONTENT_SECURITY_POLICY);
    const html = body.toString();
    assert.match(html, /<h1>There is nothing at this address<\/h1>/);
    for (const link of ["/", "/docs"]) assert.ok(html.includes(`href="${link}"`), link);
    assert.doesNotMatch(html, /<script|<style|\sstyle=|(?:src|href)="https?:/);
    for (const accept of ["*/*", "application/json", "application/json, text/html;q=0.9", "text/html;q=0"]) {
      const answer = await raw(path, { accept });
      assert.equal(answer.headers["content-type"], "application/problem+json; charset=utf-8", accept);
      assert.deepEqual([answer.status, answer.headers.vary], [404, "accept"]);
    }
    const plain = await raw(path);
    assert.equal(JSON.parse(plain.body.toString()).code, "not_found");
  }
  const head = await raw("/nowhere", { accept: BROWSER }, "HEAD");
  assert.deepEqual([head.status, head.body.length], [404, 0]);
});

test("only an address where there is nothing is a page: other failures stay problems for a browser", async () => {
  for (const [path, status] of [
    ["/encode", 405],
    ["/usage", 401],
    ["/demo/decode?label=USER.os", 404],
  ] as const) {
    const answer = await raw(path, { accept: BROWSER });
    assert.deepEqual(
      [answer.status, answer.headers["content-type"]],
      [status, "application/problem+json; charset=utf-8"],
      path,
    );
  }
});

test("no request reaches a file that the manifest does not name", async () => {
  for (const path of [
    "/manifest.json",
    "/index.html",
    "/assets/",
    "/assets/../manifest.json",
    "/assets/%2e%2e/x",
  ]) {
    assert.equal((await raw(path)).status, 404, path);
  }
});

test("every page exists as Markdown, and /llms.txt lists them", async () => {
  const manifest = JSON.parse(readFileSync(manifestFile, "utf8")) as Record<string, { type: string }>;
  const list = (await raw("/llms.txt")).body.toString();
  for (const [path, { type }] of Object.entries(manifest)) {
    if (!type.startsWith("text/html")) continue;
    const address = `${path === "/" ? "/index" : path}.md`;
    const { status, headers, body } = await raw(address);
    assert.deepEqual([status, headers["content-type"]], [200, "text/markdown; charset=utf-8"], address);
    assert.match(body.toString(), /^# /, address);
    assert.ok(list.includes(`](${address})`), address);
    // Links between pages lead to their Markdown.
    for (const [, target] of body.toString().matchAll(/\]\((\/docs[^)#\s]*)/g))
      assert.ok(manifest[target] !== undefined && target.endsWith(".md"), `${address} links to ${target}`);
  }
});

test("an address that people guess leads to its page: any case, with or without an ending, by file, title or last part", async () => {
  const guesses = {
    "/docs/quickstart": "/docs",
    "/docs/QUICKSTART.md": "/docs",
    "/QuickStart/": "/docs",
    "/docs/": "/docs",
    "/api": "/docs/api",
    "/Docs/API": "/docs/api",
    "/docs/api-reference.html": "/docs/api",
    "/docs/ERRORS.md": "/docs/errors",
    "/errors": "/docs/errors",
    "/docs/Model_Card": "/docs/model-card",
    "/docs/agents/README.md": "/docs/agents",
    "/docs/agents/": "/docs/agents",
    "/docs/codex": "/docs/agents/codex",
    "/docs/decisions/README.md": "/docs/decisions",
    "/Playground": "/playground",
    "/v1/quickstart?from=mail": "/docs",
    "/docs/installation": "/docs",
    "/documentation": "/docs",
    "/docs/api/encodeBatch": "/docs/api/encode-batch",
    "/docs/api/encode/batch": "/docs/api/encode-batch",
    "/docs/forget-user": "/docs/api/forget-user",
    "/docs/authentication": "/docs/using-the-api",
    "/docs/configuration": "/docs/config",
    "/docs/claude": "/docs/agents/claude-code",
    "/comparison": "/benchmarks",
    "/docs/BENCHMARKS.md": "/docs/benchmarks",
    "/pricing": "/keys",
    "/login": "/account",
  };
  for (const [guess, page] of Object.entries(guesses)) {
    for (const method of ["GET", "HEAD"]) {
      const { status, headers, body } = await raw(guess, {}, method);
      assert.deepEqual([status, headers.location, body.length], [301, page, 0], `${method} ${guess}`);
      assert.equal(headers["cache-control"], "no-cache");
    }
    assert.equal((await raw(guess, {}, "POST")).status, 404, guess);
  }
  const redirects = JSON.parse(readFileSync(new URL("redirects.json", pathToFileURL(manifestFile)), "utf8"));
  const manifest = JSON.parse(readFileSync(manifestFile, "utf8"));
  for (const [guess, page] of Object.entries<string>(redirects)) {
    assert.ok(manifest[page]?.type.startsWith("text/html"), `${guess} leads to a page`);
    assert.match(guess, /^\/[a-z0-9./-]*$/, "as the service looks it up");
  }
});

test("every link and every picture of every page is there, on the pages in Markdown too", async () => {
  const manifest = JSON.parse(readFileSync(manifestFile, "utf8")) as Record<string, { type: string }>;
  const origin = "http://site.example";
  const targets = new Map<string, string>();
  for (const [path, { type }] of Object.entries(manifest)) {
    if (!/^text\/(html|markdown|plain)/.test(type)) continue;
    const text = (await raw(path)).body.toString();
    const found = type.startsWith("text/html")
      ? [...text.matchAll(/\s(?:href|src)="([^"]*)"/g)].map(([, href]) => href.replaceAll("&#38;", "&"))
      : linksOf(text);
    assert.ok(found.length > 0 || !type.startsWith("text/html"), path);
    for (const href of found) {
      const url = new URL(href, origin + path);
      if (url.origin === origin) targets.set(url.pathname + url.search, path);
    }
  }
  assert.ok([...targets.keys()].some((target) => target.endsWith(".svg")) && targets.size > 100);
  for (const [target, from] of targets) {
    assert.equal((await raw(target, {}, "HEAD")).status, 200, `${from} links to ${target}`);
  }
});

/** Where the links and pictures of a Markdown text lead. */
function linksOf(text: string): string[] {
  const found: string[] = [];
  marked.walkTokens(marked.lexer(text), (token) => {
    if (token.type === "link" || token.type === "image") found.push(token.href);
  });
  return found;
}

test("no page weighs more than 120 KiB with its scripts, styles and pictures", () => {
  const manifest = JSON.parse(readFileSync(manifestFile, "utf8")) as Record<
    string,
    { type: string; file: string; brotliBytes: number }
  >;
  for (const [path, { type, file }] of Object.entries(manifest)) {
    if (!type.startsWith("text/html")) continue;
    const html = readFileSync(new URL(file, pathToFileURL(manifestFile)), "utf8");
    const assets = new Set([...html.matchAll(/(?:src|href)="(\/assets\/[^"]+)"/g)].map((match) => match[1]));
    const bytes = [path, ...assets].reduce((sum, name) => sum + manifest[name].brotliBytes, 0);
    assert.ok(bytes <= 120 * 1024, `${path}: ${bytes} bytes`);
  }
});

test("the operator's words stand on /keys, as text", async (t) => {
  const words = 'Write to <b>ops@example.org</b> & say "please"';
  const running = endAfter(t, await startRunning({ SIDEBAND_KEYS_TEXT: words }, undefined, { warm: false }));
  const { text } = await running.call("GET", "/keys", { key: null });
  assert.match(
    text,
    /<p id="keys-text">Write to &#60;b&#62;ops@example.org&#60;\/b&#62; &#38; say &#34;please&#34;<\/p>/,
  );
  assert.doesNotMatch((await (await service()).call("GET", "/keys", { key: null })).text, /beta|ops@example/);
});

test("the status has the recent requests of keys, the newest first, and nothing of what they carried", async (t) => {
  const running = endAfter(t, await startRunning({}, undefined, { warm: false }));
  for (let i = 0; i < 120; i++)
    await running.call("GET", `/facts?user_id=secret-${i}`, { headers: { "x-request-id": `r${i}` } });
  await running.call("GET", "/channels", { key: null });
  const { json, text } = await running.call("GET", "/admin/status", { key: ADMIN_TOKEN });
  const ids = json.recent_requests.map(({ request_id }: { request_id: string }) => request_id);
  assert.deepEqual(
    ids,
    Array.from({ length: 100 }, (_, i) => `r${119 - i}`),
  );
  const [{ method, route, status, account }] = json.recent_requests;
  assert.deepEqual([method, route, status, account], ["GET", "/facts", 200, "acme"]);
  assert.doesNotMatch(text, /secret-/);
});

test("sandboxes of the demo are apart from each other and from the shared state", async () => {
  const running = await service();
  const call = (method: string, path: string, body?: unknown) =>
    running.call(method, path, { key: null, ...(body === undefined ? {} : { body }) });
  await call("POST", "/demo/reset");
  await call("POST", "/demo/encode?sandbox=0aa", { label: "USER.name", value: "Ada" });
  await call("POST", "/demo/encode?sandbox=0bb", { label: "USER.name", value: "Bob" });
  const index = async (query: string) => (await call("GET", `/demo/context${query}`)).json.plain_index;
  assert.deepEqual(
    [await index("?sandbox=0aa"), await index("?sandbox=0bb"), await index("")],
    ["USER.name=Ada", "USER.name=Bob", ""],
  );
  assert.equal((await call("DELETE", "/demo/facts?sandbox=0aa&label=USER.name")).json.channel_count, 0);
  assert.equal((await call("DELETE", "/demo/facts?sandbox=0aa&label=USER.name")).json.code, "fact_not_found");
  await call("POST", "/demo/reset?sandbox=0aa");
  assert.equal(await index("?sandbox=0bb"), "USER.name=Bob");
  for (const wrong of ["AAA", "0aaa", "", "..%2f"])
    assert.equal((await call("GET", `/demo/context?sandbox=${wrong}`)).status, 400, wrong);
});

test("a sandbox says when it ends: an interval after its first fact, not at the reset of the demo", async (context) => {
  const running = endAfter(
    context,
    await startRunning({ SIDEBAND_DEMO_RESET_S: "3600" }, undefined, { warm: false }),
  );
  const body = { label: "USER.name", value: "Ada" };
  const left = async (method: string, path: string, sent?: object) => {
    const { headers } = await running.call(method, path, {
      key: null,
      ...(sent === undefined ? {} : { body: sent }),
    });
    return Number(headers.get("sideband-demo-resets-in"));
  };
  const first = await left("POST", "/demo/encode?sandbox=0cc", body);
  assert.ok(first > 3590 && first <= 3600, `${first} seconds`);
  const untilReset = 3600 - (Math.floor(Date.now() / 1000) % 3600);
  assert.ok(Math.abs((await left("GET", "/demo/context")) - untilReset) < 30);
});

test("the demo's key reads the demo's blocks and no other account's", async () => {
  const running = await service();
  await running.call("POST", "/demo/encode", { key: null, body: { label: "USER.name", value: "Ada" } });
  await running.call("POST", "/encode", { body: { user_id: "demo", label: "USER.name", value: "Secret" } });
  const codebooks = await loadCodebooks();
  const { json: given } = await running.call("GET", "/demo/key", { key: null });
  const keys = given.keys.map(({ key_id, material }: { key_id: number; material: string }) => ({
    id: key_id,
    material: new Uint8Array(Buffer.from(material, "base64")),
  }));
  const read = (text: string) =>
    readBlock(text, {
      keys: (id) => keys.find((key: { id: number }) => key.id === id),
      userId: given.user_id,
      codebooks,
    });
  const demo = read((await running.call("GET", "/demo/context", { key: null })).json.fdm_block);
  assert.deepEqual(demo.ok && demo.facts, [{ channel: 0, value: "Ada" }]);
  const foreign = read((await running.call("GET", "/context?user_id=demo")).json.fdm_block);
  assert.equal(foreign.ok, false);
});

test("POST /demo/read reads a damaged block of the demo and refuses a foreign one", async () => {
  const running = await service();
  await running.call("POST", "/demo/encode", { key: null, body: { label: "USER.name", value: "Ada" } });
  const { json } = await running.call("GET", "/demo/context", { key: null });
  const block = json.fdm_block.split(" ").slice(0, 150).join(" ");
  const { status, json: reading } = await running.call("POST", "/demo/read", { key: null, body: { block } });
  assert.deepEqual(
    [status, reading.user_id, reading.facts],
    [200, "demo", [{ label: "USER.name", value: "Ada", channel: 0, mark: "current" }]],
  );
  assert.equal(reading.repaired, reading.missing + reading.wrong);
  await running.call("POST", "/encode", { body: { user_id: "demo", label: "USER.name", value: "Secret" } });
  const foreign = (await running.call("GET", "/context?user_id=demo")).json.fdm_block;
  const refused = await running.call("POST", "/demo/read", { key: null, body: { block: foreign } });
  assert.deepEqual([refused.status, refused.json.code], [422, "block_unreadable"]);
});

test("use by day is the key's own", async () => {
  const running = await service();
  const [mine, other] = [await running.newKey("days"), await running.newKey("days")];
  for (const value of ["1", "2"]) {
    await running.call("POST", "/encode", { key: mine, body: { user_id: "u", label: "USER.name", value } });
  }
  const days = async (key: string) => (await running.call("GET", "/usage/days", { key })).json.days;
  assert.deepEqual(await days(mine), [{ day: new Date().toISOString().slice(0, 10), count: 2 }]);
  assert.deepEqual(await days(other), []);
  assert.equal((await running.call("GET", "/usage/days", { key: null })).status, 401);
});

test("the status tells health, store, demo and recent errors to the operator alone", async () => {
  const running = await service();
  assert.equal((await running.call("GET", "/admin/status", { key: running.key })).status, 401);
  const { json } = await running.call("GET", "/admin/status", { key: ADMIN_TOKEN });
  assert.equal(json.ready, true);
  assert.deepEqual(json.recent_errors, []);
  assert.ok(json.store.facts >= 1 && json.demo.resets_in_s > 0);
});
