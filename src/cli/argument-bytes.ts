/**
 * Refuses arguments that are not valid UTF-8. Node.js replaces their bytes before a program sees them, so another value
 * than the typed one would be stored. Only Linux shows a process its original bytes.
 */

import { isUtf8 } from "node:buffer";
import { existsSync, readFileSync } from "node:fs";
import { UsageError } from "./command.ts";

const COMMAND_LINE = "/proc/self/cmdline";
const REPLACED = "\uFFFD";

/** @param args the last arguments of this process, as Node.js gives them */
export function refuseReplacedBytes(args: readonly string[]): void {
  // The character U+FFFD may also have been typed: the bytes show which it was.
  if (!args.some((arg) => arg.includes(REPLACED)) || !existsSync(COMMAND_LINE)) return;
  const bytes = readFileSync(COMMAND_LINE, "latin1")
    .split("\0")
    .slice(-args.length - 1, -1);
  for (const [i, arg] of args.entries()) {
    if (!isUtf8(Buffer.from(bytes[i] ?? "", "latin1")))
      throw new UsageError(`"${arg}" is not valid UTF-8: pass text in UTF-8`);
  }
}
