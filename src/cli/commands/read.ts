/** sideband read: reads a block out of a file or standard input, with the keys of a data folder, and stores its facts again. */

import { readFileSync } from "node:fs";
import { basename } from "node:path";
import { writerName } from "../../agent-side/written-by.ts";
import { ACCOUNT_DEFAULT } from "../../base/accounts.ts";
import { CHANNEL_COUNT } from "../../base/limits.ts";
import { readAgentConfig, usesService } from "../../config.ts";
import type { ReadAnswer } from "../../contract/answers.ts";
import { withOwner } from "../../main/owner.ts";
import { type Command, defineCommand, EXIT_OK, UsageError } from "../command.ts";
import { counted } from "../printed.ts";
import { sidebandCommand } from "../printed-commands.ts";
import { configOf, DATA_HELP, JSON_HELP, repeatedOptions } from "../shared-options.ts";

export const read: Command = defineCommand(
  {
    name: "read",
    summary: "read a block from a file or standard input",
    words: ["[FILE]"],
    usage: "--user ID | --restore ID [--account NAME] [--json] [--data FOLDER]",
    about: `Reads a block from FILE or standard input. The block may be damaged, or inside other text. With --restore its facts are
stored for the user again, where they are others now; the command that takes that back is printed.`,
    options: `  --account NAME  the account it was made for (default "${ACCOUNT_DEFAULT}")
  --user ID       the user_id it was made for
  --restore ID    as --user, and store the facts
${JSON_HELP}
${DATA_HELP}`,
    failures: "1 if it cannot be read",
  },
  async ({ words: [file], texts: { account = ACCOUNT_DEFAULT, user, restore, data }, flags, print }) => {
    const userId = restore ?? user;
    if (userId === undefined) throw new UsageError("--user or --restore is needed: whose block is it?");
    if (user !== undefined && restore !== undefined)
      throw new UsageError("--user reads and --restore stores: give one of them");
    const block = readFileSync(file ?? 0, "utf8");
    const config = configOf({ data });
    const [reading, restored] = await withOwner(config, { create: false }, async (owner) => {
      const call: UserCall = (path, body) =>
        owner.json("POST", path, { user_id: userId, ...body }, { account });
      const answer = (await call("/read", { block })) as ReadAnswer;
      return [answer, restore === undefined ? undefined : await restoreFacts(call, answer.facts, file)];
    });
    const { facts, missing, wrong, repaired, guard_left } = reading;
    const lines = facts.map(({ label, value }) => `${label}=${value}`);
    print(lines.join("\n"), { facts, missing, wrong, repaired, guard_left, ...restored });
    if (flags.json) return EXIT_OK;
    console.error(
      `${counted(missing, "word")} missing, ${wrong} wrong, ${repaired} repaired, ${guard_left} more could be lost`,
    );
    if (restored === undefined) return EXIT_OK;
    // Where a service is set, the command must name the folder that this one has used.
    const folder = data ?? (usesService(readAgentConfig()) ? config.dataFolder : undefined);
    const sameMemory = repeatedOptions({ texts: { user: userId, data: folder, account } });
    console.error(
      `${counted(restored.restored, "fact")} restored; undo: ${sidebandCommand()} rollback --to ${restored.before}${sameMemory}`,
    );
    return EXIT_OK;
  },
);

type UserCall = (path: string, body: object) => Promise<unknown>;

/** Stores the facts again. What is there already stays as it is, with its time and its writer. */
async function restoreFacts(call: UserCall, facts: ReadAnswer["facts"], file: string | undefined) {
  const before = new Date(Date.now() - 1).toISOString();
  const writer = writerName(`read: ${file === undefined ? "standard input" : basename(file)}`, "read");
  const restored = facts.map(({ label, value }) => ({ label, value }));
  for (let i = 0; i < restored.length; i += CHANNEL_COUNT)
    await call("/encode/batch", {
      facts: restored.slice(i, i + CHANNEL_COUNT),
      // The label of a fact that was forgotten for good is made again.
      new_label: "certain",
      written_by: writer,
    });
  return { restored: facts.length, before };
}
