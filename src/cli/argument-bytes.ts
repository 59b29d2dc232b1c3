/**
 * Arguments that are no valid UTF-8. Node.js replaces their bytes before a program sees them, so a value would be
 * stored as something else than was typed. Linux tells what the bytes were; other systems do not.
 */

import { isUtf8 } from "node:buffer";
import { existsSync, readFileSync } from "node:fs";
import { UsageError } from "./command.ts";

const COMMAND_LINE = "/proc/self/cmdline";
const REPLACED = "\uFFFD";

/** @param args the last arguments of this process, as Node.js gives them */
export function refuseReplacedBytes(args: readonly string[]): void {
  // The character may have been typed as it is: only the bytes can tell.
  if (!args.some((arg) => arg.includes(REPLACED)) || !existsSync(COMMAND_LINE)) return;
  const bytes = readFileSync(COMMAND_LINE, "latin1")
    .split("\0")
    .slice(-args.length - 1, -1);
  for (const [i, arg] of args.entries()) {
    if (!isUtf8(Buffer.from(bytes[i] ?? "", "latin1")))
      throw new UsageError(`"${arg}" is not valid UTF-8: pass text in UTF-8`);
  }
}
