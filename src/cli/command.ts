/**
 * What every command of the CLI is made of: a name, a line for the overview, its own help, and what it does.
 * A command throws UsageError for a wrong call, and CommandError if it cannot do what was asked.
 */

import { OperatorError } from "../base/errors.ts";

export interface Command {
  /** As typed: one word, or two ("keys create"). */
  readonly name: string;
  /** One line for the overview. */
  readonly summary: string;
  /** The whole text of --help. */
  readonly help: string;
  /** Runs with the arguments after the name; resolves to the exit status. */
  run(args: string[]): Promise<number>;
}

export const EXIT_OK = 0;
/** The command worked, and found something wrong. */
export const EXIT_FAILED = 1;
/** The call was wrong. */
export const EXIT_USAGE = 2;

export class UsageError extends Error {
  override name = "UsageError";
}

export class CommandError extends OperatorError {
  override name = "CommandError";
}
