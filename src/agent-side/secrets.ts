/**
 * What an agent must not keep: secrets, known by their form (secret-patterns.ts), and what stands in <private> marks. It is
 * refused on the agent's side, before anything is sent.
 */

import { visibleText } from "../base/hidden-characters.ts";
import { beginningOf } from "./pattern-beginning.ts";
import { SECRET_PATTERNS, type SecretPattern } from "./secret-patterns.ts";

type Form = Omit<SecretPattern, "pattern"> & { readonly beginning: RegExp; readonly form: RegExp };

/** Made for the first value: most processes that have this module look at none. */
let forms: readonly Form[] | undefined;

function secretForms(): readonly Form[] {
  forms ??= SECRET_PATTERNS.map(({ pattern, ...known }) => ({
    ...known,
    beginning: new RegExp(beginningOf(pattern), "i"),
    form: new RegExp(pattern, "i"),
  }));
  return forms;
}

/** An opening mark without a closing one makes the rest private. */
const PRIVATE = /<private>[\s\S]*?(?:<\/private>|$)/gi;

/** A value that an agent may not keep. */
export class RefusedValueError extends Error {
  override name = "RefusedValueError";
  readonly code: "secret_refused" | "secret_doubted" | "private_refused";

  constructor(code: RefusedValueError["code"], message: string) {
    super(message);
    this.code = code;
  }
}

/**
 * What an agent may keep of a value: all but its <private> parts. Throws if that is nothing, or has a secret in it.
 * @param allowed "doubtful": what only may be a secret, once the person has said that it is none; true: all
 * @param label what the value is of: "Sommer2019!" is a password under WIFI.password
 */
export function sanitizeValue(value: string, allowed: boolean | "doubtful" = false, label?: string): string {
  const open = value.replace(PRIVATE, "");
  const kept = open === value ? value : open.trim();
  if (kept === "" && value !== "") {
    throw new RefusedValueError("private_refused", "All of the value is <private>: nothing was kept.");
  }
  const seen = visibleText(kept).toLowerCase();
  const named = label === undefined ? [] : [`${label.toLowerCase().replace(/[._]/g, " ")}: ${seen}`];
  const secret = secretForms().find(
    ({ beginning, form, isDoubt }) =>
      allowed !== true &&
      !(isDoubt && allowed) &&
      [seen, ...named].some((text) => beginning.test(text) && form.test(text)),
  );
  if (secret === undefined) return kept;
  if (secret.isDoubt)
    throw new RefusedValueError(
      "secret_doubted",
      `This may be ${secret.what}: nothing was kept. Leave it out; if it is none, the user can store it with sideband remember at a terminal.`,
    );
  throw new RefusedValueError(
    "secret_refused",
    `This looks like ${secret.what}: nothing was kept. Leave the secret out, or say where it is stored instead.`,
  );
}
