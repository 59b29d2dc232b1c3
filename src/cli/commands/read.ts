/** sideband read: reads a block out of a file or standard input, with the keys of a data folder. */

import { readFileSync } from "node:fs";
import { parseArgs } from "node:util";
import type { ReadAnswer } from "../../contract/answers.ts";
import { withOwner } from "../../main/owner.ts";
import { type Command, EXIT_OK, UsageError } from "../command.ts";
import { configWith, DATA_HELP, DATA_OPTION } from "../data-option.ts";
import { counted } from "../printed.ts";

export const read: Command = {
  name: "read",
  summary: "read a block from a file or standard input",
  help: `usage: sideband read --account NAME --user ID [FILE] [--json]

Reads a block from FILE or standard input. The block may be damaged, or inside other text.

  --account NAME  the account it was made for
  --user ID       the user_id it was made for
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
        json: { type: "boolean", default: false },
        ...DATA_OPTION,
      },
    });
    const { account, user } = values;
    if (account === undefined || user === undefined) throw new UsageError("--account and --user are needed");
    if (positionals.length > 1) throw new UsageError("one FILE at most");
    const block = readFileSync(positionals[0] ?? 0, "utf8");
    const reading = await withOwner(configWith(values.data), { create: false }, (owner) =>
      owner.json<ReadAnswer>("POST", "/read", { user_id: user, block }, { account }),
    );
    const { facts, missing, wrong, repaired, guard_left } = reading;
    if (values.json) console.log(JSON.stringify({ facts, missing, wrong, repaired, guard_left }));
    else {
      for (const { label, value } of facts) console.log(`${label}=${value}`);
      console.error(
        `${counted(missing, "word")} missing, ${wrong} wrong, ${repaired} repaired, ${guard_left} more could be lost`,
      );
    }
    return EXIT_OK;
  },
};
