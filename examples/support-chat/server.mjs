/**
 * A support chat on Sideband: node examples/support-chat/server.mjs
 *
 * One program for many customers: it signs them in, gives their pages short-lived tokens, lets an assistant answer them, and
 * erases them. It starts a service of its own, in a temporary folder. With SIDEBAND_API_KEY (and SIDEBAND_API_URL) it
 * uses that service, which must allow the page's origin: SIDEBAND_ALLOWED_ORIGINS=http://127.0.0.1:3000.
 */

import { randomUUID, timingSafeEqual } from "node:crypto";
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { join } from "node:path";
import { isOutage } from "sideband";
import { startTemporaryService } from "../temporary-service.mjs";
import { answer } from "./assistant.mjs";
import { Customers } from "./customers.mjs";

const { PORT = "3000", SUPPORT_DATA = "support-data", PAYMENT_SECRET = randomUUID() } = process.env;
const BODY_BYTES_MAX = 16_384;

/** Customers by the secret in their cookie. */
const sessions = new Map();
let customers;

const HTML = "text/html; charset=utf-8";
const SCRIPT = "text/javascript; charset=utf-8";
const here = (path) => new URL(path, import.meta.url);
/** The client for the page. A bundler would make one file of it; here its modules are sent as they are. */
const CLIENT = new URL("../", import.meta.resolve("sideband"));
const CLIENT_MODULE = /^\/client\/((?:agent-side|base|contract|sdk)\/[a-z.-]+\.js)$/;

class Refusal extends Error {
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

const CALLS = {
  // A product of yours signs people in by more than a name.
  async "/sign-in"({ name }, _customer, response) {
    if (!/^[a-z][a-z0-9-]{0,40}$/.test(name ?? ""))
      throw new Refusal(400, "a name has small letters, digits and -");
    await customers.welcome(name);
    const secret = randomUUID();
    sessions.set(secret, name);
    response.setHeader("set-cookie", `session=${secret}; HttpOnly; SameSite=Strict; Path=/`);
    return {};
  },

  "/access": (_body, customer) => customers.pageAccess(signedIn(customer)),

  async "/chat"({ message }, customer) {
    if (typeof message !== "string") throw new Refusal(400, "message is a text");
    const memory = await customers.memoryOf(signedIn(customer));
    return answer({ memory, customer, message });
  },

  /** What the payment service calls. */
  async "/paid"({ customer, tier, secret }) {
    const [given, wanted] = [secret ?? "", PAYMENT_SECRET].map((text) => Buffer.from(String(text)));
    if (given.length !== wanted.length || !timingSafeEqual(given, wanted))
      throw new Refusal(403, "wrong secret");
    await customers.paid(customer, tier);
    return {};
  },

  /** Ends the customer's sessions first: a page that goes on could write again. */
  async "/erase"(_body, customer) {
    signedIn(customer);
    for (const [secret, name] of sessions) if (name === customer) sessions.delete(secret);
    return { receipt: (await customers.erase(customer)) ?? null };
  },
};

function signedIn(customer) {
  if (customer === undefined) throw new Refusal(401, "sign in first");
  return customer;
}

async function serve(request, response) {
  const path = new URL(request.url, "http://localhost").pathname;
  if (request.method === "GET") return sendFile(path, response);
  const call = Object.hasOwn(CALLS, path) ? CALLS[path] : undefined;
  if (call === undefined || request.method !== "POST") throw new Refusal(404, "there is nothing here");
  const [, secret] = /(?:^|; )session=([^;]+)/.exec(request.headers.cookie ?? "") ?? [];
  const result = await call(await bodyOf(request), sessions.get(secret), response);
  send(response, 200, "application/json", JSON.stringify(result));
}

async function sendFile(path, response) {
  const [, module] = CLIENT_MODULE.exec(path) ?? [];
  if (path === "/") return send(response, 200, HTML, await readFile(here("page.html")));
  if (path === "/page.js") return send(response, 200, SCRIPT, await readFile(here("page.js")));
  if (module !== undefined) return send(response, 200, SCRIPT, await readFile(new URL(module, CLIENT)));
  throw new Refusal(404, "there is nothing here");
}

async function bodyOf(request) {
  let text = "";
  for await (const chunk of request.setEncoding("utf8")) {
    text += chunk;
    if (text.length > BODY_BYTES_MAX) throw new Refusal(413, "the message is too long");
  }
  try {
    return Object(JSON.parse(text));
  } catch {
    throw new Refusal(400, "the body is not JSON");
  }
}

function send(response, status, type, content) {
  response.writeHead(status, { "content-type": type, "cache-control": "no-store" }).end(content);
}

const server = createServer((request, response) => {
  serve(request, response).catch((error) => {
    const status = error instanceof Refusal ? error.status : isOutage(error) ? 503 : 500;
    if (status >= 500) console.error(error);
    const said = status === 500 ? "something went wrong" : error.message;
    send(response, status, "application/json", JSON.stringify({ error: said }));
  });
});
await new Promise((resolve) => server.listen(Number(PORT), "127.0.0.1", resolve));
const origin = `http://127.0.0.1:${server.address().port}`;

const { SIDEBAND_API_KEY: apiKey, SIDEBAND_API_URL: baseUrl = "http://127.0.0.1:8787" } = process.env;
const service =
  apiKey === undefined
    ? await startTemporaryService({ SIDEBAND_ALLOWED_ORIGINS: origin })
    : { apiKey, baseUrl, end: async () => {} };
customers = new Customers({ ...service, receiptFolder: join(SUPPORT_DATA, "receipts") });
await customers.declareLabels().catch(async (error) => {
  await service.end();
  throw error;
});
console.log(`support chat: ${origin}`);
console.log(`paid: curl ${origin}/paid -d '{"customer":"ada","tier":"gold","secret":"${PAYMENT_SECRET}"}'`);
if (apiKey === undefined)
  console.log(
    `its service: SIDEBAND_API_URL=${service.baseUrl} SIDEBAND_API_KEY=$(cat ${service.folder}/first.key)`,
  );

for (const signal of ["SIGINT", "SIGTERM"])
  process.once(signal, async () => {
    server.close();
    server.closeAllConnections();
    await service.end();
    process.exit();
  });
