/**
 * What an agent must not keep: keys, tokens and passwords, known by their form, and what stands in <private> marks.
 * It is refused on the agent's side, before anything is sent.
 *
 * The patterns use only what JavaScript and Python have in common: agents/hermes/sideband/secrets.json is a copy.
 */

export interface SecretPattern {
  readonly what: string;
  readonly pattern: string;
}

/** Looked for in any case of letters. */
export const SECRET_PATTERNS: readonly SecretPattern[] = [
  { what: "a private key", pattern: "-----BEGIN [A-Z ]*PRIVATE KEY" },
  {
    what: "an API key",
    pattern:
      "\\b(?:sk|pk|rk|sb)[-_](?:live|test|proj|ant|or|svcacct)[-_][a-z0-9_-]{8,}|\\bsk-[a-z0-9]{20,}|\\bAIza[a-z0-9_-]{30,}|\\b(?:AKIA|ASIA)[a-z0-9]{16}\\b",
  },
  {
    what: "an access token",
    pattern:
      "\\bgh[pousr]_[a-z0-9]{20,}|\\bgithub_pat_[a-z0-9_]{20,}|\\bglpat-[a-z0-9_-]{16,}|\\bxox[abeoprs]-[a-z0-9-]{10,}|\\bnpm_[a-z0-9]{30,}|\\bhf_[a-z0-9]{30,}|\\bSG\\.[a-z0-9_-]{16,}\\.[a-z0-9_-]{16,}|\\bya29\\.[a-z0-9_-]{20,}",
  },
  { what: "a signed token (JWT)", pattern: "\\beyJ[a-z0-9_-]{8,}\\.[a-z0-9_-]{8,}\\.[a-z0-9_-]{8,}" },
  { what: "an authorization header", pattern: "\\b(?:bearer|basic)\\s+[a-z0-9._~+/=-]{16,}" },
  { what: "an address with a password", pattern: "\\b[a-z][a-z0-9+.-]*://[^/\\s:@]*:[^/\\s@]+@" },
  {
    what: "a password",
    pattern:
      "\\b(?:password|passwd|pwd|passphrase|passcode|passwort|kennwort|secret|api[_ -]?key|access[_ -]?key|(?:access|auth|api|bot|refresh|session)[_ -]?token|client[_ -]?secret)\\b[\"'`]?\\s*(?:=\\s*\\S{3,}|:\\s*\\S{6,}|(?:is|lautet|ist)\\s+(?=\\S*[0-9!@#$%^&*])\\S{6,})",
  },
];

const COMPILED = SECRET_PATTERNS.map(({ what, pattern }) => ({ what, form: new RegExp(pattern, "i") }));
/** An opening mark without a closing one makes the rest private. */
const PRIVATE = /<private>[\s\S]*?(?:<\/private>|$)/gi;

/** A value that an agent may not keep. */
export class RefusedValueError extends Error {
  override name = "RefusedValueError";
  readonly code: "secret_refused" | "private_refused";

  constructor(code: RefusedValueError["code"], message: string) {
    super(message);
    this.code = code;
  }
}

/** What an agent may keep of a value: all but its <private> parts. Throws if that is nothing, or has a secret in it. */
export function keptValue(value: string, allowSecrets = false): string {
  const open = value.replace(PRIVATE, "");
  const kept = open === value ? value : open.trim();
  if (kept === "" && value !== "") {
    throw new RefusedValueError("private_refused", "All of the value is <private>: nothing was kept.");
  }
  const secret = allowSecrets ? undefined : COMPILED.find(({ form }) => form.test(kept));
  if (secret === undefined) return kept;
  throw new RefusedValueError(
    "secret_refused",
    `This looks like ${secret.what}: nothing was kept. Leave the secret out, or say where it is stored instead.`,
  );
}
