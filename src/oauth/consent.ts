/**
 * A person signs in with a key, sees what an application asks for, and allows it or not. There is no cookie: what goes from the first
 * form to the second is a sealed ticket, for this request and this person alone, so no other page can answer in a person's
 * place. The key itself is in no page and in no ticket.
 */

import { groupOf } from "../base/channel-labels.ts";
import type { Clock } from "../base/clock.ts";
import { ERRORS } from "../base/error-codes.ts";
import { Failure } from "../base/errors.ts";
import { GROUPS_MAX, Groups } from "../base/groups.ts";
import type { Authentication, Caller } from "../memory/authentication.ts";
import { checkIdentifier } from "../memory/identifiers.ts";
import { isWellFormedKey } from "../memory/key-format.ts";
import type { Labels } from "../memory/labels.ts";
import type { KeyStore } from "../memory/ports.ts";
import type { KeyAccess } from "../memory/records.ts";
import { allowedUser } from "../memory/rights.ts";
import { type AuthorizationRequest, answerAddress } from "./authorization-request.ts";
import { consentPage, type Page, sentPage, signInPage } from "./pages.ts";
import { destinationOf } from "./redirect-addresses.ts";
import { digestOf, type Seals } from "./seals.ts";
import type { TokenEndpoint } from "./token-endpoint.ts";

interface ConsentOptions {
  readonly issuer: string;
  readonly keys: KeyStore;
  readonly authentication: Authentication;
  readonly labels: Labels;
  readonly seals: Seals;
  readonly tokens: TokenEndpoint;
  readonly clock: Clock;
}

/** Who has signed in, for which request, until when. */
interface Ticket {
  readonly keyId: string;
  readonly user: string;
  readonly request: string;
  readonly endsAtMs: number;
}

const TICKET_MS = 600_000;
const DAY_MS = 86_400_000;
const DAYS = [30, 90, 365] as const;
/** Connections of a person that have not ended. */
const GRANTS_MAX = 100;

export class Consent {
  readonly #options: ConsentOptions;

  constructor(options: ConsentOptions) {
    this.#options = options;
  }

  /** @param action the address of the request, which the forms are sent to */
  async answer(request: AuthorizationRequest, form: URLSearchParams, action: string): Promise<Page> {
    const step = form.get("step");
    if (step === "deny") return this.#denied(request);
    const refused = (refusal: Failure) =>
      signInPage(request, action, { refusal, user: form.get("user_id") ?? "" });
    try {
      if (step === "sign-in") return await this.#signedIn(request, form, action);
      if (step === "allow") return await this.#allowed(request, form, action);
      return refused(new Failure("invalid_request", "Sign in with a key."));
    } catch (error) {
      if (!(error instanceof Failure) || ERRORS[error.code].status >= 500) throw error;
      return refused(error);
    }
  }

  #denied({ redirectUri, state, client }: AuthorizationRequest): Page {
    const { issuer: iss } = this.#options;
    const answer = {
      error: "access_denied",
      error_description: "The person has not allowed it.",
      state,
      iss,
    };
    return sentPage(answerAddress(redirectUri, answer), client.name, false);
  }

  async #signedIn(request: AuthorizationRequest, form: URLSearchParams, action: string): Promise<Page> {
    const { authentication, seals, clock } = this.#options;
    const key = (form.get("key") ?? "").trim();
    // A token is what applications have: it allows nothing further.
    if (!isWellFormedKey(key)) throw new Failure("invalid_key", "This API key is not valid.");
    const caller = await authentication.callerOf(key);
    const named = form.get("user_id") || undefined;
    const user = allowedUser(caller, named);
    if (user === undefined)
      throw new Failure(
        "invalid_request",
        "This key is for all users of its account: say whose memory it is.",
      );
    checkIdentifier(user, "user_id");
    const endsAtMs = clock.now() + TICKET_MS;
    const ticket: Ticket = { keyId: caller.keyId, user, request: request.identity, endsAtMs };
    return this.#question(request, action, { caller, user, ticket: seals.seal("ticket", ticket) });
  }

  async #question(
    request: AuthorizationRequest,
    action: string,
    signedIn: {
      readonly caller: Caller;
      readonly user: string;
      readonly ticket: string;
      readonly refusal?: Failure;
    },
  ): Promise<Page> {
    const { account } = signedIn.caller;
    const groups = await this.#groupsOf(signedIn.caller);
    return consentPage(request, action, {
      ...signedIn,
      account,
      groups,
      mayWrite: mayWrite(request, signedIn.caller),
    });
  }

  /** The groups of an account's labels that a key is for. */
  async #groupsOf({ account, groups }: Caller): Promise<string[]> {
    const labels = await this.#options.labels.of(account);
    const seen = labels.all.filter(({ label }) => groups?.has(label) ?? true);
    return [...new Set(seen.map(({ label }) => groupOf(label)))].slice(0, GROUPS_MAX);
  }

  async #allowed(request: AuthorizationRequest, form: URLSearchParams, action: string): Promise<Page> {
    const { authentication, seals, tokens, clock, issuer: iss } = this.#options;
    const text = form.get("ticket") ?? "";
    const ticket = seals.open("ticket", text) as Ticket | undefined;
    if (ticket?.request !== request.identity || ticket.endsAtMs <= clock.now())
      throw new Failure("invalid_request", "This took too long: sign in again.");
    const { keyId, user } = ticket;
    // The key may have been revoked since.
    const caller = await authentication.holderOf(keyId);
    const offered = await this.#groupsOf(caller);
    const chosen = new Set(offered.filter((group) => form.getAll("group").includes(group)));
    const withOthers = form.get("others") === "1";
    if (chosen.size === 0 && !withOthers)
      return this.#question(request, action, {
        caller,
        user,
        ticket: text,
        refusal: new Failure("invalid_request", "Choose a group at least."),
      });
    await this.#requireRoom(caller.account, user);
    const days = DAYS.find((count) => String(count) === form.get("days"));
    const { client, redirectUri, state, challenge, resource } = request;
    const code = await tokens.codeFor({
      caller,
      user,
      access: form.get("access") === "write" && mayWrite(request, caller) ? "write" : "read",
      groups: groupsText(offered, chosen, withOthers),
      expiresAtMs: days === undefined ? null : clock.now() + days * DAY_MS,
      client: digestOf(client.id),
      clientName: client.name,
      redirectUri,
      returnsTo: destinationOf(redirectUri).name,
      challenge,
      resource,
    });
    return sentPage(answerAddress(redirectUri, { code, state, iss }), client.name, true);
  }

  async #requireRoom(account: string, user: string): Promise<void> {
    const { keys, clock } = this.#options;
    const nowMs = clock.now();
    const isLive = ({
      revokedAtMs,
      expiresAtMs,
    }: {
      revokedAtMs: number | null;
      expiresAtMs: number | null;
    }) => revokedAtMs === null && (expiresAtMs ?? Number.POSITIVE_INFINITY) > nowMs;
    const grants = (await keys.listKeys(account)).filter(
      (key) => key.grant !== undefined && key.user === user,
    );
    if (grants.filter(isLive).length >= GRANTS_MAX)
      throw new Failure(
        "conflict",
        `This memory has ${GRANTS_MAX} connected applications: end some of them first.`,
      );
  }
}

function mayWrite({ access }: { readonly access: KeyAccess }, caller: Pick<Caller, "access">): boolean {
  return access === "write" && caller.access === "write";
}

/** Null for all groups: then there is no limit, also where the key gets one later. */
function groupsText(
  offered: readonly string[],
  chosen: ReadonlySet<string>,
  withOthers: boolean,
): string | null {
  if (!withOthers) return new Groups(chosen, false).text;
  const leftOut = offered.filter((group) => !chosen.has(group));
  return leftOut.length === 0 ? null : new Groups(leftOut, true).text;
}
