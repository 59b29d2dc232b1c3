/** What a service says about a call, for a person at a terminal: it speaks of requests, and a person has settings. */

import { isSidebandError } from "../sdk/index.ts";
import { CommandError } from "./command.ts";

/** The error to throw instead. */
export function memoryError(error: unknown): unknown {
  if (isSidebandError(error, "missing_key"))
    return new CommandError("the service asks for a key: set SIDEBAND_API_KEY to one");
  return error;
}
