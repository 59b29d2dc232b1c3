/** An application that connects by OAuth, and the person who allows it, without a browser: over the service's dispatcher. */

import assert from "node:assert/strict";
import { createHash, randomBytes } from "node:crypto";
import type { ServiceOptions } from "../../src/main/service.ts";
import type { RequestOptions } from "./plain-client.ts";
import { type Answer, type Running, startPortless } from "./running-service.ts";

export const ISSUER = "https://memory.example";
export const RESOURCE = `${ISSUER}/mcp`;
export const CALLBACK = "https://app.example/callback";
export const OAUTH = { SIDEBAND_OAUTH: "on", SIDEBAND_PUBLIC_URL: ISSUER };

/** Whether this machine has one or not: what is tried is what the service knows by itself. */
const NO_WAY_OUT: ServiceOptions["documents"] = {
  lookup: (_name, _options, callback) => callback(new Error("there is no way out"), "", 0),
};

/** A service with a clock that a test sets forward. */
export async function startOAuth(settings: Record<string, string> = {}, folder?: string) {
  const time = { aheadMs: 0 };
  const clock = { now: () => Date.now() + time.aheadMs };
  const running = await startPortless({ ...OAUTH, ...settings }, folder, { clock, documents: NO_WAY_OUT });
  return { running, time, person: await boundKey(running, "ada") };
}

export async function boundKey(
  running: Running,
  user: string,
  more: { access?: "read"; groups?: string } = {},
) {
  return (await running.service.core.keys.create({ account: "acme", tier: "unlimited", user, ...more })).key;
}

export function call(running: Running, method: string, path: string, options: RequestOptions = {}) {
  return running.call(method, path, { key: null, ...options });
}

type Fields = Readonly<Record<string, string | undefined>> | URLSearchParams;

function formOf(fields: Fields): string {
  if (fields instanceof URLSearchParams) return fields.toString();
  return new URLSearchParams(
    Object.entries(fields).filter((pair): pair is [string, string] => pair[1] !== undefined),
  ).toString();
}

export function post(
  running: Running,
  path: string,
  fields: Fields,
  headers: Record<string, string> = {},
): Promise<Answer> {
  const type = { "content-type": "application/x-www-form-urlencoded" };
  return call(running, "POST", path, { raw: formOf(fields), headers: { ...type, ...headers } });
}

export async function register(running: Running, metadata: Record<string, unknown> = {}) {
  const answer = await call(running, "POST", "/register", {
    body: {
      client_name: "An App",
      redirect_uris: [CALLBACK],
      token_endpoint_auth_method: "none",
      ...metadata,
    },
  });
  assert.equal(answer.status, 201, answer.text);
  return answer.json as { client_id: string; client_secret?: string; redirect_uris: string[] };
}

/** A new code_verifier, and its code_challenge. */
export function pkce() {
  const verifier = randomBytes(32).toString("base64url");
  return { verifier, challenge: createHash("sha256").update(verifier).digest("base64url") };
}

export function authorizePath(asked: Fields): string {
  return `/authorize?${formOf(asked)}`;
}

export function asked(clientId: string, challenge: string, more: Record<string, string | undefined> = {}) {
  return {
    response_type: "code",
    client_id: clientId,
    redirect_uri: CALLBACK,
    code_challenge: challenge,
    code_challenge_method: "S256",
    state: "xyz",
    resource: RESOURCE,
    ...more,
  };
}

const SAME_SITE = { "sec-fetch-site": "same-origin" };

/** What a person sends from the pages of a request. */
export function sent(running: Running, path: string, fields: Fields): Promise<Answer> {
  return post(running, path, fields, SAME_SITE);
}

/** What is in a page, as the browser reads it. */
function read(text: string): string {
  return text.replace(/&#(\d+);/g, (_, code) => String.fromCharCode(Number(code)));
}

export function ticketIn(page: string): string {
  const ticket = /name="ticket" value="([^"]+)"/.exec(page)?.[1];
  assert.ok(ticket, page);
  return read(ticket);
}

/** Where the last page leads. */
export function nextOf(page: string): URL {
  const address = /http-equiv="refresh" content="0;url=([^"]+)"/.exec(page)?.[1];
  assert.ok(address, page);
  return new URL(read(address));
}

export interface Consent {
  readonly key: string;
  readonly user?: string;
  readonly access?: "read" | "write";
  readonly groups?: readonly string[];
  readonly others?: boolean;
  readonly days?: string;
}

export const GROUPS = ["USER", "PREF", "TASK", "PROJ"];

/** A person signs in and allows; the address that the browser goes to. */
export async function allow(running: Running, path: string, consent: Consent): Promise<URL> {
  const question = await sent(running, path, { step: "sign-in", key: consent.key, user_id: consent.user });
  assert.equal(question.status, 200, question.text);
  return nextOf((await decide(running, path, ticketIn(question.text), consent)).text);
}

export function decide(
  running: Running,
  path: string,
  ticket: string,
  consent: Omit<Consent, "key">,
): Promise<Answer> {
  const { access = "write", groups = GROUPS, others = true, days = "90" } = consent;
  const fields = new URLSearchParams({ step: "allow", ticket, access, days });
  for (const group of groups) fields.append("group", group);
  if (others) fields.append("others", "1");
  return sent(running, path, fields);
}

export interface Connected {
  readonly clientId: string;
  readonly access_token: string;
  readonly refresh_token: string;
  readonly scope: string;
  readonly expires_in: number;
  readonly resource: string;
}

/** All of it: registration, consent, code, tokens. */
export async function connect(
  running: Running,
  consent: Consent,
  more: { metadata?: Record<string, unknown>; asked?: Record<string, string | undefined> } = {},
): Promise<Connected> {
  const { client_id: clientId, client_secret: secret } = await register(running, more.metadata);
  const { verifier, challenge } = pkce();
  const wanted = asked(clientId, challenge, more.asked);
  const back = await allow(running, authorizePath(wanted), consent);
  assert.equal(back.searchParams.get("state"), wanted.state ?? null);
  assert.equal(back.searchParams.get("iss"), ISSUER);
  const answer = await post(running, "/token", {
    grant_type: "authorization_code",
    code: back.searchParams.get("code")!,
    redirect_uri: wanted.redirect_uri,
    code_verifier: verifier,
    client_id: clientId,
    client_secret: secret,
    resource: wanted.resource,
  });
  assert.equal(answer.status, 200, answer.text);
  return { ...answer.json, clientId };
}

export function refresh(
  running: Running,
  { clientId, refresh_token }: Pick<Connected, "clientId" | "refresh_token">,
) {
  return post(running, "/token", { grant_type: "refresh_token", refresh_token, client_id: clientId });
}

/** A request to /mcp as clients of the 2025 revisions send it. */
export function mcp(
  running: Running,
  token: string | null,
  method: string,
  params: object = {},
  path = "/mcp",
) {
  return call(running, "POST", path, {
    key: token,
    body: { jsonrpc: "2.0", id: 1, method, params },
    headers: { accept: "application/json, text/event-stream", "mcp-protocol-version": "2025-06-18" },
  });
}

/** The message in an answer of /mcp, which may be an event. */
// biome-ignore lint/suspicious/noExplicitAny: the tests look at answers of any shape.
export function messageOf({ text }: Pick<Answer, "text">): any {
  return JSON.parse(/^data: (.*)$/m.exec(text)?.[1] ?? text);
}

/** Fails unless a token leads to the list of tools. */
export async function toolsFor(running: Running, token: string, path?: string): Promise<string[]> {
  const answer = await mcp(running, token, "tools/list", {}, path);
  assert.equal(answer.status, 200, answer.text);
  return messageOf(answer).result.tools.map(({ name }: { name: string }) => name);
}

/** A code for an application, and what else its exchange needs. */
export async function codeFor(running: Running, person: string, more: Record<string, string | undefined>) {
  const { client_id: clientId } = await register(running);
  const { verifier, challenge } = pkce();
  const back = await allow(running, authorizePath(asked(clientId, challenge, more)), { key: person });
  return { clientId, verifier, code: back.searchParams.get("code")!, back };
}

export function exchange(
  running: Running,
  code: string,
  clientId: string,
  verifier: string | undefined,
  more: Record<string, string> = {},
) {
  const fields = { grant_type: "authorization_code", code, client_id: clientId, code_verifier: verifier };
  return post(running, "/token", { ...fields, redirect_uri: CALLBACK, ...more });
}

export const refusal = ({ status, json }: { status: number; json: { error: string } }) =>
  `${status} ${json.error}`;
