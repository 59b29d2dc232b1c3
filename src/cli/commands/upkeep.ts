/** sideband backup create, verify, restore, and verify, compact: looking after a data folder. */

import { randomUUID } from "node:crypto";
import { resolve } from "node:path";
import type { Config } from "../../config.ts";
import { requireBackup, restoreBackup } from "../../main/backup.ts";
import { type OwnerClient, withOwner } from "../../main/owner.ts";
import { type Call, type Command, defineCommand, EXIT_FAILED, EXIT_OK } from "../command.ts";
import { counted, ProgressLine } from "../printed.ts";
import { configOf, DATA_HELP, JSON_HELP } from "../shared-options.ts";

export const backupCreate: Command = defineCommand(
  {
    name: "backup create",
    summary: "copy the data folder, consistently, while the server runs",
    words: ["FOLDER"],
    about: `Copies the data folder to FOLDER, which must be empty or new. The copy is a data folder itself: "sideband backup
restore" copies it back, and "sideband serve --data FOLDER" serves it. A running service makes the copy, so it must be able
to write to FOLDER.`,
    options: `  --without-master-key  leave master.key out; blocks handed out so far cannot be read without it
${DATA_HELP}`,
    failures: "1 if it failed, or if damaged records are in the backup",
  },
  async ({ words: [target], texts: { data }, flags }) => {
    const config = configOf({ data });
    const wanted = { folder: resolve(target), without_master_key: flags["without-master-key"] === true };
    const { entries, damaged } = await withOwner(config, { create: false }, (owner) =>
      longWork<{ entries: number; damaged: string[] }>(owner, "/operator/backup", wanted, "entries"),
    );
    for (const record of damaged) console.error(`the record ${record} fails its checksum, in the backup too`);
    console.log(`backed up ${counted(entries, "entry", "entries")} of ${config.dataFolder} to ${target}`);
    return damaged.length === 0 ? EXIT_OK : EXIT_FAILED;
  },
);

const VERIFIED = `Builds every user's block, reads it back with the reader model and compares every fact. Then it checks the
checksum of every record.`;

export const backupVerify: Command = defineCommand(
  {
    name: "backup verify",
    summary: "read everything in a backup, and compare",
    words: ["BACKUP"],
    about: `${VERIFIED} BACKUP must be writable, because the command locks it. One without its
master.key needs SIDEBAND_MASTER_KEY.`,
    options: JSON_HELP,
    failures: "1 if something is wrong, with a line for it",
  },
  async (call) => {
    const [folder] = call.words;
    requireBackup(folder);
    const config = configOf({ data: folder }, { SIDEBAND_DATABASE_URL: "" });
    // Nobody else asks this process: no file with a token is made in the backup.
    return verify({ ...config, adminToken: randomUUID() }, call);
  },
);

export const backupRestore: Command = defineCommand(
  {
    name: "backup restore",
    summary: "make a data folder out of a backup",
    words: ["BACKUP"],
    about:
      "Copies BACKUP into the data folder, which must be empty or new, and which nobody may use meanwhile.",
    options: DATA_HELP,
    failures: "1 if it failed",
  },
  async ({ words: [backup], texts: { data } }) => {
    const { dataFolder } = configOf({ data });
    restoreBackup(backup, dataFolder);
    console.log(`restored ${backup} to ${dataFolder}`);
    return EXIT_OK;
  },
);

export const verifyCommand: Command = defineCommand(
  {
    name: "verify",
    summary: "rebuild and read back every block, and compare",
    about: `${VERIFIED} Works beside a running service, and on a standby of PostgreSQL.`,
    options: `  --account NAME  only this account
${JSON_HELP}
${DATA_HELP}`,
    failures: "1 if something is wrong, with a line for it",
  },
  async (call) => verify(configOf({ data: call.texts.data }), call),
);

async function verify(config: Config, { texts: { account }, print }: Call): Promise<number> {
  const report = await withOwner(config, { create: false, readOnly: true }, (owner) =>
    longWork<VerifyAnswer>(owner, "/operator/verify", { account }, "users"),
  );
  const { users, facts, overflowed, findings } = report;
  const faults = findings.map(({ account: owner, userId, fault }) =>
    owner === "" ? fault : `${owner} ${userId}: ${fault}`,
  );
  const verdict = findings.length === 0 ? "all read back exactly" : counted(findings.length, "fault");
  const checked = `${counted(users, "user")}, ${counted(facts, "fact")}`;
  const last = `${checked}, ${overflowed} did not fit into their block: ${verdict}`;
  print([...faults, last].join("\n"), { users, facts, overflowed, findings });
  return findings.length === 0 ? EXIT_OK : EXIT_FAILED;
}

export const compact: Command = defineCommand(
  {
    name: "compact",
    summary: "rewrite the store without what was forgotten",
    about: `Writes the current data into a new file and removes the old one. It is safe while the service runs: the service answers
requests meanwhile, and finishes the work even if this command is ended.`,
    options: `${JSON_HELP}
${DATA_HELP}`,
    failures: "1 if it failed or one is running already",
  },
  async ({ texts: { data }, print }) => {
    const report = await withOwner(configOf({ data }), { create: false }, (owner) =>
      longWork<CompactAnswer>(owner, "/operator/compact", {}, "entries"),
    );
    const { entries, beforeBytes, afterBytes, durationMs } = report;
    print(
      `${counted(entries, "entry", "entries")}, ${beforeBytes} bytes before, ${afterBytes} after, ${durationMs} ms`,
      { entries, before_bytes: beforeBytes, after_bytes: afterBytes, duration_ms: durationMs },
    );
    return EXIT_OK;
  },
);

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
