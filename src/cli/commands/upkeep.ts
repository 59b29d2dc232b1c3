/** sideband backup, restore, verify, compact: looking after a data folder. */

import { resolve } from "node:path";
import { parseArgs } from "node:util";
import { restore } from "../../main/backup.ts";
import { type OwnerClient, withOwner } from "../../main/owner.ts";
import { type Command, EXIT_FAILED, EXIT_OK, UsageError } from "../command.ts";
import { configWith, DATA_HELP, DATA_OPTION } from "../data-option.ts";
import { counted } from "../printed.ts";
import { ProgressLine } from "../progress.ts";

export const backup: Command = {
  name: "backup",
  summary: "copy the data folder, consistently, while the server runs",
  help: `usage: sideband backup FOLDER [--without-master-key]

Copies the data folder to FOLDER, which must be empty or new. The copy is a data folder itself: "sideband restore" copies
it back, and "sideband serve --data FOLDER" serves it. A running service makes the copy, so it must be able to write to
FOLDER.

  --without-master-key  leave master.key out; blocks handed out so far cannot be read without it
${DATA_HELP}

Exit status: 0; 1 if it failed, or if damaged records are in the backup; 2 for a wrong call.`,

  async run(args) {
    const options = { "without-master-key": { type: "boolean", default: false }, ...DATA_OPTION } as const;
    const { values, positionals } = parseArgs({ args, options, allowPositionals: true });
    const [target] = positionals;
    if (positionals.length !== 1) throw new UsageError("one FOLDER is needed");
    const config = configWith(values.data);
    const wanted = { folder: resolve(target), without_master_key: values["without-master-key"] };
    const { entries, damaged } = await withOwner(config, { create: false }, (owner) =>
      longWork<{ entries: number; damaged: string[] }>(owner, "/operator/backup", wanted, "entries"),
    );
    for (const record of damaged) console.error(`the record ${record} fails its checksum, in the backup too`);
    console.log(`backed up ${counted(entries, "entry", "entries")} of ${config.dataFolder} to ${target}`);
    return damaged.length === 0 ? EXIT_OK : EXIT_FAILED;
  },
};

/** The part of "sideband restore" that makes a data folder out of a backup. */
export async function restoreBackup(args: string[]): Promise<number> {
  const { values, positionals } = parseArgs({ args, options: DATA_OPTION, allowPositionals: true });
  if (positionals.length !== 1) throw new UsageError("one BACKUP, or LABEL and REVISION, are needed");
  const { dataFolder } = configWith(values.data);
  restore(positionals[0], dataFolder);
  console.log(`restored ${positionals[0]} to ${dataFolder}`);
  return EXIT_OK;
}

export const verifyCommand: Command = {
  name: "verify",
  summary: "rebuild and read back every block, and compare",
  help: `usage: sideband verify [--account NAME] [--json]

Builds every user's block, reads it back with the reader model and compares every fact. Then it checks the
checksum of every record. Works beside a running service, and on a standby of PostgreSQL.

  --account NAME  only this account
  --json          print one JSON object
${DATA_HELP}

Exit status: 0 if everything is right; 1 if something is wrong, with a line for it; 2 for a wrong call.`,

  async run(args) {
    const options = {
      account: { type: "string" },
      json: { type: "boolean", default: false },
      ...DATA_OPTION,
    } as const;
    const { values } = parseArgs({ args, options });
    const { account } = values;
    const report = await withOwner(configWith(values.data), { create: false, readOnly: true }, (owner) =>
      longWork<VerifyAnswer>(owner, "/operator/verify", account === undefined ? {} : { account }, "users"),
    );
    const { users, facts, overflowed, findings } = report;
    if (values.json) console.log(JSON.stringify({ users, facts, overflowed, findings }));
    else {
      for (const { account: owner, userId, fault } of findings) {
        console.log(owner === "" ? fault : `${owner} ${userId}: ${fault}`);
      }
      const verdict = findings.length === 0 ? "all read back exactly" : counted(findings.length, "fault");
      const checked = `${counted(users, "user")}, ${counted(facts, "fact")}`;
      console.log(`${checked}, ${overflowed} did not fit into their block: ${verdict}`);
    }
    return findings.length === 0 ? EXIT_OK : EXIT_FAILED;
  },
};

export const compact: Command = {
  name: "compact",
  summary: "rewrite the store without what was forgotten",
  help: `usage: sideband compact [--json]

Writes the current data into a new file and removes the old one. It is safe while the service runs: the service answers
requests meanwhile, and finishes the work even if this command is ended.

  --json   print one JSON object
${DATA_HELP}

Exit status: 0; 1 if it failed or one is running already; 2 for a wrong call.`,

  async run(args) {
    const options = { json: { type: "boolean", default: false }, ...DATA_OPTION } as const;
    const { values } = parseArgs({ args, options });
    const report = await withOwner(configWith(values.data), { create: false }, (owner) =>
      longWork<CompactAnswer>(owner, "/operator/compact", {}, "entries"),
    );
    const { entries, beforeBytes, afterBytes, durationMs } = report;
    if (values.json)
      console.log(
        JSON.stringify({
          entries,
          before_bytes: beforeBytes,
          after_bytes: afterBytes,
          duration_ms: durationMs,
        }),
      );
    else
      console.log(
        `${counted(entries, "entry", "entries")}, ${beforeBytes} bytes before, ${afterBytes} after, ${durationMs} ms`,
      );
    return EXIT_OK;
  },
};

interface CompactAnswer {
  readonly entries: number;
  readonly beforeBytes: number;
  readonly afterBytes: number;
  readonly durationMs: number;
}

interface VerifyAnswer {
  readonly users: number;
  readonly facts: number;
  readonly overflowed: number;
  readonly findings: readonly { readonly account: string; readonly userId: string; readonly fault: string }[];
}

async function longWork<T>(owner: OwnerClient, path: string, body: object, unit: string): Promise<T> {
  const progress = new ProgressLine(unit);
  try {
    return await owner.work<T>(path, body, (done, total) => progress.reach(done, total));
  } finally {
    progress.end();
  }
}
