/** sideband keys create, list, change, revoke, accounts limit and usage: the operator's keys on the command line, and what they have written. */

import { TIER_LIMITS, TIERS } from "../../base/accounts.ts";
import { withThousands } from "../../base/limits.ts";
import type { AccountsAnswer, KeyView } from "../../contract/admin-schemas.ts";
import type { Static } from "../../contract/type.ts";
import { type OwnerClient, withOwner } from "../../main/owner.ts";
import { type Command, CommandError, defineCommand, EXIT_OK, oneOf, UsageError } from "../command.ts";
import { endMs, localTime } from "../moments.ts";
import { limitText, rightsText, table } from "../printed.ts";
import { configOf, DATA_HELP, JSON_HELP } from "../shared-options.ts";

const ID_LENGTH_MIN = 12;
const ACCOUNT_HELP = "  --account NAME  only this account";

interface KeyUsageView {
  readonly key_id: string;
  readonly account: string;
  readonly tier: string;
  readonly limit: number | null;
  readonly used_this_month: number;
  readonly days: readonly { readonly day: string; readonly count: number }[];
}

export const keysCreate: Command = defineCommand(
  {
    name: "keys create",
    summary: "create an API key; it is shown once",
    usage: `--account NAME [--tier TIER] [--expires TIME] [--user ID] [--access read|write]
                            [--groups LIST] [--write LABELS] [--note TEXT] [--json] [--data FOLDER]`,
    about: "Creates a key. Works beside a running service.",
    options: `  --account NAME  the account; it is created if it is new (a-z, 0-9, dot, underscore, hyphen)
  --tier TIER     how many facts it may write (default: SIDEBAND_KEY_TIER, else unlimited):
${TIERS.map((tier) => `                    ${tier.padEnd(10)}${limitText(TIER_LIMITS[tier])}`).join("\n")}
  --expires TIME  when the key expires: 2027-01-31 (at the end of that day), 1y, "31 Jan", or a time with its zone
                  (2027-01-31T12:00:00Z)
  --user ID       bind it to this user_id and its projects (default: all users of the account)
  --access WHAT   read or write (default write); a reading key cannot write or forget
  --groups LIST   only labels of these groups (USER,PREF), or all but those: --groups=-HEALTH,-HOME (default: all)
  --write LABELS  only these labels may be written, as in PREF.tone,LANG.* (default: all)
  --note TEXT     a note for the operator
${JSON_HELP}
${DATA_HELP}`,
    failures: "1 if it failed",
  },
  async ({ texts, print }) => {
    const { account, expires, user, groups, note } = texts;
    if (account === undefined) throw new UsageError("--account is needed");
    const tier = oneOf("tier", TIERS, texts.tier);
    const access = oneOf("access", ["read", "write"], texts.access) ?? "write";
    const expiresAt = expires === undefined ? undefined : new Date(endMs("--expires", expires)).toISOString();
    // What is undefined is not in the JSON.
    const write = texts.write?.split(",").map((label) => label.trim());
    const wanted = { account, tier, access, user, expires_at: expiresAt, note, groups, write };
    const created = await withOwner(configOf({ data: texts.data }), { create: true }, (owner) =>
      owner.json<{ key: string } & KeyView>("POST", "/admin/keys", wanted),
    );
    const isLimited = user !== undefined || access === "read" || groups !== undefined || write !== undefined;
    const rights = isLimited ? `; ${rightsText(created)}` : "";
    print(
      `key for account "${account}" (${created.tier}: ${limitText(TIER_LIMITS[created.tier])}${rights}), shown this once:\n` +
        `${created.key}\nid ${created.id}`,
      created,
    );
    return EXIT_OK;
  },
);

export const keysList: Command = defineCommand(
  {
    name: "keys list",
    summary: "list the keys, of one account or all",
    about: "Lists the keys with what each is for, and when it was last used.",
    options: [ACCOUNT_HELP, JSON_HELP, DATA_HELP].join("\n"),
    failures: "1 if it failed",
  },
  async ({ texts: { account, data }, print }) => {
    const keys = await withOwner(configOf({ data }), { create: false }, (owner) => fetchKeys(owner, account));
    print(keyTable(keys), { keys });
    return EXIT_OK;
  },
);

export const keysRevoke: Command = defineCommand(
  {
    name: "keys revoke",
    summary: "revoke a key, for good and at once",
    words: ["ID"],
    about: `ID is the key's id as "keys list" shows it, or the beginning of the id, or of the key itself: its first ${ID_LENGTH_MIN}
characters, if only one key has them.`,
    options: [JSON_HELP, DATA_HELP].join("\n"),
    failures: "1 if there is no such key",
  },
  async ({ words: [name], texts: { data }, print }) => {
    const revoked = await withOwner(configOf({ data }), { create: false }, async (owner) => {
      const { id } = await findKey(owner, name);
      return owner.json<KeyView>("POST", `/admin/keys/${id}/revoke`);
    });
    print(`revoked ${revoked.prefix}… of account "${revoked.account}"`, revoked);
    return EXIT_OK;
  },
);

export const keysChange: Command = defineCommand(
  {
    name: "keys change",
    summary: "change the tier of a key",
    words: ["ID"],
    about:
      'ID as for "keys revoke". What the key has used in this month counts. Other nodes know it within five seconds.',
    options: `  --tier TIER     how many facts it may write: ${TIERS.join(", ")}
${JSON_HELP}
${DATA_HELP}`,
    failures: "1 if there is no such key",
  },
  async ({ words: [name], texts, print }) => {
    const tier = oneOf("tier", TIERS, texts.tier);
    if (tier === undefined) throw new UsageError("--tier is needed");
    const changed = await withOwner(configOf({ data: texts.data }), { create: false }, async (owner) => {
      const { id } = await findKey(owner, name);
      return owner.json<KeyView>("PATCH", `/admin/keys/${id}`, { tier });
    });
    const limit = limitText(TIER_LIMITS[tier]);
    print(`${changed.prefix}… of account "${changed.account}" is ${tier}: ${limit}`, changed);
    return EXIT_OK;
  },
);

export const accountsLimit: Command = defineCommand(
  {
    name: "accounts limit",
    summary: "limit what all keys of an account write in a month together",
    words: ["ACCOUNT", "LIMIT"],
    about: `LIMIT is how many facts a month all keys of the account may write together, in place of what the tier of each allows; none
takes the limit away. What they have used in this month counts. Other nodes know it within five seconds.`,
    options: [JSON_HELP, DATA_HELP].join("\n"),
    failures: "1 if there is no such account",
  },
  async ({ words: [account, limit], texts: { data }, print }) => {
    if (limit !== "none" && !/^\d{1,12}$/.test(limit))
      throw new UsageError('LIMIT is a number of facts a month, or "none"');
    const monthlyLimit = limit === "none" ? null : Number(limit);
    const changed = await withOwner(configOf({ data }), { create: false }, (owner) =>
      owner.json<object>("PATCH", `/admin/accounts/${encodeURIComponent(account)}`, {
        monthly_limit: monthlyLimit,
      }),
    );
    const says = monthlyLimit === null ? "what their tiers allow" : limitText(monthlyLimit);
    print(`all keys of account "${account}" together: ${says}`, changed);
    return EXIT_OK;
  },
);

export const usage: Command = defineCommand(
  {
    name: "usage",
    summary: "encodes of each key this month, against its limit",
    about: `Prints for each key the encodes of this month and its limit. Where the account has a limit of all its keys together, that is
the one that counts, and what they have used of it is beside it.`,
    options: [ACCOUNT_HELP, `${JSON_HELP}, with the encodes of each of the last 31 days`, DATA_HELP].join(
      "\n",
    ),
    failures: "1 if it failed",
  },
  async ({ texts: { account, data }, print }) => {
    const [known, all, accounts] = await withOwner(
      configOf({ data }),
      { create: false },
      async (owner) =>
        [
          await fetchKeys(owner, account),
          (await owner.json<{ keys: KeyUsageView[] }>("GET", "/admin/usage")).keys,
          (await owner.json<Static<typeof AccountsAnswer>>("GET", "/admin/accounts")).accounts,
        ] as const,
    );
    const together = new Map(
      accounts.flatMap(({ account, used_this_month: used }) => (used === null ? [] : [[account, used]])),
    );
    const prefixes = new Map(known.map(({ id, prefix }) => [id, prefix]));
    const keys = all.filter(({ key_id }) => prefixes.has(key_id));
    const rows = keys.map(({ key_id, account, tier, limit, used_this_month }) => [
      account,
      `${prefixes.get(key_id)}…`,
      tier,
      withThousands(used_this_month),
      usedOf(limit, together.get(account)),
    ]);
    print(table(["account", "key", "tier", "this month", "limit"], rows), { keys });
    return EXIT_OK;
  },
);

/** @param together what all keys of the account have used, where the limit is theirs */
function usedOf(limit: number | null, together: number | undefined): string {
  if (limit === null) return "none";
  const used = together === undefined ? "" : ` for all keys, ${withThousands(together)} used`;
  return `${withThousands(limit)}${used}`;
}

/** By its id, or the beginning of one, or of the key itself. */
async function findKey(owner: OwnerClient, name: string): Promise<KeyView> {
  const isNamed = ({ id, prefix }: KeyView) =>
    id === name || prefix === name || (name.length >= ID_LENGTH_MIN && id.startsWith(name));
  const found = (await fetchKeys(owner)).filter(isNamed);
  if (found.length === 0) throw new CommandError(`there is no key ${name}`);
  if (found.length > 1) throw new CommandError(`${found.length} keys begin with ${name}: use the id`);
  return found[0];
}

/** As GET /admin/keys shows them. */
async function fetchKeys(owner: OwnerClient, account?: string): Promise<KeyView[]> {
  const query = account === undefined ? "" : `?account=${encodeURIComponent(account)}`;
  return (await owner.json<{ keys: KeyView[] }>("GET", `/admin/keys${query}`)).keys;
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
      localTime(created_at).slice(0, 10),
      last_used_at === null ? "never" : localTime(last_used_at).slice(0, 16),
    ];
  });
  return table(["id", "key", "account", "tier", "for", "state", "created", "last used"], rows);
}
