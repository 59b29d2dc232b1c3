/** What an application may do, and the addresses that its tokens are for (RFC 8707). */

import type { KeyAccess } from "../memory/records.ts";
import { OAuthError } from "./oauth-error.ts";

export const SCOPES = ["memory:read", "memory:write"] as const;

/**
 * What a request asks for: to write too, unless it names reading alone. Scopes of others are not refused: clients ask for those
 * that they know from elsewhere.
 */
export function askedAccess(scope: string | undefined): KeyAccess {
  const asked = (scope ?? "").split(" ");
  return asked.includes("memory:read") && !asked.includes("memory:write") ? "read" : "write";
}

export function scopeOf(access: KeyAccess): string {
  return access === "read" ? SCOPES[0] : SCOPES.join(" ");
}

/** The paths of the service's resources. A token for the root is for the whole interface, one for /mcp is for /mcp alone. */
const PATHS = ["", "/mcp", "/v1/mcp"];

export class Resources {
  readonly #origin: string;

  /** @param origin of the service's public address */
  constructor(origin: string) {
    this.#origin = origin;
  }

  /** The resource that a request names; that of /mcp where it names none. */
  named(resource: string | undefined): string {
    if (resource === undefined) return `${this.#origin}/mcp`;
    const url = URL.canParse(resource) ? new URL(resource) : undefined;
    const path = url?.pathname.replace(/\/$/, "");
    if (url?.origin !== this.#origin || path === undefined || !PATHS.includes(path) || resource.includes("#"))
      throw new OAuthError("invalid_target", `resource must be ${this.#origin}/mcp.`);
    return this.#origin + path;
  }

  /** Whether a token for a resource opens a route. */
  opens(resource: string, routePath: string): boolean {
    if (resource === this.#origin) return true;
    return routePath === "/mcp" && PATHS.some((path) => resource === this.#origin + path);
  }

  /** Where the metadata of a resource is. */
  metadataAddress(path: string): string {
    return `${this.#origin}/.well-known/oauth-protected-resource${PATHS.includes(path) ? path : ""}`;
  }
}
