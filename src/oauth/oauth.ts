/**
 * OAuth 2.1 for /mcp, as the MCP specification (2026-07-28) has it, and usable for clients of the revisions of 2025
 * (docs/decisions/0030): an authorization server of the service's own, whose tokens are keys that end. Here its parts are
 * joined; routes are in http/routes/oauth.ts.
 */

import type { Clock, MonotonicClock } from "../base/clock.ts";
import type { Failure } from "../base/errors.ts";
import type { Audit, AuditSource } from "../memory/audit.ts";
import type { Authentication, CallerToken } from "../memory/authentication.ts";
import { GrantTokens } from "../memory/grant-tokens.ts";
import type { Labels } from "../memory/labels.ts";
import type { KeyStore } from "../memory/ports.ts";
import type { KeyRecord } from "../memory/records.ts";
import { answerAddress, RefusedRequest, readRequest } from "./authorization-request.ts";
import { ClientDocuments, type ClientDocumentsOptions } from "./client-documents.ts";
import { AUTH_METHODS, Clients } from "./clients.ts";
import { Consent } from "./consent.ts";
import { OAuthError, Parameters } from "./oauth-error.ts";
import { type Page, refusedPage, signInPage } from "./pages.ts";
import { Resources, SCOPES } from "./scopes.ts";
import { Seals } from "./seals.ts";
import { type Granted, TokenEndpoint } from "./token-endpoint.ts";

export interface OAuthOptions {
  /** The service's public address, without a path. */
  readonly publicUrl: string;
  /** KeyRing.grantSecrets. */
  readonly secrets: readonly Uint8Array[];
  readonly keys: KeyStore;
  readonly audit: Audit;
  readonly authentication: Authentication;
  readonly labels: Labels;
  readonly clock: Clock;
  readonly monotonic: MonotonicClock;
  /** How metadata documents are reached, for tests. */
  readonly documents?: Omit<ClientDocumentsOptions, "clock"> | undefined;
}

export class OAuth {
  readonly issuer: string;
  readonly #keys: KeyStore;
  readonly #clock: Clock;
  readonly #clients: Clients;
  readonly #resources: Resources;
  readonly #tokens: TokenEndpoint;
  readonly #consent: Consent;

  constructor({
    publicUrl,
    secrets,
    keys,
    audit,
    authentication,
    labels,
    clock,
    monotonic,
    documents,
  }: OAuthOptions) {
    const issuer = new URL(publicUrl).origin;
    const seals = new Seals(secrets);
    const clients = new Clients(seals, new ClientDocuments({ ...documents, clock: monotonic }));
    const resources = new Resources(issuer);
    const tokens = new TokenEndpoint({
      ...{ keys, audit, authentication, clients, seals, resources, clock },
      tokens: new GrantTokens(secrets),
    });
    this.issuer = issuer;
    this.#keys = keys;
    this.#clock = clock;
    this.#clients = clients;
    this.#resources = resources;
    this.#tokens = tokens;
    this.#consent = new Consent({ issuer, keys, authentication, labels, seals, tokens, clock });
  }

  /** RFC 8414. */
  get metadata(): Record<string, unknown> {
    return {
      issuer: this.issuer,
      authorization_endpoint: `${this.issuer}/authorize`,
      token_endpoint: `${this.issuer}/token`,
      registration_endpoint: `${this.issuer}/register`,
      revocation_endpoint: `${this.issuer}/revoke`,
      scopes_supported: SCOPES,
      response_types_supported: ["code"],
      response_modes_supported: ["query"],
      grant_types_supported: ["authorization_code", "refresh_token"],
      token_endpoint_auth_methods_supported: AUTH_METHODS,
      revocation_endpoint_auth_methods_supported: AUTH_METHODS,
      code_challenge_methods_supported: ["S256"],
      authorization_response_iss_parameter_supported: true,
      client_id_metadata_document_supported: true,
      service_documentation: `${this.issuer}/docs`,
    };
  }

  /** RFC 9728, of the resource with this path. */
  resourceMetadata(path: string): Record<string, unknown> {
    return {
      resource: this.issuer + path,
      authorization_servers: [this.issuer],
      scopes_supported: SCOPES,
      bearer_methods_supported: ["header"],
      resource_name: "Sideband memory",
    };
  }

  /** What stands in WWW-Authenticate of an answer to a caller without the right token (RFC 6750, RFC 9728). */
  challenge(path: string, code: Failure["code"]): string {
    const metadata = `resource_metadata="${this.#resources.metadataAddress(path)}", scope="${SCOPES.join(" ")}"`;
    if (code === "missing_key") return `Bearer ${metadata}`;
    return `Bearer error="${code === "read_only_key" ? "insufficient_scope" : "invalid_token"}", ${metadata}`;
  }

  /** Whether a caller's token is for a route: a token of another resource is none here. */
  opens({ resource }: CallerToken, routePath: string): boolean {
    return resource === undefined || this.#resources.opens(resource, routePath);
  }

  register(wanted: Readonly<Record<string, unknown>>): Record<string, unknown> {
    return this.#clients.register(wanted, this.#clock.now());
  }

  /**
   * @param query of the address, as it was sent
   * @param sender whose requests are counted together
   */
  authorize(query: string, sender: string, form?: URLSearchParams): Promise<Page> {
    return this.#authorized(query, sender, async (request) => {
      const action = `/authorize?${query}`;
      return form === undefined ? signInPage(request, action) : this.#consent.answer(request, form, action);
    });
  }

  async #authorized(
    query: string,
    sender: string,
    answer: (request: Awaited<ReturnType<typeof readRequest>>) => Promise<Page>,
  ): Promise<Page> {
    try {
      const parameters = new Parameters(new URLSearchParams(query));
      const parts = { clients: this.#clients, resources: this.#resources, sender };
      return await answer(await readRequest(parameters, parts));
    } catch (error) {
      if (!(error instanceof OAuthError)) throw error;
      if (!(error instanceof RefusedRequest)) return refusedPage(error);
      const { code, message, redirectUri, state } = error;
      const told = { error: code, error_description: message, state, iss: this.issuer };
      return refusedPage(error, answerAddress(redirectUri, told));
    }
  }

  token(
    form: URLSearchParams,
    authorization: string | undefined,
    source: AuditSource,
  ): Promise<Record<string, unknown>> {
    return this.#tokens.answer(new Parameters(form), authorization, source);
  }

  revoke(form: URLSearchParams, authorization: string | undefined, source: AuditSource): Promise<void> {
    return this.#tokens.revoke(new Parameters(form), authorization, source);
  }

  /** What a user has allowed and has not ended. */
  async grantsOf(account: string, user: string): Promise<Granted[]> {
    const nowMs = this.#clock.now();
    const isLive = ({ revokedAtMs, expiresAtMs }: KeyRecord) =>
      revokedAtMs === null && (expiresAtMs ?? Number.POSITIVE_INFINITY) > nowMs;
    const isOfUser = (key: KeyRecord): key is Granted => key.grant !== undefined && key.user === user;
    return (await this.#keys.listKeys(account)).filter(isOfUser).filter(isLive);
  }

  end(grant: Granted, source: AuditSource): Promise<void> {
    return this.#tokens.end(grant, source);
  }
}
