/** sideband backup create, verify, restore, and verify, compact: looking after a data folder. */

import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { momentOf } from "../../base/clock.ts";
import type { Config } from "../../config.ts";
import { readBackupNote, requireBackup, restoreBackup } from "../../main/backup.ts";
import { ERASURES_FILE, erasedSince, type ListPosition, listBehind } from "../../main/erasure-list.ts";
import { type OwnerClient, withOwner } from "../../main/owner.ts";
import { hasMasterKey, missingMasterKey } from "../../main/secrets.ts";
import { type Call, type Command, defineCommand, EXIT_FAILED, EXIT_OK, UsageError } from "../command.ts";
import { counted, ProgressLine } from "../printed.ts";
import { configOf, DATA_HELP, JSON_HELP } from "../shared-options.ts";

export const backupCreate: Command = defineCommand(
  {
    name: "backup create",
    summary: "copy the data folder, consistently, while the server runs",
    words: ["FOLDER"],
    about: `Copies the data folder to FOLDER, which must be empty or new. The copy is a data folder itself: "sideband backup
restore" copies it back, and "sideband serve --data FOLDER" serves it. A running service makes the copy, so it must be able
to write to FOLDER. In it are the store, with the keys as hashes, and master.key; not in it are admin.token, of which a restored
folder gets a new one, and the list of erasures.`,
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

const VERIFIED = `Reads every user whole, and checks that the records belong together and that every record holds its checksum.`;
const DEEP_HELP =
  "  --deep          also build every user's block, read it back with the reader model and compare every fact";

export const backupVerify: Command = defineCommand(
  {
    name: "backup verify",
    summary: "read everything in a backup, and compare",
    words: ["BACKUP"],
    about: `${VERIFIED} BACKUP must be writable, because the command locks it. One without its
master.key needs SIDEBAND_MASTER_KEY.`,
    options: `${DEEP_HELP}
${JSON_HELP}`,
    failures: "1 if something is wrong, with a line for it",
  },
  async (call) => {
    const [folder] = call.words;
    requireBackup(folder);
    const config = configOf({ data: folder }, { SIDEBAND_DATABASE_URL: "" });
    // Nobody else asks this process: no file with a token is made in the backup.
    return verify({ ...config, adminTokens: [randomUUID()] }, call);
  },
);

export const backupRestore: Command = defineCommand(
  {
    name: "backup restore",
    summary: "make a data folder out of a backup",
    words: ["BACKUP"],
    about: `Copies BACKUP into the data folder, which must be empty or new, and which nobody may use meanwhile. Whoever was erased
after the backup was made is erased again by the next start, before it answers: the list of erasures says whom.`,
    options: `  --erasures FILE  the list of erasures (default: those of SIDEBAND_ERASURES, ${ERASURES_FILE} in
                  SIDEBAND_BACKUP_DIR and beside BACKUP, and where it was when BACKUP was made)
${DATA_HELP}`,
    failures: "1 if it failed",
  },
  async ({ words: [backup], texts: { data, erasures: named } }) => {
    const config = configOf({ data });
    requireBackup(backup);
    const { lines, told } = erasuresFor(backup, named, config);
    restoreBackup(backup, config.dataFolder, { erasures: lines });
    console.log(`restored ${backup} to ${config.dataFolder}\n${told}`);
    if (!hasMasterKey(config))
      console.log(`${config.dataFolder} holds ${missingMasterKey(config.dataFolder)}`);
    console.log(
      "not in a backup: admin.token; put the old one into the folder, or the next start makes a new one",
    );
    return EXIT_OK;
  },
);

/** Most have 94 bytes; one that leaves labels of a place alone has 17 more for each. */
const LINES_BYTES_MAX = 2 ** 21;

/** What has to be erased again after a restore, and what the operator is told of it. */
function erasuresFor(backup: string, named: string | undefined, { erasures, backupFolder }: Config) {
  const note = readBackupNote(backup);
  const beside = join(dirname(resolve(backup)), ERASURES_FILE);
  const scheduled = backupFolder && join(backupFolder, ERASURES_FILE);
  const known = [erasures, scheduled, note?.erasures, beside].flatMap((file) =>
    file ? [resolve(file)] : [],
  );
  const paths = named === undefined ? [...new Set(known)].filter((path) => existsSync(path)) : [named];
  const since = note === undefined ? "MOMENT" : new Date(note.madeMs).toISOString();
  if (paths.length === 0 || note === undefined) {
    const was = note?.erasures === undefined ? "" : ` (it was ${note.erasures})`;
    const why =
      paths.length === 0 ? `no list of erasures was found${was}` : "it does not say when it was made";
    const told = `whoever was erased after it was made is back: ${why}; "sideband backup erase-again FILE --since ${since}" erases them`;
    return { lines: [], told };
  }
  const { madeMs, position } = note;
  const lines = erasedSince(paths, madeMs, position);
  const isSure = position === undefined || paths.some((path) => listBehind(path, position) !== undefined);
  const doubt = isSure ? "" : `\n${doubtText(position)}`;
  const told = `${counted(lines.length, "erasure")} since ${since} in ${paths.join(", ")}: the next start does them again before it answers${doubt}`;
  return { lines, told };
}

/** Where the moments in the lists count alone, which a wrong clock may have noted. */
function doubtText({ path, bytes }: ListPosition): string {
  return bytes === 0
    ? `the list at ${path} was empty when the backup was made, so the moments in the one that was found count alone`
    : `none of these has what was noted before the backup, so the moments in them count alone: name the list that was at ${path}, with --erasures`;
}

export const backupEraseAgain: Command = defineCommand(
  {
    name: "backup erase-again",
    summary: "erase again whom a list of erasures names, after a restore",
    words: ["FILE..."],
    about: `For a database that was restored from its own backup, with the lists of erasures of all nodes at once. "sideband backup restore"
does it by itself. The list has hashes; the master key that they were made with is needed.`,
    options: `  --since MOMENT  when the backup was made, such as 2026-11-18T20:00:00Z; who was erased before is left alone
${DATA_HELP}`,
    failures: "1 if something could not be told from its hash",
  },
  async ({ words: files, texts: { since, data } }) => {
    const sinceMs = momentOf(since ?? "");
    if (sinceMs === undefined)
      throw new UsageError("--since takes a moment with its zone, such as 2026-11-18T20:00:00Z");
    const lines = erasedSince(files, sinceMs);
    let [erased, unreadable] = [0, 0];
    await withOwner(configOf({ data }), { create: false }, async (owner) => {
      for (const part of inParts(lines)) {
        const report = await owner.json<ErasureReport>("POST", "/operator/erase-again", { lines: part });
        erased += report.erased;
        unreadable += report.unreadable;
      }
    });
    console.log(`${counted(lines.length, "erasure")} in ${files.join(", ")}: ${erased} erased again`);
    if (unreadable === 0) return EXIT_OK;
    console.error(
      `${unreadable} were noted under a master key that is not here: add its line to the master keys and repeat`,
    );
    return EXIT_FAILED;
  },
);

/** Lines together, as many as one request takes. */
function* inParts(lines: readonly string[]): Generator<string> {
  let part = "";
  for (const line of lines) {
    if (part.length + line.length > LINES_BYTES_MAX) {
      yield part;
      part = "";
    }
    part += `${line}\n`;
  }
  if (part !== "") yield part;
}

export const verifyCommand: Command = defineCommand(
  {
    name: "verify",
    summary: "read everything in the store, and compare",
    about: `${VERIFIED} Works beside a running service, and on a standby of PostgreSQL.`,
    options: `  --account NAME  only this account
${DEEP_HELP}
${JSON_HELP}
${DATA_HELP}`,
    failures: "1 if something is wrong, with a line for it",
  },
  async (call) => verify(configOf({ data: call.texts.data }), call),
);

async function verify(config: Config, { texts: { account }, flags, print }: Call): Promise<number> {
  const deep = flags.deep === true;
  const report = await withOwner(config, { create: false, readOnly: true }, (owner) =>
    longWork<VerifyAnswer>(owner, "/operator/verify", { account, deep }, "users"),
  );
  const { users, facts, overflowed, findings } = report;
  const faults = findings.map(({ account: owner, userId, fault }) =>
    owner === "" ? fault : `${owner} ${userId}: ${fault}`,
  );
  const sound = deep ? "all read back exactly" : "every record holds its checksum";
  const verdict = findings.length === 0 ? sound : counted(findings.length, "fault");
  const checked = `${counted(users, "user")}, ${counted(facts, "fact")}`;
  const unfit = overflowed === null ? "" : `, ${overflowed} did not fit into their block`;
  const last = `${checked}${unfit}: ${verdict}`;
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

interface ErasureReport {
  readonly erased: number;
  readonly unreadable: number;
}

interface CompactAnswer {
  readonly entries: number;
  readonly beforeBytes: number;
  readonly afterBytes: number;
  readonly durationMs: number;
}

interface VerifyAnswer {
  readonly users: number;
  readonly facts: number;
  readonly overflowed: number | null;
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
