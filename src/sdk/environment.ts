/** The settings that the client reads where there is an environment: Node, Deno and Bun have one, browsers do not. */

/** A variable; undefined where it is empty, not set, or there is no environment. */
export function variable(
  name: "SIDEBAND_API_URL" | "SIDEBAND_API_KEY" | "SIDEBAND_INCLUDE" | "SIDEBAND_STALE_IF_ERROR_MS",
): string | undefined {
  try {
    return globalThis.process?.env?.[name] || undefined;
  } catch {
    // Deno throws if the program may not read the environment.
    return undefined;
  }
}
