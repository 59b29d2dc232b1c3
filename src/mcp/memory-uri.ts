/** The address of a user's memory as an MCP resource: sideband://memory/USER, the user percent-encoded. */

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
