/** sideband verify-receipt: whether the service that owns a data folder, or uses a database, has made a receipt. */

import { readFileSync } from "node:fs";
import type { Receipt } from "../../contract/answers.ts";
import { withOwner } from "../../main/owner.ts";
import { type Command, CommandError, defineCommand, EXIT_FAILED, EXIT_OK } from "../command.ts";
import { counted } from "../printed.ts";
import { configOf, DATA_HELP, JSON_HELP } from "../shared-options.ts";

export const verifyReceipt: Command = defineCommand(
  {
    name: "verify-receipt",
    summary: "check the receipt of an erasure",
    words: ["FILE"],
    about: `FILE has the answer of DELETE /users with details=true, or the receipt in it; - is standard input. A receipt is genuine
if this service has made it and nothing in it was changed since. It is checked with the master key that it names, also with one
that is kept for old blocks.`,
    options: [JSON_HELP, DATA_HELP].join("\n"),
    failures: "1 if the receipt is not genuine, or its master key is not here",
  },
  async ({ words: [file], texts: { data }, print }) => {
    const receipt = receiptIn(file === "-" ? 0 : file!);
    const { genuine, key_known: isKnown } = await withOwner(configOf({ data }), { create: false }, (owner) =>
      owner.json<{ genuine: boolean; key_known: boolean }>("POST", "/operator/verify-receipt", receipt),
    );
    const line = genuine
      ? `genuine: ${erasedText(receipt)}`
      : isKnown
        ? "not genuine: this service has not made it, or it was changed"
        : `the master key ${receipt.key}, which it names, is not here: the receipt cannot be checked`;
    print(line, { genuine, key_known: isKnown });
    return genuine ? EXIT_OK : EXIT_FAILED;
  },
);

/** What a receipt says. */
function erasedText(receipt: Receipt): string {
  const { user_id, project, facts, earlier, labels, places, connections, keys_left } = receipt;
  const whose = `${user_id}${project === null ? "" : ` in ${project}`} (${receipt.account})`;
  const what = [
    `${counted(facts, "fact")} and ${counted(earlier, "earlier value")}`,
    `${counted(labels, "label")} at ${counted(places, "place")}`,
    ...(project === null ? [counted(connections, "connected application")] : []),
  ];
  const left = [
    ...(keys_left > 0 ? [`${counted(keys_left, "key")} bound to the user until revoked`] : []),
    `tokens until ${receipt.tokens_until}`,
    receipt.backups_until === null
      ? "no backups of the service's own"
      : `backups until ${receipt.backups_until}`,
  ];
  return `${what.join(", ")} of ${whose} were erased, ${receipt.erased_at}; left: ${left.join(", ")}`;
}

function receiptIn(file: string | 0): Receipt {
  let found: { readonly receipt?: Receipt } & Partial<Receipt>;
  try {
    found = JSON.parse(readFileSync(file, "utf8"));
  } catch (error) {
    throw new CommandError(`the receipt cannot be read: ${(error as Error).message}`);
  }
  const receipt = found?.receipt ?? found;
  if (typeof receipt?.signature !== "string")
    throw new CommandError("there is no receipt in it: it has an account, a user_id and a signature");
  return receipt as Receipt;
}
