/** sideband audit: who has changed keys, operators, labels, shared projects and settings, or erased something, a line for each. */

import type { AuditAnswer, AuditedChange } from "../../contract/answers.ts";
import { withOwner } from "../../main/owner.ts";
import { type Command, defineCommand, EXIT_OK, UsageError } from "../command.ts";
import { localTime, momentMs } from "../moments.ts";
import { configOf, DATA_HELP } from "../shared-options.ts";

const PAGE = "200";

export const audit: Command = defineCommand(
  {
    name: "audit",
    summary: "print who has changed keys, labels or settings, or erased something",
    about: `Prints a line for each change, the newest first: when, who, from where, what, and whose. Entries are kept for 400 days. They
have names and never a value; of a person who was erased the name is gone. Works beside a running service.`,
    options: `  --account NAME   only of this account
  --user ID        only by or about this user of the account, also after the user was erased
  --operation NAME only what has this name, such as forgetUser
  --since MOMENT   from then on, such as "yesterday 18:00" or "2h ago"
  --until MOMENT   before then
  --json           a JSON object on each line, as GET /admin/audit has it
${DATA_HELP}`,
    failures: "1 if it failed",
  },
  async ({ texts, flags }) => {
    const { account, user, operation, data } = texts;
    if (user !== undefined && account === undefined)
      throw new UsageError("--user needs --account: others may have a user of that name");
    const momentOf = (option: "since" | "until") => {
      const text = texts[option];
      return text === undefined ? undefined : new Date(momentMs(`--${option}`, text, "start")).toISOString();
    };
    const asked = { account, user, operation, since: momentOf("since"), until: momentOf("until") };
    const query = new URLSearchParams({ limit: PAGE });
    for (const [name, value] of Object.entries(asked)) if (value !== undefined) query.set(name, value);
    await withOwner(configOf({ data }), { create: false }, async (owner) => {
      for (let cursor: string | null = ""; cursor !== null; ) {
        const page: AuditAnswer = await owner.json("GET", `/admin/audit?${query}`);
        for (const entry of page.entries) console.log(flags.json ? JSON.stringify(entry) : entryLine(entry));
        cursor = page.next_cursor;
        if (cursor !== null) query.set("cursor", cursor);
      }
    });
    return EXIT_OK;
  },
);

function entryLine({ at, by, address, operation, account, of, erased = [] }: AuditedChange): string {
  const named = (name: string | null) => JSON.stringify(name ?? "(erased)");
  const who = [
    ...(by.operator === undefined ? [] : [`operator ${by.operator}`]),
    ...(by.key_id === undefined ? [] : [`key ${by.key_id}`]),
    ...(by.person === undefined ? [] : [`for ${named(by.person)}`]),
  ];
  const { members, ...names } = of;
  const what = Object.entries(names).map(([name, value]) => `${name}=${named(value)}`);
  return [
    localTime(at),
    operation,
    ...(account === null ? [] : [`account=${account}`]),
    ...what,
    ...(members === undefined ? [] : [`members=${members.map(named).join(",")}`]),
    `by ${who.join(" ") || "nobody known"}`,
    `from ${address ?? "this machine"}`,
    ...(erased.length > 0 ? [`erased ${erased.map((hash) => hash.slice(0, 12)).join(",")}`] : []),
  ].join("  ");
}
