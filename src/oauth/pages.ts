/**
 * The pages of /authorize, as text: they hold no script and load nothing, and no other page may show them in a frame. The last
 * one sends the browser on by itself and not by a redirect: a browser that checks where a form may lead checks the redirects
 * behind it, too, and nobody knows all of them beforehand.
 */

import { createHash } from "node:crypto";
import type { Refusal } from "../base/errors.ts";
import type { AuthorizationRequest } from "./authorization-request.ts";
import type { OAuthError } from "./oauth-error.ts";
import { destinationOf } from "./redirect-addresses.ts";

export interface Page {
  readonly status: number;
  readonly html: string;
  /** What is wrong, where something is. */
  readonly refusal?: Refusal | undefined;
}

const STYLE = `
:root{color-scheme:light dark;--paper:#f8f8f5;--card:#fff;--ink:#15212c;--soft:#52606d;--line:#d5dbe0;--accent:#0a5fb5;--on:#fff;--bad:#b3261e;--warn:#fdf3dc;--warn-ink:#5c3c00}
@media (prefers-color-scheme:dark){:root{--paper:#0d131a;--card:#141c25;--ink:#e8eef4;--soft:#a3b2c0;--line:#2b3743;--accent:#76b8ff;--on:#06131f;--bad:#ff9c94;--warn:#33270c;--warn-ink:#ffdf9e}}
*{box-sizing:border-box}
body{margin:0;padding:2rem 1rem;background:var(--paper);color:var(--ink);font:16px/1.5 system-ui,sans-serif}
main{max-width:34rem;margin:0 auto;padding:1.5rem;background:var(--card);border:1px solid var(--line);border-radius:12px}
h1{margin:0 0 1rem;font-size:1.4rem;overflow-wrap:anywhere}
dl{display:grid;grid-template-columns:max-content 1fr;gap:.35rem 1rem;margin:0 0 1rem}
dt{color:var(--soft)}dd{margin:0;overflow-wrap:anywhere}
label,legend{display:block;font-weight:600}
.choice{font-weight:400}
fieldset{margin:0 0 1rem;padding:.75rem 1rem;border:1px solid var(--line);border-radius:8px}
input[type=text],input[type=password],select{width:100%;margin:.25rem 0 1rem;padding:.55rem .7rem;font:inherit;color:inherit;background:var(--paper);border:1px solid var(--soft);border-radius:8px}
button{padding:.6rem 1.1rem;font:inherit;font-weight:600;border-radius:8px;border:1px solid var(--accent);background:var(--accent);color:var(--on);cursor:pointer}
button.second{background:none;color:var(--accent)}
:focus-visible{outline:3px solid var(--accent);outline-offset:2px}
.actions{display:flex;flex-wrap:wrap;gap:.75rem}
.fault{color:var(--bad);font-weight:600}
.warning{padding:.75rem 1rem;border-radius:8px;background:var(--warn);color:var(--warn-ink)}
.soft{color:var(--soft)}
a{color:var(--accent);overflow-wrap:anywhere}
`;

export const PAGE_POLICY = [
  "default-src 'none'",
  `style-src 'sha256-${createHash("sha256").update(STYLE).digest("base64")}'`,
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join("; ");

export function signInPage(
  request: AuthorizationRequest,
  action: string,
  { refusal, user = "" }: { readonly refusal?: Refusal; readonly user?: string } = {},
): Page {
  const { name } = request.client;
  const html = `<h1>Connect ${safe(name)} to your memory</h1>
${descriptionOf(request)}
${faultOf(refusal)}
<form method="post" action="${safe(action)}">
<label for="key">Your API key</label>
<input id="key" name="key" type="password" autocomplete="off" spellcheck="false" required autofocus>
<label for="user_id">Whose memory <span class="soft">(user_id; only where the key is not bound to a person)</span></label>
<input id="user_id" name="user_id" type="text" autocomplete="off" maxlength="256" value="${safe(user)}">
<p class="soft">The application does not get this key, but an access of its own, which you can end at any time.</p>
<div class="actions">
<button name="step" value="sign-in">Continue</button>
<button class="second" name="step" value="deny" formnovalidate>Cancel</button>
</div>
</form>`;
  return { status: statusOf(refusal), html: whole(`Connect ${name}`, html), refusal };
}

interface Question {
  readonly account: string;
  readonly user: string;
  readonly ticket: string;
  readonly groups: readonly string[];
  readonly mayWrite: boolean;
  readonly caller: { readonly expiresAtMs: number | null };
  readonly refusal?: Refusal | undefined;
}

export function consentPage(
  request: AuthorizationRequest,
  action: string,
  { account, user, ticket, groups, mayWrite, caller, refusal }: Question,
): Page {
  const { name } = request.client;
  const checks = groups.map(
    (group) =>
      `<label class="choice"><input type="checkbox" name="group" value="${safe(group)}" checked> ${safe(group)}</label>`,
  );
  const end =
    caller.expiresAtMs === null
      ? ""
      : `<p class="soft">Your key ends on ${new Date(caller.expiresAtMs).toISOString().slice(0, 10)}, and the connection with it at the latest.</p>`;
  const html = `<h1>Allow ${safe(name)} to use this memory?</h1>
${faultOf(refusal)}
<dl><dt>Memory of</dt><dd><strong>${safe(user)}</strong> in the account ${safe(account)}</dd></dl>
${descriptionOf(request)}
<form method="post" action="${safe(action)}">
<input type="hidden" name="ticket" value="${safe(ticket)}">
<fieldset><legend>What it may do</legend>
${
  mayWrite
    ? `<label class="choice"><input type="radio" name="access" value="write" checked> Read, write and forget facts</label>
<label class="choice"><input type="radio" name="access" value="read"> Only read</label>`
    : `<label class="choice"><input type="radio" name="access" value="read" checked> Only read</label>`
}
</fieldset>
<fieldset><legend>Which groups of facts</legend>
${checks.join("\n")}
<label class="choice"><input type="checkbox" name="others" value="1" checked> All others, also those that come later</label>
</fieldset>
<label for="days">Until when</label>
<select id="days" name="days">
<option value="30">for 30 days</option>
<option value="90" selected>for 90 days</option>
<option value="365">for a year</option>
<option value="0">until I end it</option>
</select>
${end}
<div class="actions">
<button name="step" value="allow">Allow</button>
<button class="second" name="step" value="deny">Do not allow</button>
</div>
</form>`;
  return { status: statusOf(refusal), html: whole(`Allow ${name}`, html), refusal };
}

/** The last page: the browser goes on to the application. */
export function sentPage(address: string, name: string, isAllowed: boolean): Page {
  const { kind } = destinationOf(address);
  const what = isAllowed ? `${safe(name)} is connected` : `${safe(name)} was not connected`;
  const close = kind === "site" ? "" : '<p class="soft">When it has opened, you can close this page.</p>';
  const html = `<h1>${what}</h1>
<p><a href="${safe(address)}" rel="noreferrer">Back to ${safe(name)}</a></p>
${close}`;
  return { status: 200, html: whole(isAllowed ? "Connected" : "Not connected", html, address) };
}

/** A request that is refused: said to the person. With `back`, a link to the application that has sent it. */
export function refusedPage(refusal: OAuthError, back?: string): Page {
  const link = back === undefined ? "" : backLink(back);
  const html = `<h1>This cannot be connected</h1>
${faultOf(refusal)}
${link}`;
  return { status: refusal.status, html: whole("Not connected", html), refusal };
}

function faultOf(refusal: Refusal | undefined): string {
  return refusal === undefined ? "" : `<p class="fault" role="alert">${safe(refusal.message)}</p>`;
}

function statusOf(refusal: Refusal | undefined): number {
  return refusal === undefined ? 200 : 400;
}

function backLink(address: string): string {
  return `<p><a href="${safe(address)}" rel="noreferrer">Back to ${safe(destinationOf(address).name)}</a>, which sent you here.</p>`;
}

/** Which application asks, who vouches for its name, and where the answer goes. */
function descriptionOf({ client, redirectUri, resource }: AuthorizationRequest): string {
  const { kind, name } = destinationOf(redirectUri);
  const where = {
    site: `<strong>${safe(name)}</strong>`,
    computer: `a program on this computer (${safe(name)})`,
    application: `an application on this device (${safe(name)})`,
  };
  const vouched =
    client.publishedBy === undefined
      ? "it has given this name itself"
      : `published by <strong>${safe(client.publishedBy)}</strong>`;
  const warning =
    kind === "site"
      ? ""
      : `<p class="warning">The answer stays on this device, where any program could have asked under this name. Go on only if you have just connected ${safe(client.name)} yourself.</p>`;
  return `<dl>
<dt>Application</dt><dd><strong>${safe(client.name)}</strong> (${vouched})</dd>
<dt>Sends you back to</dt><dd>${where[kind]}</dd>
<dt>For</dt><dd>${safe(resource)}</dd>
</dl>
${warning}`;
}

function whole(title: string, body: string, next?: string): string {
  const refresh = next === undefined ? "" : `\n<meta http-equiv="refresh" content="0;url=${safe(next)}">`;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">${refresh}
<title>${safe(title)}</title>
<style>${STYLE}</style>
</head>
<body>
<main>
${body}
</main>
</body>
</html>
`;
}

function safe(text: string): string {
  return text.replace(/[&<>"']/g, (char) => `&#${char.charCodeAt(0)};`);
}
