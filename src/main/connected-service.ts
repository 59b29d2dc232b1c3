/**
 * A service that a person has signed in at with `sideband connect --sign-in`: the browser goes to the service's own page, and comes
 * back to a server on this machine with a code (RFC 8252). The token that is got is kept like a key. Each request looks whether it
 * ends soon; then one process gets the next one and keeps it for all.
 */

import { createHash, randomBytes } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { hostname } from "node:os";
import { OperatorError } from "../base/errors.ts";
import type { ConnectedService, SignedIn } from "../config.ts";
import type { Fetch } from "../sdk/index.ts";
import { openInBrowser } from "./open-page.ts";
import { changePersonSettings } from "./person-settings.ts";

class SignInError extends OperatorError {
  override name = "SignInError";
}

interface Tokens {
  readonly access_token: string;
  readonly refresh_token: string;
  readonly expires_in: number;
}

/** A token with less time left is followed by the next: commands and hooks are short. */
const SOON_MS = 3_600_000;
const REQUEST_MS = 10_000;
const SIGN_IN_MS = 600_000;

/** Who lets applications connect at a service; undefined where it does not. */
export async function issuerAt(url: string): Promise<string | undefined> {
  const metadata = await send<{ issuer?: string }>(`${url}/.well-known/oauth-authorization-server`);
  return metadata?.issuer === new URL(url).origin ? metadata.issuer : undefined;
}

/** @param tell is given the link, for a browser that does not open by itself */
export async function signIn(
  url: string,
  tell: (link: string) => void,
): Promise<{ key: string; signedIn: SignedIn }> {
  const issuer = await issuerAt(url);
  if (issuer === undefined)
    throw new SignInError(`nobody can sign in at ${url}: connect with a key, without --sign-in`);
  const state = randomBytes(16).toString("base64url");
  const back = await listenForAnswer(state, issuer);
  const name = `sideband on ${hostname()}`;
  const wanted = { client_name: name, redirect_uris: [back.address], token_endpoint_auth_method: "none" };
  const client = await send<{ client_id: string }>(`${url}/register`, JSON.stringify(wanted));
  if (client === undefined) throw new SignInError(`${url} registers no application`);
  const verifier = randomBytes(32).toString("base64url");
  const asked = {
    response_type: "code",
    client_id: client.client_id,
    redirect_uri: back.address,
    code_challenge: createHash("sha256").update(verifier).digest("base64url"),
    code_challenge_method: "S256",
    state,
    resource: issuer,
  };
  const link = `${url}/authorize?${new URLSearchParams(asked)}`;
  const removePage = openInBrowser(link);
  tell(link);
  const code = await back.code.finally(() => removePage());
  const exchange = {
    grant_type: "authorization_code",
    code,
    code_verifier: verifier,
    client_id: client.client_id,
  };
  const tokens = await send<Tokens>(
    `${url}/token`,
    new URLSearchParams({ ...exchange, redirect_uri: back.address }),
  );
  if (tokens === undefined) throw new SignInError(`${url} has not accepted the sign-in: try it again`);
  return kept(tokens, client.client_id);
}

function kept(tokens: Tokens, clientId: string): { key: string; signedIn: SignedIn } {
  const endsAtMs = Date.now() + tokens.expires_in * 1000;
  return { key: tokens.access_token, signedIn: { clientId, refreshToken: tokens.refresh_token, endsAtMs } };
}

/** A server on this machine that takes one answer: one with this state, from this issuer. */
async function listenForAnswer(
  state: string,
  issuer: string,
): Promise<{ address: string; code: Promise<string> }> {
  const server = createServer();
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject).listen(0, "127.0.0.1", resolve);
  });
  const code = new Promise<string>((resolve, reject) => {
    const timer = setTimeout(
      () => reject(new SignInError("nobody has signed in for ten minutes")),
      SIGN_IN_MS,
    );
    server.on("request", ({ url = "/" }, response) => {
      const { pathname, searchParams } = new URL(url, "http://127.0.0.1");
      const isAnswer = searchParams.get("state") === state && searchParams.get("iss") === issuer;
      const isForUs = pathname === "/callback" && isAnswer;
      const text = isForUs
        ? "You can close this page and go back to the terminal."
        : "There is nothing here.";
      response.writeHead(isForUs ? 200 : 404, { "content-type": "text/plain; charset=utf-8" }).end(text);
      if (!isForUs) return;
      clearTimeout(timer);
      const found = searchParams.get("code");
      if (found === null) reject(new SignInError("the connection was not allowed"));
      else resolve(found);
    });
  }).finally(() => {
    server.close();
    server.closeIdleConnections();
  });
  return { address: `http://127.0.0.1:${(server.address() as AddressInfo).port}/callback`, code };
}

/** Sends each request with a token that counts. */
export function refreshingFetch(service: ConnectedService, fetch: Fetch): Fetch {
  let present = service;
  return async (url, init) => {
    if (present.signedIn!.endsAtMs - Date.now() < SOON_MS) present = await refreshed(present);
    const headers = { ...(init.headers as Record<string, string>), authorization: `Bearer ${present.key}` };
    return fetch(url, { ...init, headers });
  };
}

/** The service with the next token, or, where it cannot be had now, as it is: its token may still count. */
async function refreshed(service: ConnectedService): Promise<ConnectedService> {
  let next = service;
  await changePersonSettings(async (settings) => {
    const { service: known } = settings;
    if (known?.signedIn === undefined || known.url !== service.url) return settings;
    next = known;
    // Another process was first.
    if (known.key !== service.key) return settings;
    const { clientId, refreshToken } = known.signedIn;
    const form = { grant_type: "refresh_token", refresh_token: refreshToken, client_id: clientId };
    const tokens = await send<Tokens>(`${known.url}/token`, new URLSearchParams(form)).catch(() => undefined);
    if (tokens !== undefined) next = { ...known, ...kept(tokens, clientId) };
    return { ...settings, service: next };
  });
  return next;
}

/** Tells the service that the connection is over. Where it is away, it ends when the person said. */
export async function endConnection({ url, signedIn }: ConnectedService): Promise<void> {
  if (signedIn === undefined) return;
  const form = { token: signedIn.refreshToken, client_id: signedIn.clientId };
  await send(`${url}/revoke`, new URLSearchParams(form)).catch(() => {});
}

/** The JSON of a good answer; undefined for any other. */
async function send<T>(url: string, body?: string | URLSearchParams): Promise<T | undefined> {
  const type = typeof body === "string" ? { "content-type": "application/json" } : {};
  const sent = body === undefined ? {} : { method: "POST", body, headers: type };
  const answer = await fetch(url, {
    ...sent,
    redirect: "error",
    signal: AbortSignal.timeout(REQUEST_MS),
  }).catch((cause) => {
    throw new SignInError(`${new URL(url).origin} cannot be reached`, { cause });
  });
  return answer.ok ? ((await answer.json()) as T) : undefined;
}
