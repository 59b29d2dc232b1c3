/** Errors of the memory in the words of a terminal: the service speaks of requests, a person uses settings and options. */

import { isForAnotherUser, otherUserText } from "../agent-side/other-user.ts";
import { RefusedValueError } from "../agent-side/secrets.ts";
import { LABEL_FORM } from "../base/channel-labels.ts";
import { type AgentConfig, usesService } from "../config.ts";
import { typedWord } from "../main/typed-word.ts";
import { isSidebandError } from "../sdk/index.ts";
import { CommandError } from "./command.ts";
import { addLabelCommand, spokenCommand } from "./spoken-command.ts";

/** What a person has typed for a field of a request. */
const OPTION_OF: Readonly<Record<string, string>> = { to: "--to" };

/**
 * The error to throw instead.
 * @param words the arguments of the call: a label, if there is any, is the first
 * @param sameMemory the options of the call, for commands that are to mean the same memory
 */
export function memoryError(
  error: unknown,
  words: readonly string[],
  config: AgentConfig,
  sameMemory = "",
): unknown {
  if (isSidebandError(error, "connection_failed") && usesService(config) && config.apiUrl === undefined) {
    return new CommandError(
      `${error.message}, which is used because SIDEBAND_API_KEY is set: set SIDEBAND_API_URL to the address of the ` +
        "service, or name a data folder with --data",
    );
  }
  if (isSidebandError(error, "missing_key"))
    return new CommandError("the service asks for a key: set SIDEBAND_API_KEY to one");
  if (isForAnotherUser(error)) return new CommandError(otherUserText(config.userId));
  if (isSidebandError(error, "unknown_label")) {
    const question = error.hint === undefined ? "" : `. Did you mean ${error.hint}?`;
    return new CommandError(
      `there is no label ${words[0]}${question}\nall labels: ${spokenCommand()} labels${sameMemory}` +
        (LABEL_FORM.test(words[0]) ? `\na new one: ${addLabelCommand(words[0], sameMemory)}` : ""),
    );
  }
  if (isSidebandError(error, "invalid_value") && error.param === "item" && error.items !== undefined)
    return new CommandError(
      "with this item the list would be too long; " +
        `to remove one of its items: ${spokenCommand()} forget ${typedWord(words[0])} --item TEXT${sameMemory}`,
    );
  if (isSidebandError(error, "invalid_request") && error.param !== undefined && error.param in OPTION_OF)
    return new CommandError(error.message.replace(error.param, OPTION_OF[error.param]));
  if (error instanceof RefusedValueError) {
    const allow = error.code === "secret_refused" ? " SIDEBAND_ALLOW_SECRETS=1 lets it be stored." : "";
    return new CommandError(error.message + allow);
  }
  return error;
}
