/**
 * The address of a user's memory as an MCP resource: sideband://memory/USER, the user percent-encoded. A client may
 * write it in other ways (a letter percent-encoded, an @ as it is), so a memory is known by its user.
 */

import { isIdentifier } from "../memory/identifiers.ts";

export const URI_PREFIX = "sideband://memory/";

export function memoryUri(userId: string): string {
  return URI_PREFIX + encodeURIComponent(userId);
}

/** The user that a resource is about, or undefined where it is no memory. */
export function userOfUri(uri: string): string | undefined {
  if (!uri.startsWith(URI_PREFIX)) return undefined;
  try {
    return decodeURIComponent(uri.slice(URI_PREFIX.length));
  } catch {
    return undefined;
  }
}

/** The user whose memory at `uri` a server, bound to a user or not, may watch. */
export function watchableUser(uri: string, boundUser: string | undefined): string | undefined {
  const user = userOfUri(uri);
  if (user === undefined) return undefined;
  return (boundUser === undefined ? isIdentifier(user) : user === boundUser) ? user : undefined;
}
