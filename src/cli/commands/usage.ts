/** sideband usage: encodes of each key against its limit. */

import { parseArgs } from "node:util";
import { withThousands } from "../../base/thousands.ts";
import { withOwner } from "../../main/owner.ts";
import { type Command, EXIT_OK } from "../command.ts";
import { configWith, DATA_HELP, DATA_OPTION } from "../data-option.ts";
import { table } from "../printed.ts";
import { fetchKeys } from "./keys.ts";

interface KeyUsageView {
  readonly key_id: string;
  readonly account: string;
  readonly tier: string;
  readonly limit: number | null;
  readonly used_this_month: number;
  readonly days: readonly { readonly day: string; readonly count: number }[];
}

export const usage: Command = {
  name: "usage",
  summary: "encodes of each key this month, against its limit",
  help: `usage: sideband usage [--account NAME] [--json]

Prints for each key the encodes of this month and its limit.

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
    const { keys, prefixes } = await withOwner(configWith(values.data), { create: false }, async (owner) => {
      const { keys: all } = await owner.json<{ keys: KeyUsageView[] }>("GET", "/admin/usage");
      const known = await fetchKeys(owner, values.account);
      const prefixOf = new Map(known.map(({ id, prefix }) => [id, prefix]));
      return { keys: all.filter(({ key_id }) => prefixOf.has(key_id)), prefixes: prefixOf };
    });
    if (values.json) console.log(JSON.stringify({ keys }));
    else {
      const rows = keys.map(({ key_id, account, tier, limit, used_this_month }) => [
        account,
        `${prefixes.get(key_id)}…`,
        tier,
        withThousands(used_this_month),
        limit === null ? "none" : withThousands(limit),
      ]);
      console.log(table(["account", "key", "tier", "this month", "limit"], rows));
    }
    return EXIT_OK;
  },
};
