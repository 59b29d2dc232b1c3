/**
 * What a client asks for at /authorize. Until client and address are known to belong together nothing is sent anywhere: then the
 * person is told, and nobody else. Other faults are told to the person too, with a link back: a person decides before a browser
 * is sent to an address that anybody may have registered (RFC 9700, 4.11).
 */

import type { KeyAccess } from "../memory/records.ts";
import type { Client, Clients } from "./clients.ts";
import { OAuthError, type OAuthErrorCode, type Parameters } from "./oauth-error.ts";
import { isRegistered } from "./redirect-addresses.ts";
import { askedAccess, type Resources } from "./scopes.ts";
import { digestOf } from "./seals.ts";

export interface AuthorizationRequest {
  readonly client: Client;
  readonly redirectUri: string;
  readonly state: string | undefined;
  readonly challenge: string;
  readonly access: KeyAccess;
  readonly resource: string;
  /** Stands for all of it. */
  readonly identity: string;
}

/** A request whose client and address are known, and that is wrong otherwise. */
export class RefusedRequest extends OAuthError {
  readonly redirectUri: string;
  readonly state: string | undefined;

  constructor(
    error: OAuthError,
    { redirectUri, state }: Pick<AuthorizationRequest, "redirectUri" | "state">,
  ) {
    super(error.code, error.message);
    this.redirectUri = redirectUri;
    this.state = state;
  }
}

/** 32 bytes in base64url. */
const CHALLENGE = /^[\w-]{43}$/;

export async function readRequest(
  query: Parameters,
  { clients, resources, sender }: { clients: Clients; resources: Resources; sender: string },
): Promise<AuthorizationRequest> {
  const client = await clients.find(query.need("client_id"), sender);
  if (client === undefined)
    throw new OAuthError(
      "invalid_client",
      "This application is not known here. Remove the connection in the application, and add it again.",
    );
  const redirectUri = addressIn(query, client);
  const state = query.get("state");
  try {
    query.requireSingle();
    const refuse = (code: OAuthErrorCode, message: string) => {
      throw new OAuthError(code, message);
    };
    if (query.need("response_type") !== "code")
      refuse("unsupported_response_type", "response_type must be code.");
    const challenge = query.need("code_challenge");
    if (query.get("code_challenge_method") !== "S256")
      refuse("invalid_request", "code_challenge_method must be S256.");
    if (!CHALLENGE.test(challenge)) refuse("invalid_request", "code_challenge is no SHA-256 in base64url.");
    const access = askedAccess(query.get("scope"));
    const resource = resources.named(query.get("resource"));
    const identity = digestOf(JSON.stringify([client.id, redirectUri, state, challenge, access, resource]));
    return { client, redirectUri, state, challenge, access, resource, identity };
  } catch (error) {
    throw error instanceof OAuthError ? new RefusedRequest(error, { redirectUri, state }) : error;
  }
}

function addressIn(query: Parameters, { redirectUris }: Client): string {
  const named = query.get("redirect_uri");
  const address = named ?? (redirectUris.length === 1 ? redirectUris[0] : undefined);
  if (address === undefined) throw new OAuthError("invalid_request", "redirect_uri is missing.");
  if (!isRegistered(address, redirectUris))
    throw new OAuthError("invalid_request", "The redirect_uri is not one of this application's.");
  return address;
}

/** The address with the answer in its query, as RFC 6749, 4.1.2, and RFC 9207 say. */
export function answerAddress(
  redirectUri: string,
  answer: Readonly<Record<string, string | undefined>>,
): string {
  const given = Object.entries(answer).filter((pair): pair is [string, string] => pair[1] !== undefined);
  const query = new URLSearchParams(given).toString();
  return `${redirectUri}${redirectUri.includes("?") ? "&" : "?"}${query}`;
}
