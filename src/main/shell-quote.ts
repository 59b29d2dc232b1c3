/** Words of a command that is printed for a person to type. */

import { HIDDEN_CHARACTER } from "../base/letters.ts";

const PLAIN = /^[\w./:@%+-]+$/;
/** What a terminal would act on. */
const CONTROL = /[\p{Cc}\u2028\u2029]/u;

/** A word as a shell takes it. cmd.exe knows double quotes only, and a backslash before one would take it away. */
export function shellQuote(word: string, platform = process.platform): string {
  if (PLAIN.test(word)) return word;
  if (platform === "win32") return `"${word.replaceAll('"', '\\"').replace(/\\$/, "\\\\")}"`;
  if (CONTROL.test(word) || HIDDEN_CHARACTER.test(word)) return `"$(printf '${octalText(word)}')"`;
  return `'${word.replaceAll("'", "'\\''")}'`;
}

/** An option with its value. A value that begins with a dash would be taken for an option of its own. */
export function quotedOption(name: string, value: string): string {
  return `--${name}${value.startsWith("-") ? "=" : " "}${shellQuote(value)}`;
}

/** A text as printf reads it, with the number of each byte that is no plain character. */
function octalText(text: string): string {
  return Array.from(Buffer.from(text), (byte) => {
    const character = String.fromCharCode(byte);
    return /[\w./:@+ -]/.test(character) ? character : `\\${byte.toString(8).padStart(3, "0")}`;
  }).join("");
}
