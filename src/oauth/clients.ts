/**
 * The clients, of which nothing is stored. One that registers gets a client_id that holds its own metadata under a MAC, so a
 * flood of registrations fills nothing, and every node and every later process knows it (RFC 7591). Its secret, where it
 * wants one, is another MAC of that client_id. Others publish a document (client-documents.ts).
 */

import { randomBytes } from "node:crypto";
import { type ClientDocuments, isDocumentAddress, nameIn } from "./client-documents.ts";
import { OAuthError, type Parameters } from "./oauth-error.ts";
import { redirectFault } from "./redirect-addresses.ts";
import { SCOPES } from "./scopes.ts";
import type { Seals } from "./seals.ts";

export interface Client {
  readonly id: string;
  readonly name: string;
  readonly redirectUris: readonly string[];
  /** The host that vouches for the name; undefined where the client has named itself. */
  readonly publishedBy: string | undefined;
  readonly hasSecret: boolean;
}

type AuthMethod = (typeof AUTH_METHODS)[number];
/** name, redirect addresses, how it authenticates, when it registered (in seconds), and what tells it from others. */
type Metadata = [string, string[], AuthMethod, number, string];

export const AUTH_METHODS = ["none", "client_secret_post", "client_secret_basic"] as const;
const PREFIX = "sbc_";
const ID_LENGTH_MAX = 4_096;
const METADATA_BYTES_MAX = 2_048;
const REDIRECTS_MAX = 10;
const UNKNOWN = "This client_id is not known here: register again.";

export class Clients {
  readonly #seals: Seals;
  readonly #documents: ClientDocuments;

  constructor(seals: Seals, documents: ClientDocuments) {
    this.#seals = seals;
    this.#documents = documents;
  }

  /** What a registration is answered. Addresses that are refused are left out, and the others are kept. */
  register(wanted: Readonly<Record<string, unknown>>, nowMs: number): Record<string, unknown> {
    const { redirect_uris: redirects, client_name: given, application_type: applicationType } = wanted;
    if (!Array.isArray(redirects))
      throw new OAuthError("invalid_redirect_uri", "redirect_uris must be a list of addresses.");
    const kept = redirects
      .slice(0, REDIRECTS_MAX)
      .filter((uri) => redirectFault(uri) === undefined) as string[];
    if (kept.length === 0) {
      const why = redirects.length === 0 ? "the list is empty" : redirectFault(redirects[0]);
      throw new OAuthError("invalid_redirect_uri", `None of the redirect_uris can be taken: ${why}.`);
    }
    // RFC 7591 says so of a client that does not say.
    const method = wanted.token_endpoint_auth_method ?? "client_secret_basic";
    if (!isAuthMethod(method))
      throw new OAuthError(
        "invalid_client_metadata",
        `token_endpoint_auth_method must be one of ${AUTH_METHODS.join(", ")}.`,
      );
    const issuedAtS = Math.floor(nowMs / 1000);
    const name = nameIn(given) ?? "An application without a name";
    const metadata: Metadata = [name, kept, method, issuedAtS, randomBytes(9).toString("base64url")];
    const text = Buffer.from(JSON.stringify(metadata));
    if (text.length > METADATA_BYTES_MAX)
      throw new OAuthError(
        "invalid_client_metadata",
        `Name and addresses have more than ${METADATA_BYTES_MAX} bytes.`,
      );
    const content = PREFIX + text.toString("base64url");
    const id = `${content}.${this.#seals.mac("client", content)}`;
    return {
      client_id: id,
      client_id_issued_at: issuedAtS,
      ...(method === "none"
        ? {}
        : { client_secret: this.#seals.mac("secret", id), client_secret_expires_at: 0 }),
      client_name: name,
      redirect_uris: kept,
      token_endpoint_auth_method: method,
      grant_types: ["authorization_code", "refresh_token"],
      response_types: ["code"],
      scope: SCOPES.join(" "),
      ...(applicationType === "native" || applicationType === "web"
        ? { application_type: applicationType }
        : {}),
    };
  }

  /** Undefined where nobody knows it. */
  async find(id: string, sender: string): Promise<Client | undefined> {
    if (!isDocumentAddress(id)) return this.#registered(id);
    const published = await this.#documents.clientAt(id, sender);
    return published && { ...published, id, publishedBy: new URL(id).hostname, hasSecret: false };
  }

  #registered(id: string): Client | undefined {
    const dot = id.lastIndexOf(".");
    const content = id.slice(0, dot);
    if (id.length > ID_LENGTH_MAX || !id.startsWith(PREFIX) || dot < 0) return undefined;
    if (!this.#seals.isMac("client", content, id.slice(dot + 1))) return undefined;
    const text = Buffer.from(content.slice(PREFIX.length), "base64url").toString();
    const [name, redirectUris, method] = JSON.parse(text) as Metadata;
    return { id, name, redirectUris, publishedBy: undefined, hasSecret: method !== "none" };
  }

  /**
   * The client_id of a request to /token or /revoke. A secret is taken from the form or from the header, whichever was
   * registered: clients mix them up. A document is not fetched again: that its address may be named proves nothing, and what
   * it is for is in the code and in the grant.
   */
  authenticated(form: Parameters, authorization: string | undefined): string {
    const basic = basicIn(authorization);
    const id = basic?.id ?? form.get("client_id");
    if (id === undefined) throw new OAuthError("invalid_client", "client_id is missing.");
    if (basic !== undefined && (form.get("client_id") ?? id) !== id)
      throw new OAuthError("invalid_request", "The header and the form name two clients.");
    if (isDocumentAddress(id)) return id;
    const client = this.#registered(id);
    if (client === undefined) throw new OAuthError("invalid_client", UNKNOWN);
    const secret = basic?.secret ?? form.get("client_secret") ?? "";
    if (client.hasSecret && !this.#seals.isMac("secret", id, secret))
      throw new OAuthError("invalid_client", "The client_secret is not that of this client.");
    return id;
  }
}

function isAuthMethod(method: unknown): method is AuthMethod {
  return (AUTH_METHODS as readonly unknown[]).includes(method);
}

/** Id and secret are form-encoded in the header (RFC 6749, 2.3.1). */
function basicIn(authorization: string | undefined): { id: string; secret: string } | undefined {
  const encoded = /^basic +([\w+/=-]+)$/i.exec(authorization ?? "")?.[1];
  if (encoded === undefined) return undefined;
  const [id, ...rest] = Buffer.from(encoded, "base64").toString().split(":");
  try {
    const [clientId, secret] = [id, rest.join(":")].map((text) =>
      decodeURIComponent(text.replaceAll("+", " ")),
    );
    return { id: clientId, secret };
  } catch {
    return undefined;
  }
}
