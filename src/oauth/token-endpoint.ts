/**
 * /token and /revoke: a code begins a grant, a refresh token gets the next one. A grant is a key of the store that only its tokens
 * use, and it is there from the consent on: whatever ends it or erases its person ends its code too. A code and a refresh token are
 * used once because the grant is replaced under the condition that nobody has done so. Parallel sessions that use one refresh token
 * within a minute get the same successor; later use ends the grant (RFC 9700, 4.14).
 */

import { createHash, randomBytes } from "node:crypto";
import { assert } from "../base/assert.ts";
import type { Clock } from "../base/clock.ts";
import { ERRORS } from "../base/error-codes.ts";
import { Failure } from "../base/errors.ts";
import type { Audit, AuditSource } from "../memory/audit.ts";
import type { Authentication, Caller } from "../memory/authentication.ts";
import {
  ACCESS_TOKEN_PREFIX,
  type GrantTokens,
  NOT_BEGUN,
  RECENT_REFRESHES_MAX,
} from "../memory/grant-tokens.ts";
import type { KeyStore } from "../memory/ports.ts";
import type { AuditNote, KeyAccess, KeyGrant, KeyRecord } from "../memory/records.ts";
import type { Clients } from "./clients.ts";
import { OAuthError, type Parameters } from "./oauth-error.ts";
import { askedAccess, type Resources, scopeOf } from "./scopes.ts";
import { digestOf, type Seals } from "./seals.ts";

/** What a person has allowed. */
interface AllowedGrant {
  /** With whose key. */
  readonly caller: Caller;
  readonly user: string;
  readonly access: KeyAccess;
  readonly groups: string | null;
  readonly expiresAtMs: number | null;
  readonly client: string;
  readonly clientName: string;
  readonly redirectUri: string;
  readonly returnsTo: string;
  readonly challenge: string;
  readonly resource: string;
}

/** What a code holds; what was allowed, the store has. */
interface Code {
  readonly grantId: string;
  readonly endsAtMs: number;
  /** When the grant ends, once it has begun. */
  readonly grantEndsAtMs: number | null;
  readonly redirectUri: string;
  readonly challenge: string;
}

interface TokenEndpointOptions {
  readonly keys: KeyStore;
  readonly audit: Audit;
  readonly authentication: Authentication;
  readonly clients: Clients;
  readonly tokens: GrantTokens;
  readonly seals: Seals;
  readonly resources: Resources;
  readonly clock: Clock;
}

const CODE_MS = 60_000;
const ACCESS_TOKEN_MS = 86_400_000;
/** For so long one refresh token has one successor. */
const SAME_SUCCESSOR_MS = 60_000;
/** For so long a grant that has ended is kept for the lists. */
const ENDED_KEPT_MS = 30 * 86_400_000;
const VERIFIER = /^[\w.~-]{43,128}$/;
/** Each round in which another was first leaves fewer that can be. */
const ROUNDS_MAX = 8;

export class TokenEndpoint {
  readonly #options: TokenEndpointOptions;

  constructor(options: TokenEndpointOptions) {
    this.#options = options;
  }

  /** The code for what was allowed: a grant that ends with it, unless it is exchanged. */
  async codeFor(allowed: AllowedGrant): Promise<string> {
    const { keys, seals, clock } = this.#options;
    const grant = newGrant(allowed, clock.now());
    assert((await keys.addKey(grant)) === "added", "the id of a grant is new");
    const { expiresAtMs: grantEndsAtMs, redirectUri, challenge } = allowed;
    const terms = { grantId: grant.id, endsAtMs: grant.expiresAtMs!, grantEndsAtMs };
    return seals.seal("grant", { ...terms, redirectUri, challenge } satisfies Code);
  }

  async answer(
    form: Parameters,
    authorization: string | undefined,
    source: AuditSource,
  ): Promise<Record<string, unknown>> {
    form.requireSingle();
    const client = digestOf(this.#options.clients.authenticated(form, authorization));
    const type = form.need("grant_type");
    if (type === "authorization_code") return this.#exchange(form, client, source);
    if (type === "refresh_token") return this.#refresh(form, client, source);
    throw new OAuthError("unsupported_grant_type", "grant_type must be authorization_code or refresh_token.");
  }

  async #exchange(form: Parameters, client: string, source: AuditSource): Promise<Record<string, unknown>> {
    const { keys, seals, clock } = this.#options;
    const code = seals.open("grant", form.need("code")) as Code | undefined;
    const granted = code && ((await keys.readKey(code.grantId)) as Granted | undefined);
    if (code === undefined || granted?.grant.client !== client || code.endsAtMs <= clock.now())
      throw new OAuthError("invalid_grant", "The code is not valid any more, or is not for this client.");
    if ((form.get("redirect_uri") ?? code.redirectUri) !== code.redirectUri)
      throw new OAuthError("invalid_grant", "The redirect_uri is not that of the authorization request.");
    const verifier = form.need("code_verifier");
    const challenge = createHash("sha256").update(verifier).digest("base64url");
    if (!VERIFIER.test(verifier) || challenge !== code.challenge)
      throw new OAuthError("invalid_grant", "The code_verifier is not that of the code_challenge.");
    this.#requireResource(form, granted.grant.resource);
    await this.#liveKey(granted.grant.keyId);
    const begun = await this.#begin(granted, code.grantEndsAtMs, source);
    await keys.removeGrants(begun.account, begun.user!, clock.now() - ENDED_KEPT_MS);
    return this.#tokensOf(begun, 0, begun.access);
  }

  /** Begins a grant, which nobody does twice. */
  async #begin(granted: Granted, expiresAtMs: number | null, source: AuditSource): Promise<Granted> {
    const { keys } = this.#options;
    const { id, user, grant } = granted;
    const isFirst =
      grant.refreshes === NOT_BEGUN && (await keys.changeGrant(id, grant, { ...grant, refreshes: 0 }));
    const allowing = { ...source, keyId: grant.keyId, person: user! };
    const note = isFirst ? this.#note("allowApplication", allowing, granted) : undefined;
    const begun = isFirst ? await keys.changeKey(id, { expiresAtMs }, note) : undefined;
    if (begun !== undefined) return begun as Granted;
    // Whoever used it first may have stolen it: what came of it ends (RFC 6749, 4.1.2).
    const known = (await keys.readKey(id)) as Granted | undefined;
    if (known !== undefined && known.grant.refreshes > NOT_BEGUN) await this.end(known, source);
    throw new OAuthError("invalid_grant", "The code was used already, or what it is for has ended.");
  }

  async #refresh(form: Parameters, client: string, source: AuditSource): Promise<Record<string, unknown>> {
    const token = form.need("refresh_token");
    const terms = this.#options.tokens.refreshTerms(token);
    let grant = await this.#liveGrant(terms?.id, token, client);
    this.#requireResource(form, grant.grant.resource);
    await this.#liveKey(grant.grant.keyId);
    const access = grant.access === "read" ? "read" : askedAccess(form.get("scope"));
    for (let round = 0; round < ROUNDS_MAX; round++) {
      if (await this.#use(grant, terms!.refreshes, source))
        return this.#tokensOf(grant, terms!.refreshes + 1, access);
      grant = await this.#liveGrant(terms!.id, token, client);
    }
    throw new OAuthError(
      "temporarily_unavailable",
      "Too many sessions refresh this token: try again in a moment.",
    );
  }

  /** Uses a refresh token; false where another has changed its grant meanwhile. */
  async #use(granted: Granted, refreshes: number, source: AuditSource): Promise<boolean> {
    const { id, grant } = granted;
    const { keys, clock } = this.#options;
    const nowMs = clock.now();
    if (refreshes === grant.refreshes) {
      const recentMs = [...grant.recentMs.filter((usedMs) => nowMs - usedMs <= SAME_SUCCESSOR_MS), nowMs];
      const after = { ...grant, refreshes: refreshes + 1, recentMs: recentMs.slice(-RECENT_REFRESHES_MAX) };
      return keys.changeGrant(id, grant, after);
    }
    const usedMs = refreshes < grant.refreshes ? grant.recentMs.at(refreshes - grant.refreshes) : undefined;
    if (usedMs !== undefined && nowMs - usedMs <= SAME_SUCCESSOR_MS) return true;
    // Of two that have it one has stolen it; who, nobody knows.
    await this.end(granted, source);
    throw new OAuthError(
      "invalid_grant",
      "The refresh token was used before: the connection has ended, connect again.",
    );
  }

  /** Whatever it is given: a token that is not known is as good as revoked (RFC 7009). */
  async revoke(form: Parameters, authorization: string | undefined, source: AuditSource): Promise<void> {
    form.requireSingle();
    const { clients, tokens } = this.#options;
    const client = digestOf(clients.authenticated(form, authorization));
    const token = form.need("token");
    const id = (tokens.refreshTerms(token) ?? tokens.accessTerms(token))?.id;
    const grant = await this.#liveGrant(id, token, client).catch(onlyIfKnown);
    if (grant !== undefined) await this.end(grant, source);
  }

  /** Ends a grant that has not ended. */
  async end(granted: Granted, source: AuditSource): Promise<void> {
    const { keys, clock } = this.#options;
    const note = granted.revokedAtMs === null ? this.#note("endApplication", source, granted) : undefined;
    await keys.changeKey(granted.id, { revokedAtMs: clock.now() }, note);
  }

  #note(operation: string, source: AuditSource, { id, account, user }: Granted): AuditNote {
    return this.#options.audit.note(operation, source, {
      account,
      keyId: id,
      ...(user !== null && { user }),
    });
  }

  /** The grant of a genuine token of this client. */
  async #liveGrant(id: string | undefined, token: string, client: string): Promise<Granted> {
    const { keys, tokens, clock } = this.#options;
    const record = id === undefined ? undefined : await keys.readKey(id);
    const isLive =
      record?.revokedAtMs === null && (record.expiresAtMs ?? Number.POSITIVE_INFINITY) > clock.now();
    if (
      record?.grant === undefined ||
      !isLive ||
      record.grant.client !== client ||
      !tokens.isGenuine(token, record)
    )
      throw new OAuthError("invalid_grant", "The token is not valid any more, or is not for this client.");
    return record as Granted;
  }

  /** The key with which a grant was allowed. */
  async #liveKey(keyId: string): Promise<Caller> {
    try {
      return await this.#options.authentication.holderOf(keyId);
    } catch (error) {
      if (!(error instanceof Failure) || ERRORS[error.code].status >= 500) throw error;
      throw new OAuthError("invalid_grant", "The key with which this was allowed is not valid any more.");
    }
  }

  #requireResource(form: Parameters, resource: string): void {
    const named = form.get("resource");
    if (named !== undefined && this.#options.resources.named(named) !== resource)
      throw new OAuthError("invalid_target", `This was allowed for ${resource} alone.`);
  }

  #tokensOf(grant: Granted, refreshes: number, access: KeyAccess): Record<string, unknown> {
    const { tokens, clock } = this.#options;
    const nowMs = clock.now();
    const expiresAtMs = Math.min(nowMs + ACCESS_TOKEN_MS, grant.expiresAtMs ?? Number.POSITIVE_INFINITY);
    return {
      access_token: tokens.access(grant, { expiresAtMs, access }),
      token_type: "Bearer",
      expires_in: Math.floor((expiresAtMs - nowMs) / 1000),
      refresh_token: tokens.refresh(grant, refreshes),
      scope: scopeOf(access),
      resource: grant.grant.resource,
    };
  }
}

export type Granted = KeyRecord & { readonly grant: KeyGrant };

function newGrant(allowed: AllowedGrant, nowMs: number): Granted {
  const { caller, client, clientName, resource, returnsTo, user, access, groups } = allowed;
  const { account, tier, keyId } = caller;
  return {
    id: randomBytes(8).toString("hex"),
    account,
    tier: tier === "owner" ? "unlimited" : tier,
    hash: randomBytes(32).toString("hex"),
    prefix: ACCESS_TOKEN_PREFIX,
    note: clientName,
    user,
    access,
    createdAtMs: nowMs,
    expiresAtMs: nowMs + CODE_MS,
    revokedAtMs: null,
    lastUsedAtMs: null,
    ...(groups === null ? {} : { groups }),
    grant: { keyId, resource, client, returnsTo, refreshes: NOT_BEGUN, recentMs: [] },
  };
}

function onlyIfKnown(error: unknown): undefined {
  if (error instanceof OAuthError) return undefined;
  throw error;
}
