/**
 * OAuth's own addresses, there only where the operator has turned it on: metadata, /authorize with its pages, /token,
 * /register, /revoke, and /grants, what a person has allowed. What they mean is in src/oauth. Errors of clients are answered as RFC 6749 says, not as problems.
 */

import { Failure } from "../../base/errors.ts";
import { Type } from "../../contract/type.ts";
import type { Caller } from "../../memory/authentication.ts";
import { requireWriteAccess } from "../../memory/rights.ts";
import type { OAuth } from "../../oauth/oauth.ts";
import { OAuthError } from "../../oauth/oauth-error.ts";
import { PAGE_POLICY, type Page } from "../../oauth/pages.ts";
import type { Granted } from "../../oauth/token-endpoint.ts";
import { requireSameOrigin } from "../access/console-session.ts";
import { Answer } from "../request/answer.ts";
import { sourceOf } from "../request/audited.ts";
import type { Call } from "../request/call.ts";
import { limitGroupOf } from "../request/client.ts";
import { type Route, routeOf } from "../request/route.ts";

const FORM_BYTES_MAX = 32_768;
const NOT_STORED = ["cache-control", "no-store"];
/** Documents of the service are the same until it is started anew. */
const KEPT = ["cache-control", "public, max-age=300"];
const RESOURCE_PATHS = ["", "/mcp", "/v1/mcp"];

/**
 * Without Cross-Origin-Opener-Policy, unlike other pages: applications open this page in a window and wait for its end. The
 * origin is told to this site alone, whose forms are checked by it.
 */
const PAGE_HEADERS = [
  "content-security-policy",
  PAGE_POLICY,
  "x-frame-options",
  "DENY",
  "x-content-type-options",
  "nosniff",
  "referrer-policy",
  "same-origin",
  "cross-origin-resource-policy",
  "same-origin",
  ...NOT_STORED,
];

export function oauthRoutes(oauth: OAuth | undefined): Route[] {
  if (oauth === undefined) return [];
  const resources = RESOURCE_PATHS.map((path) =>
    documentRoute(`/.well-known/oauth-protected-resource${path}`, oauth.resourceMetadata(path)),
  );
  const pageTo = (form?: true) => async (call: Call) => {
    if (form) requireSameOrigin(call);
    const sent = form && (call.body as URLSearchParams);
    const page = await oauth.authorize(queryOf(call), limitGroupOf(call.client), sent);
    call.failure = page.refusal;
    return pageAnswer(page);
  };
  return [
    documentRoute("/.well-known/oauth-authorization-server", oauth.metadata),
    ...resources,
    ...grantRoutes(oauth),
    { method: "GET", path: "/authorize", access: "page", bodyBytesMax: "stream", handle: pageTo() },
    formRoute("/authorize", "page", pageTo(true)),
    formRoute("/token", "open", (call) =>
      told(call, () => oauth.token(formOf(call), call.header("authorization"), sourceOf(call))),
    ),
    formRoute("/revoke", "open", (call) =>
      told(call, () => oauth.revoke(formOf(call), call.header("authorization"), sourceOf(call))),
    ),
    {
      method: "POST",
      path: "/register",
      access: "open",
      bodyBytesMax: FORM_BYTES_MAX,
      handle: (call) => told(call, async () => oauth.register(metadataIn(call)), 201),
    },
  ];
}

/** What a person has allowed, and its end: with a key, never with a token, so that no application ends another. */
function grantRoutes(oauth: OAuth): Route[] {
  const terms = { access: "key", about: "user", writes: false } as const;
  const query = Type.Object({ user_id: Type.String() });
  const grantsOf = async ({ caller, query: { user_id: user } }: GrantsQuery) => {
    if (caller.token !== undefined)
      throw new Failure("user_not_allowed", "A token sees no applications. The person's own key is needed.");
    return oauth.grantsOf(caller.account, user);
  };
  return [
    routeOf({ ...terms, method: "GET", path: "/grants", query }, async (call) =>
      Answer.json({ grants: (await grantsOf(call)).map(viewOf) }, { headers: NOT_STORED }),
    ),
    routeOf(
      { ...terms, method: "DELETE", path: "/grants/:id", query, params: Type.Object({ id: Type.String() }) },
      async (call) => {
        const grant = (await grantsOf(call)).find(({ id }) => id === call.params.id);
        if (grant === undefined)
          throw new Failure("not_found", "There is no connected application with this id.", { param: "id" });
        // Whoever has allowed it may end it, also with a key that only reads.
        if (grant.grant.keyId !== call.caller.keyId) requireWriteAccess(call.caller);
        await oauth.end(grant, sourceOf(call));
        return { status: "ok" };
      },
    ),
  ];
}

interface GrantsQuery {
  readonly caller: Caller;
  readonly query: { readonly user_id: string };
}

function viewOf({ id, note, access, groups, grant, createdAtMs, expiresAtMs, lastUsedAtMs }: Granted) {
  const timeOf = (ms: number | null) => (ms === null ? null : new Date(ms).toISOString());
  return {
    id,
    application: note,
    returns_to: grant.returnsTo,
    resource: grant.resource,
    access,
    groups: groups ?? null,
    created_at: timeOf(createdAtMs),
    expires_at: timeOf(expiresAtMs),
    last_used_at: timeOf(lastUsedAtMs),
  };
}

function documentRoute(path: string, document: Record<string, unknown>): Route {
  const answer = Answer.json(document, { headers: KEPT });
  return { method: "GET", path, access: "open", bodyBytesMax: "stream", handle: () => answer };
}

function formRoute(path: string, access: "page" | "open", handle: Route["handle"]): Route {
  return { method: "POST", path, access, bodyBytesMax: FORM_BYTES_MAX, isForm: true, handle };
}

function pageAnswer({ status, html }: Page): Answer {
  return new Answer(html, { status, type: "text/html; charset=utf-8", headers: PAGE_HEADERS });
}

function formOf(call: Call): URLSearchParams {
  return (call.body as URLSearchParams | undefined) ?? new URLSearchParams();
}

function metadataIn({ body }: Call): Record<string, unknown> {
  if (typeof body === "object" && body !== null && !Array.isArray(body))
    return body as Record<string, unknown>;
  throw new OAuthError("invalid_client_metadata", "The body must be a JSON object.");
}

/** As it was sent: what is there twice is seen there. */
function queryOf({ request: { url = "" } }: Call): string {
  const mark = url.indexOf("?");
  return mark < 0 ? "" : url.slice(mark + 1);
}

/** The answer to a client, or what is wrong with its request. */
async function told(call: Call, answer: () => Promise<unknown>, status = 200): Promise<Answer> {
  try {
    return Answer.json((await answer()) ?? {}, { status, headers: NOT_STORED });
  } catch (error) {
    if (!(error instanceof OAuthError)) throw error;
    call.failure = error;
    const { code, message } = error;
    // A client that has sent this header is told that it may send another one; others are told nothing of it.
    const basic = error.status === 401 && /^basic /i.test(call.header("authorization") ?? "");
    const headers = basic ? [...NOT_STORED, "www-authenticate", 'Basic realm="sideband"'] : NOT_STORED;
    return Answer.json({ error: code, error_description: message }, { status: error.status, headers });
  }
}
