/** sideband keys create, list, revoke: the operator's keys on the command line. */

import { parseArgs } from "node:util";
import { momentOf } from "../../base/clock.ts";
import { TIER_LIMITS, TIERS, type Tier } from "../../base/tiers.ts";
import type { KeyView } from "../../contract/admin-schemas.ts";
import { type OwnerClient, withOwner } from "../../main/owner.ts";
import { type Command, CommandError, EXIT_OK, UsageError } from "../command.ts";
import { configWith, DATA_HELP, DATA_OPTION } from "../data-option.ts";
import { limitText, table } from "../printed.ts";

const ID_LENGTH_MIN = 12;

export const keysCreate: Command = {
  name: "keys create",
  summary: "create an API key; it is shown once",
  help: `usage: sideband keys create --account NAME [--tier TIER] [--expires TIME] [--user ID] [--access read|write]
                            [--note TEXT] [--json]

  --account NAME  the account; it is created if it is new (a-z, 0-9, dot, underscore, hyphen)
  --tier TIER     how many facts it may write (default free):
${TIERS.map((tier) => `                    ${tier.padEnd(10)}${limitText(TIER_LIMITS[tier])}`).join("\n")}
  --expires TIME  when the key expires: a day (2027-01-31, from its midnight UTC on), or a time with its zone
                  (2027-01-31T12:00:00Z)
  --user ID       bind it to this user_id and its projects (default: all users of the account)
  --access WHAT   read or write (default write); a reading key cannot write or forget
  --note TEXT     a note for the operator
  --json          print one JSON object
${DATA_HELP}

Works beside a running service. Exit status: 0; 1 if it failed; 2 for a wrong call.`,

  async run(args) {
    const { values } = parseArgs({
      args,
      options: {
        account: { type: "string" },
        tier: { type: "string", default: "free" },
        expires: { type: "string" },
        user: { type: "string" },
        access: { type: "string", default: "write" },
        note: { type: "string" },
        json: { type: "boolean", default: false },
        ...DATA_OPTION,
      },
    });
    const { account, tier, expires, user, access, note } = values;
    if (account === undefined) throw new UsageError("--account is needed");
    if (!TIERS.includes(tier as Tier)) throw new UsageError(`--tier takes one of ${TIERS.join(", ")}`);
    if (access !== "read" && access !== "write") throw new UsageError("--access takes read or write");
    if (expires !== undefined && momentOf(expires) === undefined)
      throw new UsageError(
        "--expires takes a day (2027-01-31) or a time with its zone (2027-01-31T12:00:00Z)",
      );
    const wanted = {
      account,
      tier,
      access,
      ...(user === undefined ? {} : { user }),
      ...(expires === undefined ? {} : { expires_at: expires }),
      ...(note === undefined ? {} : { note }),
    };
    const created = await withOwner(configWith(values.data), { create: true }, (owner) =>
      owner.json<{ key: string } & KeyView>("POST", "/admin/keys", wanted),
    );
    const isLimited = user !== undefined || access === "read";
    if (values.json) console.log(JSON.stringify(created));
    else
      console.log(
        `key for account "${account}" (${tier}: ${limitText(TIER_LIMITS[tier as Tier])}` +
          `${isLimited ? `; ${rightsText(created)}` : ""}), shown this once:\n${created.key}\nid ${created.id}`,
      );
    return EXIT_OK;
  },
};

export const keysList: Command = {
  name: "keys list",
  summary: "list the keys, of one account or all",
  help: `usage: sideband keys list [--account NAME] [--json]

  --account NAME  only this account
  --json          print one JSON object
${DATA_HELP}

Exit status: 0; 1 if it failed; 2 for a wrong call.`,

  async run(args) {
    const options = {
      account: { type: "string" },
      json: { type: "boolean", default: false },
      ...DATA_OPTION,
    } as const;
    const { values } = parseArgs({ args, options });
    const keys = await withOwner(configWith(values.data), { create: false }, (owner) =>
      fetchKeys(owner, values.account),
    );
    if (values.json) console.log(JSON.stringify({ keys }));
    else console.log(keyTable(keys));
    return EXIT_OK;
  },
};

export const keysRevoke: Command = {
  name: "keys revoke",
  summary: "revoke a key, for good and at once",
  help: `usage: sideband keys revoke ID [--json]

ID is the key's id as "keys list" shows it, or the beginning of the id, or of the key itself: its first ${ID_LENGTH_MIN}
characters, if only one key has them.

  --json          print one JSON object
${DATA_HELP}

Exit status: 0; 1 if there is no such key; 2 for a wrong call.`,

  async run(args) {
    const options = { json: { type: "boolean", default: false }, ...DATA_OPTION } as const;
    const { values, positionals } = parseArgs({ args, options, allowPositionals: true });
    const [name] = positionals;
    if (positionals.length !== 1) throw new UsageError("one ID is needed");
    const revoked = await withOwner(configWith(values.data), { create: false }, async (owner) => {
      const isNamed = ({ id, prefix }: KeyView) =>
        id === name || prefix === name || (name.length >= ID_LENGTH_MIN && id.startsWith(name));
      const found = (await fetchKeys(owner)).filter(isNamed);
      if (found.length === 0) throw new CommandError(`there is no key ${name}`);
      if (found.length > 1) throw new CommandError(`${found.length} keys begin with ${name}: use the id`);
      return owner.json<KeyView>("POST", `/admin/keys/${found[0].id}/revoke`);
    });
    console.log(
      values.json ? JSON.stringify(revoked) : `revoked ${revoked.prefix}… of account "${revoked.account}"`,
    );
    return EXIT_OK;
  },
};

/** As GET /admin/keys shows them. */
export async function fetchKeys(owner: OwnerClient, account?: string): Promise<KeyView[]> {
  const query = account === undefined ? "" : `?account=${encodeURIComponent(account)}`;
  return (await owner.json<{ keys: KeyView[] }>("GET", `/admin/keys${query}`)).keys;
}

/** Whose facts a key is for, and what it may do with them. */
function rightsText({ user, access }: Pick<KeyView, "user" | "access">): string {
  return `${user === null ? "all users" : `user ${JSON.stringify(user)}`}${access === "read" ? ", reads only" : ""}`;
}

function keyTable(keys: readonly KeyView[]): string {
  const rows = keys.map((key) => {
    const { id, prefix, account, tier, created_at, expires_at, revoked_at, last_used_at } = key;
    const state =
      revoked_at !== null
        ? "revoked"
        : expires_at !== null && Date.parse(expires_at) <= Date.now()
          ? "expired"
          : "active";
    return [
      id,
      `${prefix}…`,
      account,
      tier,
      rightsText(key),
      state,
      created_at.slice(0, 10),
      last_used_at?.slice(0, 16) ?? "never",
    ];
  });
  return table(["id", "key", "account", "tier", "for", "state", "created", "last used"], rows);
}
