/**
 * The options of both calls, which may share an object of them: another name, or another kind of value, is a mistake of
 * the caller. Key, user, counter and model are looked at where they are used, and have codes of their own.
 */

import { BlockError } from "./errors.ts";

type Kind = readonly [isIt: (value: unknown) => boolean, what: string];

const KINDS: Readonly<Record<string, Kind>> = {
  facts: [isRecord, "an object with a value for each label"],
  text: [(value) => typeof value === "string", "a text"],
  compress: [(value) => typeof value === "boolean", "true or false"],
};
const NAMES = ["key", "user", ...Object.keys(KINDS), "after", "model", "kernel"];

/** @param needed the option that the call cannot do without */
export function checkOptions(options: unknown, needed: "facts" | "text"): void {
  if (!isRecord(options))
    throw new BlockError("invalid_option", `give the options as an object: { key, user, ${needed} }`);
  const unknown = Object.keys(options).find((name) => !NAMES.includes(name));
  if (unknown !== undefined)
    throw new BlockError(
      "invalid_option",
      `there is no option ${JSON.stringify(unknown)}: there are ${NAMES.join(", ")}`,
    );
  for (const [name, [isIt, what]] of Object.entries(KINDS)) {
    const value = options[name];
    if (value === undefined ? name === needed : !isIt(value))
      throw new BlockError("invalid_option", `\`${name}\` must be ${what}`);
  }
}

/** No list, map or set. */
function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !(Symbol.iterator in value);
}
