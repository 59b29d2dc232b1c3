/** sideband export and import: keys, facts and requests for keys as JSON lines, the whole service or one account. */

import { closeSync, createReadStream, fstatSync, openSync, readSync } from "node:fs";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { parseArgs } from "node:util";
import { terminalText } from "../../agent-side/shown-text.ts";
import { ACCOUNT_DEFAULT } from "../../base/account.ts";
import { keysIn, writeWhole } from "../../main/export-file.ts";
import { withOwner } from "../../main/owner.ts";
import { adoptMasterKeys } from "../../main/secrets.ts";
import { typedOption } from "../../main/typed-word.ts";
import { type Command, CommandError, EXIT_FAILED, EXIT_OK, UsageError } from "../command.ts";
import { configWith, DATA_HELP, DATA_OPTION } from "../data-option.ts";
import { counted, table } from "../printed.ts";
import { ProgressLine } from "../progress.ts";
import { spokenCommand } from "../spoken-command.ts";
import { exportMarkdown, isExportMarkdown } from "./export-markdown.ts";
import { exportedService, userLinesOf } from "./export-user.ts";
import { FROM_HELP, importFrom, isImportFrom } from "./import-from.ts";

const START_BYTES = 64;
/** How many accounts of a file are named. */
const ACCOUNTS_NAMED_MAX = 20;

export const exportCommand: Command = {
  name: "export",
  summary: "write keys and facts as JSON lines; or facts as a section for CLAUDE.md",
  help: `usage: sideband export [--account NAME [--user ID]] [--out FILE]
       sideband export --user ID --url URL [--out FILE]

Writes a line for each key (its hash, never the key) with its counts of encodes, for each user with all facts, and for
each request for a key. Says on standard error what is not in it: above all the master key, without which blocks
handed out so far cannot be read. Works beside a running service, and on a standby of PostgreSQL.

  --account NAME  only this account
  --user ID       only this user, with the labels of the account and without keys (the account is "${ACCOUNT_DEFAULT}"
                  unless --account names another). With --url, SIDEBAND_API_URL or SIDEBAND_API_KEY, and without
                  --data, it is the user of that service
  --url URL       the service of --user (default SIDEBAND_API_URL); its key is SIDEBAND_API_KEY
  --out FILE      a file instead of standard output; only you can read it. An earlier FILE stays until the new one
                  is whole; until then that is FILE.PID.new. What was written is counted in a line
${DATA_HELP}

Exit status: 0; 1 if it failed; 2 for a wrong call.

${exportMarkdown.help}`,

  async run(args) {
    if (isExportMarkdown(args)) return exportMarkdown.run(args);
    const options = {
      account: { type: "string" },
      user: { type: "string" },
      out: { type: "string" },
      url: { type: "string" },
      ...DATA_OPTION,
    } as const;
    const { values } = parseArgs({ args, options });
    const { user } = values;
    const service = exportedService(values);
    const account = values.account ?? (user === undefined ? undefined : ACCOUNT_DEFAULT);
    const progress = new ProgressLine("lines");
    const query = new URLSearchParams({
      ...(account === undefined ? {} : { account }),
      ...(user === undefined ? {} : { user }),
    });
    const write = async (found: AsyncIterable<Record<string, unknown>>) => {
      const written: WrittenCounts = { keys: 0, requests: 0, users: 0, facts: 0 };
      const lines = exportedLines(found, written, progress);
      if (values.out === undefined) {
        await pipeline(lines, process.stdout, { end: false });
        return true;
      }
      const isFile = await writeWhole(lines, values.out);
      progress.end();
      // A pipe or a device may be the standard output itself: the line must not be among the data.
      (isFile ? console.log : console.error)(writtenText(written, values.out));
      return true;
    };
    const writing =
      service === undefined
        ? withOwner(configWith(values.data), { create: false, readOnly: true }, (owner) =>
            write(owner.lines("GET", `/operator/export?${query}`)),
          )
        : write(userLinesOf(service));
    const isWhole = await writing
      .catch((error: NodeJS.ErrnoException) => {
        // The reader of the output has closed it (`| head`).
        if (values.out !== undefined || error.code !== "EPIPE") throw error;
        return false;
      })
      .finally(() => progress.end());
    if (isWhole && user === undefined) console.error(leftOutOf(account));
    return EXIT_OK;
  },
};

/** Requests for keys belong to no account: the export of one account has none. */
function leftOutOf(account: string | undefined): string {
  const requests = account === undefined ? "" : "requests for keys, ";
  return `not exported: master.key and admin.token (copy them yourself), ${requests}records of Idempotency-Key (kept for 24 hours)`;
}

export const importCommand: Command = {
  name: "import",
  summary: "bring facts along from another memory or notes; or read an export",
  help: `usage: sideband import [FILE] [--with-keys] [--master-key FILE | --new-master-key] [--json]

Reads what "sideband export" wrote, from FILE or standard input. Facts keep their times and their order; a fact that
exists is overwritten. Labels that are missing are added and named. Nothing counts against a limit. Works beside a
running service.

  --with-keys        take keys, requests for keys, settings of standard labels and accounts that are not here, too. What
                     FILE has of them is listed first. A key or a request that exists stays; a key whose id another key
                     has is left out and reported. Without it they are only counted

A data folder without a master key needs one of:

  --master-key FILE  the master.key of the service that was exported: blocks that it handed out stay readable
  --new-master-key   a new one: blocks that were handed out so far cannot be read any more
  --json             print one JSON object: lines (read), facts, keys and requests (written), labels_added, left_out,
                     not_taken (what --with-keys would take)
${DATA_HELP}

Exit status: 0; 1 if a key was left out, or a line cannot be imported (the lines before it are); 2 for a wrong call.

${FROM_HELP}`,

  async run(args) {
    if (isImportFrom(args)) return importFrom(args);
    const options = {
      json: { type: "boolean", default: false },
      "with-keys": { type: "boolean", default: false },
      "master-key": { type: "string" },
      "new-master-key": { type: "boolean", default: false },
      ...DATA_OPTION,
    } as const;
    const { values, positionals } = parseArgs({ args, options, allowPositionals: true });
    const { "master-key": masterKey, "new-master-key": newMasterKey } = values;
    if (positionals.length > 1) throw new UsageError("one FILE at most");
    if (newMasterKey && masterKey !== undefined)
      throw new UsageError("--master-key or --new-master-key, not both");
    const [file] = positionals;
    const withKeys = values["with-keys"];
    if (withKeys && file === undefined)
      throw new UsageError(
        "--with-keys needs FILE, which is read twice: keys are listed before they come in",
      );
    const input = file === undefined ? process.stdin : exportStream(file, withKeys);
    const config = configWith(values.data);
    if (withKeys && file !== undefined) {
      const found = await keysIn(file).catch((error) => {
        input.destroy();
        throw error;
      });
      (values.json ? console.error : console.log)(keyList(found));
    }
    if (masterKey !== undefined) adoptMasterKeys(config, masterKey);
    const progress = new ProgressLine("lines");
    const body = Readable.from(countedChunks(input, progress));
    const report = await withOwner(config, { create: true, newMasterKey }, (owner) =>
      owner.upload<ImportedCounts>(`/operator/import?with_keys=${withKeys}`, body),
    ).finally(() => progress.end());
    const { leftOut, labelsAdded, notTaken, ...written } = report;
    if (values.json) {
      const lists = { labels_added: labelsAdded, left_out: leftOut, not_taken: notTaken };
      console.log(JSON.stringify({ ...written, ...lists }));
    } else {
      for (const what of leftOut) console.error(`left out: ${what}`);
      if (labelsAdded.length > 0)
        console.log(`added ${counted(labelsAdded.length, "label")}: ${labelsAdded.join(", ")}`);
      const rest = kindsText(notTaken);
      if (rest !== "")
        console.log(`not taken: ${rest}; "sideband import FILE --with-keys" lists and takes them, too`);
      console.log(importedText(report));
    }
    return leftOut.length === 0 ? EXIT_OK : EXIT_FAILED;
  },
};

/** What comes in besides facts, for the one who is about to take it. */
function keyList({ keys, accounts, requests, settings }: Awaited<ReturnType<typeof keysIn>>): string {
  const rows = keys.map(({ account, tier, prefix, access = "write", user = null, note }) => [
    account,
    tier,
    `${prefix}…`,
    `${access === "read" ? "reads" : "reads and writes"} ${user === null ? "all users" : `user ${JSON.stringify(user)}`}`,
    note,
  ]);
  const named = [...accounts].sort();
  const more = named.length > ACCOUNTS_NAMED_MAX ? `, and ${named.length - ACCOUNTS_NAMED_MAX} more` : "";
  const rest = kindsText({ keys: 0, requests, settings, users: 0 });
  return [
    `with keys: ${counted(keys.length, "key")}${rest === "" ? "" : `, ${rest}`}`,
    ...(rows.length === 0 ? [] : [table(["ACCOUNT", "TIER", "KEY", "ACCESS", "NOTE"], rows)]),
    `accounts: ${named.slice(0, ACCOUNTS_NAMED_MAX).join(", ") || "none"}${more}`,
  ].join("\n");
}

function kindsText({ keys, requests, settings, users }: ImportedCounts["notTaken"]): string {
  const kinds: [number, string, string][] = [
    [keys, "key", "keys"],
    [requests, "request for a key", "requests for keys"],
    [settings, "setting", "settings"],
    [users, "user of an account that is not here", "users of accounts that are not here"],
  ];
  return kinds.flatMap(([count, one, many]) => (count === 0 ? [] : [counted(count, one, many)])).join(", ");
}

function importedText({ facts, keys, requests, lines }: ImportedCounts): string {
  const more = kindsText({ keys, requests, settings: 0, users: 0 });
  return `imported ${counted(facts, "fact")}${more === "" ? "" : `, ${more}`} from ${counted(lines, "line")}`;
}

/** A file of another kind is told from an export by how it begins. */
function exportStream(path: string, isReadTwice: boolean): Readable {
  const fd = openSync(path, "r");
  const start = Buffer.alloc(START_BYTES);
  // A pipe cannot be read twice.
  const isFile = fstatSync(fd).isFile();
  const size = isFile ? readSync(fd, start, 0, START_BYTES, 0) : 0;
  if (!isFile && isReadTwice) {
    closeSync(fd);
    throw new CommandError(`${path} is no file: --with-keys reads it twice`);
  }
  if (!/^\s*(\{|$)/.test(start.toString("utf8", 0, size))) {
    closeSync(fd);
    throw new CommandError(
      `${path} is no export of Sideband; what it would take from another file: ${spokenCommand()} import ${typedOption("from", path)}`,
    );
  }
  return createReadStream(path, { fd });
}

interface ImportedCounts {
  /** That were read. */
  readonly lines: number;
  readonly facts: number;
  readonly keys: number;
  readonly requests: number;
  readonly leftOut: readonly string[];
  readonly labelsAdded: readonly string[];
  readonly notTaken: Readonly<Record<"keys" | "requests" | "settings" | "users", number>>;
}

interface WrittenCounts {
  keys: number;
  requests: number;
  users: number;
  facts: number;
}

function writtenText({ keys, requests, users, facts }: WrittenCounts, out: string): string {
  const asked = requests === 0 ? "" : `, ${counted(requests, "request")} for keys`;
  return `wrote ${counted(keys, "key")}${asked} and ${counted(users, "user")} with ${counted(facts, "fact")} to ${out}`;
}

async function* exportedLines(
  lines: AsyncIterable<Record<string, unknown>>,
  written: WrittenCounts,
  progress: ProgressLine,
): AsyncGenerator<string> {
  for await (const line of lines) {
    if (line.kind === "end") return;
    if (line.kind === "key") written.keys++;
    if (line.kind === "request") written.requests++;
    if (line.kind === "user") written.users++;
    written.facts += (line.facts as unknown[] | undefined)?.length ?? 0;
    yield `${terminalText(JSON.stringify(line))}\n`;
    progress.step();
  }
  throw new CommandError("the service ended before the export was whole");
}

/** Reads nothing before the first chunk is needed: a request that was not sent is repeated with the same input. */
async function* countedChunks(input: AsyncIterable<Buffer>, progress: ProgressLine): AsyncGenerator<Buffer> {
  for await (const chunk of input) {
    progress.step(chunk.toString("latin1").split("\n").length - 1);
    yield chunk;
  }
}
