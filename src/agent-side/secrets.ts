/**
 * What an agent must not keep: keys, tokens and passwords, known by their form, and what stands in <private> marks.
 * It is refused on the agent's side, before anything is sent. What only speaks of a secret is none: "the password policy",
 * "PASSWORD=$VAULT", "password: required".
 *
 * The patterns use only what JavaScript and Python have in common: agents/hermes/sideband/secrets.json is a copy. They
 * take time in proportion to a text: a repeat is bounded, or can begin at one place only.
 */

import { visibleText } from "../base/hidden-characters.ts";

export interface SecretPattern {
  readonly what: string;
  readonly pattern: string;
}

/** A key or a token does not begin in the middle of a word. */
const START = "(?<![a-z0-9])";
/** There is a digit in the next word: "sk-internationalisation" is no key. */
const DIGIT = "(?=[a-z_-]{0,40}[0-9])";

const API_KEYS = [
  "(?:sk|pk|rk|sb)[-_](?:live|test|proj|ant|or|svcacct|admin)[-_][a-z0-9_-]{8}",
  `sk-${DIGIT}[a-z0-9]{20}`,
  "AIza[a-z0-9_-]{30}",
  "(?:AKIA|ASIA)[a-z0-9]{16}(?![a-z0-9])",
  `(?:gsk|r8|tgp_v1|nvapi|pplx|xai|fw)[-_]${DIGIT}[a-z0-9_-]{20}`,
  `(?:whsec|rubygems|figd|secret|ntn|lin_api|sbp|re|phx)_${DIGIT}[a-z0-9_-]{24}`,
  "(?:key|SK|dapi)-?[0-9a-f]{32}(?![a-z0-9])",
  `(?:PMAK|NRAK|CCIPAT)[-_]${DIGIT}[a-z0-9_-]{20}`,
  "SG\\.[a-z0-9_-]{16,64}\\.[a-z0-9_-]{16}",
  "AGE-SECRET-KEY-1[a-z0-9]{20}",
];

const ACCESS_TOKENS = [
  "sbt_[a-z0-9_-]{20}",
  "gh[pousr]_[a-z0-9]{20}",
  "github_pat_[a-z0-9_]{20}",
  "gl(?:pat|dt|rt|ptt|cbt)-[a-z0-9_-]{16}",
  `xox[abcdeoprs][-.]${DIGIT}[a-z0-9-]{10}`,
  "xapp-[0-9]-[a-z0-9-]{10}",
  `(?:npm|hf)_${DIGIT}[a-z0-9]{30}`,
  "pypi-[a-z0-9_-]{32}",
  "ya29\\.[a-z0-9_-]{20}",
  "GOCSPX-[a-z0-9_-]{20}",
  "hv[sbr]\\.[a-z0-9_-]{24}",
  "dckr_(?:pat|oat)_[a-z0-9_-]{20}",
  "do[opr]_v1_[0-9a-f]{32}",
  "shp(?:at|ss|ca|pa)_[0-9a-f]{32}",
  "sq0(?:atp|csp)-[a-z0-9_-]{20}",
  `(?:glsa_|sntrys_|vercel_|ATATT3x)${DIGIT}[a-z0-9_=-]{24}`,
  `(?:fm[12]|tskey-[a-z]{2,12}|pscale_(?:tkn|pw|oauth))[-_]${DIGIT}[a-z0-9_-]{16}`,
  "[0-9]{8,10}:AA[a-z0-9_-]{33}",
  "[a-z0-9_~.-]{3}8Q~[a-z0-9_~.-]{30}",
  "hooks\\.slack\\.com/services/T[a-z0-9]{6,12}/B[a-z0-9]{6,12}/[a-z0-9]{16}",
  "discord(?:app)?\\.com/api/webhooks/[0-9]{16,20}/[a-z0-9_-]{32}",
];

/** Names of what is secret, also as the end of a longer name. */
const PASSWORDS = "pass(?:word|wd|phrase|code)|passwort|kennwort|mot de passe|contraseña|(?<![a-z])pwd";
const KEYS =
  "(?:api|access|secret|private|account|auth|signing|encryption|master|storage|shared[_ -]?access)[_ -]?key" +
  "|(?:access|auth|api|bot|refresh|session|bearer|secret|id)[_ -]?token|client[_ -]?secret";
const SUFFIX = "(?:[_-](?:prod|production|staging|dev|test|live|base|hex|value|[0-9]{1,2}))?(?![a-z0-9_])";
/** What stands in place of a secret: a variable, a gap to fill, where it is kept, what is asked of it. */
const NO_SECRET =
  "(?![\"'`]?(?:\\$[a-z_{(]|[<{…]|\\*{3}|\\.\\.\\.|x{3}|%[a-z_]{1,40}%|\\[[a-z _-]{1,40}\\]|\\([a-z _-]{1,40}\\)|[a-z_.]{1,40}\\(" +
  "|#\\{|op://|arn:|file:|env[.:]|process\\.env|os\\.|secrets?[.:/]|config[.:]|~/|/(?:home|users|root|etc|usr|var|run|opt|srv|mnt|tmp)/" +
  "|(?:vault|1password|bitwarden|keychain|keyring|none|null|nil|true|false|undefined|empty|required|optional|mandatory|rotated|stored" +
  "|managed|unknown|changed|expired|hidden|redacted|masked|disabled|enabled|encrypted|hashed|sha-?[0-9]{1,3}|md5|bcrypt|argon2|scrypt" +
  "|pbkdf2|str|string|text|bytes)(?![a-z0-9-])|[a-z0-9_]{1,40}_(?:key|token|secret|password|pwd)(?![a-z0-9_])))";
const QUOTE = "[\"'`“”„]";
/** A sign of a password that no word of prose has inside. */
const ODD_SIGN = "(?=\\S{0,200}(?:[0-9]|[!@#$%^&*]\\S))";

export const SECRET_PATTERNS: readonly SecretPattern[] = [
  { what: "a private key", pattern: "-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY|PuTTY-User-Key-File-[0-9]" },
  { what: "an API key", pattern: `${START}(?:${API_KEYS.join("|")})` },
  { what: "an access token", pattern: `${START}(?:${ACCESS_TOKENS.join("|")})|[?&]sig=[a-z0-9%+/]{20}` },
  {
    what: "a signed token (JWT)",
    pattern: "(?<![a-z0-9_-])eyJ[a-z0-9_-]{8,}\\.[a-z0-9_-]{8,}\\.[a-z0-9_-]{8}",
  },
  {
    what: "an authorization header",
    pattern: "\\b(?:bearer|basic)\\s{1,4}(?=[a-z._~+/-]{0,200}[0-9=])[a-z0-9._~+/=-]{16}",
  },
  {
    what: "an address with a password",
    pattern: "\\b[a-z][a-z0-9+.-]{1,20}://[^/\\s:@]{0,100}:(?!\\$[a-z_{(]|[<{*])[^/\\s@]{1,200}@",
  },
  {
    what: "a password",
    pattern:
      `(?:${PASSWORDS}|secret|${KEYS})${SUFFIX}${QUOTE}?\\s{0,4}` +
      `(?:(?:=>?|:=)\\s{0,4}${NO_SECRET}\\S{3}|:\\s{0,4}${NO_SECRET}(?:${ODD_SIGN}\\S{6}|${QUOTE}?[^\\s,;]{6,100}\\s{0,4}$))`,
  },
  {
    what: "a password",
    pattern:
      `(?:${PASSWORDS}|${KEYS})(?:\\s{1,4}(?:for|of|to|on|in|at|zu|zum|für|von|vom)(?:\\s{1,4}[\\w.'’-]{1,40}){1,4}?)?` +
      "\\s{1,4}(?:is|was|lautet|ist|war|est|es|→|->)(?:\\s{1,4}(?:now|still|(?:re)?set to|changed to))?\\s{0,4}:?\\s{1,4}" +
      `${NO_SECRET}(?:${QUOTE}\\S{3,100}${QUOTE}|${ODD_SIGN}\\S{6})`,
  },
  {
    what: "a password",
    pattern:
      `(?<![a-z0-9-])--?(?:password|passwd|api-key|secret|token)\\s{1,4}${NO_SECRET}${ODD_SIGN}\\S{6}` +
      `|(?:db|database|user|root|admin|smtp|mail|mysql|pg|redis|ftp|ssh|login)[_-]?pass${SUFFIX}\\s{0,4}[=:]\\s{0,4}${NO_SECRET}\\S{3}` +
      `|(?<![a-z0-9])(?:[a-z0-9]{1,30}[_-])?token["'\`]?\\s{0,4}[=:]\\s{0,4}["'\`]?${NO_SECRET}(?=[a-z_.-]{0,100}[0-9])[a-z0-9_.-]{16}` +
      "|\\blogin\\s{1,4}\\S{1,64}\\s{1,4}password\\s{1,4}\\S{3}" +
      `|\\bcurl\\s.{0,80}\\s-u\\s{0,4}["']?[^\\s:"']{1,64}:${NO_SECRET}\\S{3}` +
      `|\\bsshpass\\s{1,4}-p\\s{0,4}${NO_SECRET}\\S{3}|\\bmysql(?:dump|admin)?\\s.{0,80}\\s-p${NO_SECRET}[^\\s-]\\S{2}`,
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
export function sanitizeValue(value: string, allowSecrets = false): string {
  const open = value.replace(PRIVATE, "");
  const kept = open === value ? value : open.trim();
  if (kept === "" && value !== "") {
    throw new RefusedValueError("private_refused", "All of the value is <private>: nothing was kept.");
  }
  const seen = visibleText(kept);
  const secret = allowSecrets ? undefined : COMPILED.find(({ form }) => form.test(seen));
  if (secret === undefined) return kept;
  throw new RefusedValueError(
    "secret_refused",
    `This looks like ${secret.what}: nothing was kept. Leave the secret out, or say where it is stored instead.`,
  );
}
