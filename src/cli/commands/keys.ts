/** sideband keys create, list, revoke: the operator's desk on the command line. */

import { parseArgs } from "node:util";
import { type Core, withCore, withNewCore } from "../../main.ts";
import { type Command, CommandError, EXIT_OK, UsageError } from "../command.ts";
import { configWith, DATA_HELP, DATA_OPTION } from "../data-option.ts";

const TIERS = ["free", "pro", "builder", "unlimited"] as const;
type Tier = (typeof TIERS)[number];
type KeyRecord = Awaited<ReturnType<Core["desk"]["list"]>>[number];

export const keysCreate: Command = {
  name: "keys create",
  summary: "create an API key; it is shown once",
  help: `usage: sideband keys create --account NAME [--tier TIER] [--expires TIME] [--note TEXT] [--json]

  --account NAME  the account; made when it is new (a-z, 0-9, dot, underscore, hyphen)
  --tier TIER     free, pro, builder or unlimited (default free)
  --expires TIME  when the key expires, as in 2027-01-31 or 2027-01-31T12:00:00Z
  --note TEXT     for the operator's eyes
  --json          print one JSON object
${DATA_HELP}

Works beside a running server. Exit status: 0; 1 if it failed; 2 for a wrong call.`,

  async run(args) {
    const { values } = parseArgs({
      args,
      options: {
        account: { type: "string" },
        tier: { type: "string", default: "free" },
        expires: { type: "string" },
        note: { type: "string" },
        json: { type: "boolean", default: false },
        ...DATA_OPTION,
      },
    });
    const { account, tier, expires, note } = values;
    if (account === undefined) throw new UsageError("--account is needed");
    if (!TIERS.includes(tier as Tier)) throw new UsageError(`--tier takes one of ${TIERS.join(", ")}`);
    const expiresAtMs = expires === undefined ? null : Date.parse(expires);
    if (Number.isNaN(expiresAtMs)) throw new UsageError("--expires takes a time such as 2027-01-31");
    const { key, record } = await withNewCore(configWith(values.data), (core) =>
      core.desk.create({ account, tier: tier as Tier, expiresAtMs, note }),
    );
    if (values.json) console.log(JSON.stringify({ key, ...view(record) }));
    else console.log(`key for account "${account}" (${tier}), shown this once:\n${key}\nid ${record.id}`);
    return EXIT_OK;
  },
};

export const keysList: Command = {
  name: "keys list",
  summary: "list the keys, of one account or all",
  help: `usage: sideband keys list [--account NAME] [--json]

${DATA_HELP}

Exit status: 0; 1 if it failed; 2 for a wrong call.`,

  async run(args) {
    const options = {
      account: { type: "string" },
      json: { type: "boolean", default: false },
      ...DATA_OPTION,
    } as const;
    const { values } = parseArgs({ args, options });
    const keys = await withCore(configWith(values.data), (core) => core.desk.list(values.account));
    if (values.json) console.log(JSON.stringify({ keys: keys.map(view) }));
    else console.log(table(keys));
    return EXIT_OK;
  },
};

export const keysRevoke: Command = {
  name: "keys revoke",
  summary: "revoke a key, for good and at once",
  help: `usage: sideband keys revoke ID [--json]

ID is the key's id as "keys list" shows it, or its first 12 characters where only one key has them.
${DATA_HELP}

Exit status: 0; 1 if there is no such key; 2 for a wrong call.`,

  async run(args) {
    const options = { json: { type: "boolean", default: false }, ...DATA_OPTION } as const;
    const { values, positionals } = parseArgs({ args, options, allowPositionals: true });
    const [name] = positionals;
    if (positionals.length !== 1) throw new UsageError("one ID is needed");
    const record = await withCore(configWith(values.data), async (core) => {
      const found = (await core.desk.list()).filter(({ id, prefix }) => id === name || prefix === name);
      if (found.length === 0) throw new CommandError(`there is no key ${name}`);
      if (found.length > 1) throw new CommandError(`${found.length} keys begin with ${name}: use the id`);
      return core.desk.revoke(found[0].id);
    });
    console.log(
      values.json ? JSON.stringify(view(record)) : `revoked ${record.prefix}… of account "${record.account}"`,
    );
    return EXIT_OK;
  },
};

function view({ hash: _, createdAtMs, expiresAtMs, revokedAtMs, lastUsedAtMs, ...rest }: KeyRecord) {
  const text = (ms: number | null) => (ms === null ? null : new Date(ms).toISOString());
  return {
    ...rest,
    created_at: text(createdAtMs),
    expires_at: text(expiresAtMs),
    revoked_at: text(revokedAtMs),
    last_used_at: text(lastUsedAtMs),
  };
}

function table(keys: readonly KeyRecord[]): string {
  const rows = keys.map((key) => {
    const { id, prefix, account, tier, created_at, expires_at, revoked_at, last_used_at } = view(key);
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
      state,
      created_at?.slice(0, 10) ?? "",
      last_used_at?.slice(0, 16) ?? "never",
    ];
  });
  const all = [["id", "key", "account", "tier", "state", "created", "last used"], ...rows];
  const widths = all[0].map((_, column) => Math.max(...all.map((row) => row[column].length)));
  return all
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column]))
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
}
