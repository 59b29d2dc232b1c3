/** sideband usage: encodes of each key against its limit. */

import { parseArgs } from "node:util";
import { withCore } from "../../main.ts";
import { type Command, EXIT_OK } from "../command.ts";
import { configWith, DATA_HELP, DATA_OPTION } from "../data-option.ts";

export const usage: Command = {
  name: "usage",
  summary: "encodes of each key this month, against its limit",
  help: `usage: sideband usage [--account NAME] [--json]

  --account NAME  only this account
  --json          print one JSON object, with the encodes of each of the last 31 days
${DATA_HELP}

Exit status: 0; 1 if it failed; 2 for a wrong call.`,

  async run(args) {
    const options = {
      account: { type: "string" },
      json: { type: "boolean", default: false },
      ...DATA_OPTION,
    } as const;
    const { values } = parseArgs({ args, options });
    const { account } = values;
    const rows = await withCore(configWith(values.data), (core) =>
      core.desk.usage({ ...core.desk.recentDays(), ...(account === undefined ? {} : { account }) }),
    );
    if (values.json) {
      const keys = rows.map(({ key, limit, usedThisMonth, days }) => ({
        key_id: key.id,
        account: key.account,
        tier: key.tier,
        limit,
        used_this_month: usedThisMonth,
        days,
      }));
      console.log(JSON.stringify({ keys }));
    } else {
      for (const { key, limit, usedThisMonth } of rows) {
        console.log(
          `${key.account}  ${key.prefix}…  ${key.tier}  ${usedThisMonth} of ${limit ?? "any number"}`,
        );
      }
    }
    return EXIT_OK;
  },
};
