/** What a client is told where something is wrong with its request (RFC 6749, 7591, 8707). */

export type OAuthErrorCode =
  | "invalid_request"
  | "invalid_client"
  | "invalid_grant"
  | "unsupported_grant_type"
  | "unsupported_response_type"
  | "invalid_target"
  | "invalid_redirect_uri"
  | "invalid_client_metadata"
  | "temporarily_unavailable";

export class OAuthError extends Error {
  override name = "OAuthError";
  readonly code: OAuthErrorCode;

  constructor(code: OAuthErrorCode, message: string) {
    super(message);
    this.code = code;
  }

  get status(): number {
    if (this.code === "invalid_client") return 401;
    return this.code === "temporarily_unavailable" ? 503 : 400;
  }
}

/** The parameters of a query or a form. Each may be there once (RFC 6749, 3.1), and an empty one counts as absent. */
export class Parameters {
  readonly #values = new Map<string, string>();
  readonly #repeated: string | undefined;

  constructor(values: Iterable<readonly [string, string]>) {
    for (const [name, value] of values) {
      if (value === "") continue;
      if (this.#values.has(name)) this.#repeated ??= name;
      this.#values.set(name, value);
    }
  }

  get(name: string): string | undefined {
    return this.#values.get(name);
  }

  /** Throws where one is there twice. */
  requireSingle(): void {
    if (this.#repeated !== undefined)
      throw new OAuthError("invalid_request", `${this.#repeated.slice(0, 64)} is given twice.`);
  }

  need(name: string): string {
    const value = this.get(name);
    if (value === undefined) throw new OAuthError("invalid_request", `${name} is missing.`);
    return value;
  }
}
