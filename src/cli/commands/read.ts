/** sideband read: reads a block out of a file or standard input, with the keys of a data folder, and stores its facts again. */

import { readFileSync } from "node:fs";
import { basename } from "node:path";
import { parseArgs } from "node:util";
import { writerName } from "../../agent-side/written-by.ts";
import { ACCOUNT_DEFAULT } from "../../base/account.ts";
import type { ReadAnswer } from "../../contract/answers.ts";
import { withOwner } from "../../main/owner.ts";
import { type Command, EXIT_OK, UsageError } from "../command.ts";
import { configWith, DATA_HELP, DATA_OPTION } from "../data-option.ts";
import { repeatedOptions } from "../memory-options.ts";
import { counted } from "../printed.ts";
import { spokenCommand } from "../spoken-command.ts";

export const read: Command = {
  name: "read",
  summary: "read a block from a file or standard input",
  help: `usage: sideband read --user ID [--account NAME] [FILE] [--json]
       sideband read --restore ID [--account NAME] [FILE] [--json]

Reads a block from FILE or standard input. The block may be damaged, or inside other text. With --restore its facts are
stored for the user again, where they are others now; the command that takes that back is printed.

  --account NAME  the account it was made for (default "${ACCOUNT_DEFAULT}")
  --user ID       the user_id it was made for
  --restore ID    as --user, and store the facts
  --json          print one JSON object
${DATA_HELP}

Exit status: 0; 1 if it cannot be read; 2 for a wrong call.`,

  async run(args) {
    const { values, positionals } = parseArgs({
      args,
      allowPositionals: true,
      options: {
        account: { type: "string" },
        user: { type: "string" },
        restore: { type: "string" },
        json: { type: "boolean", default: false },
        ...DATA_OPTION,
      },
    });
    const { account = ACCOUNT_DEFAULT, user, restore } = values;
    const userId = restore ?? user;
    if (userId === undefined) throw new UsageError("--user or --restore is needed: whose block is it?");
    if (user !== undefined && restore !== undefined)
      throw new UsageError("--user reads and --restore stores: give one of them");
    if (positionals.length > 1) throw new UsageError("one FILE at most");
    const [file] = positionals;
    const block = readFileSync(file ?? 0, "utf8");
    const [reading, restored] = await withOwner(configWith(values.data), { create: false }, async (owner) => {
      const call: UserCall = (path, body) =>
        owner.json("POST", path, { user_id: userId, ...body }, { account });
      const answer = (await call("/read", { block })) as ReadAnswer;
      return [answer, restore === undefined ? undefined : await restoreFacts(call, answer.facts, file)];
    });
    const { facts, missing, wrong, repaired, guard_left } = reading;
    if (values.json)
      console.log(JSON.stringify({ facts, missing, wrong, repaired, guard_left, ...restored }));
    else {
      for (const { label, value } of facts) console.log(`${label}=${value}`);
      console.error(
        `${counted(missing, "word")} missing, ${wrong} wrong, ${repaired} repaired, ${guard_left} more could be lost`,
      );
    }
    if (restored !== undefined && !values.json)
      console.error(
        `${counted(restored.restored, "fact")} restored; undo: ${spokenCommand()} rollback --to ${restored.before}${repeatedOptions({ ...values, account, user: userId })}`,
      );
    return EXIT_OK;
  },
};

type UserCall = (path: string, body: object) => Promise<unknown>;

/** Stores the facts again. What is there already stays as it is, with its time and its writer. */
async function restoreFacts(call: UserCall, facts: ReadAnswer["facts"], file: string | undefined) {
  const before = new Date(Date.now() - 1).toISOString();
  const writer = writerName(`read: ${file === undefined ? "standard input" : basename(file)}`, "read");
  await call("/encode/batch", {
    facts: facts.map(({ label, value }) => ({ label, value })),
    written_by: writer,
  });
  return { restored: facts.length, before };
}
