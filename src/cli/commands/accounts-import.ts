/** sideband accounts import: reads what "sideband accounts export" wrote, and keys only where it is asked to. */

import { closeSync, createReadStream, fstatSync, openSync, readSync } from "node:fs";
import { Readable } from "node:stream";
import { patternsOf } from "../../base/label-patterns.ts";
import { keysIn } from "../../main/export-file.ts";
import { withOwner } from "../../main/owner.ts";
import { adoptMasterKeys } from "../../main/secrets.ts";
import { quotedOption, shellQuote } from "../../main/shell-quote.ts";
import { type Command, CommandError, defineCommand, EXIT_FAILED, EXIT_OK, UsageError } from "../command.ts";
import { counted, ProgressLine, rightsText, table } from "../printed.ts";
import { sidebandCommand } from "../printed-commands.ts";
import { configOf, DATA_HELP, JSON_HELP } from "../shared-options.ts";

const START_BYTES = 64;
/** How many accounts of a file are named. */
const ACCOUNTS_NAMED_MAX = 20;

export const accountsImport: Command = defineCommand(
  {
    name: "accounts import",
    summary: "read an export of accounts",
    words: ["[FILE]"],
    usage: "[--with-keys] [--master-key FILE | --new-master-key] [--json] [--data FOLDER]",
    about: `Reads what "sideband accounts export" wrote, from FILE or standard input. Facts keep their times and their order; a fact
that exists is overwritten. Labels that are missing are added and named. Nothing counts against a limit. Works beside a
running service.`,
    options: `  --with-keys     take keys, requests for keys, settings of labels and accounts that are not here, too. What
                  FILE has of them is listed first. A key or a request that exists stays; a key whose id another key
                  has is left out and reported. Without it they are only counted
  --master-key FILE
                  the master.key of the service that was exported: blocks that it handed out stay readable. A data
                  folder without a master key needs this, or --new-master-key
  --new-master-key
                  a new one: blocks that were handed out so far cannot be read any more
${JSON_HELP}
${DATA_HELP}`,
    failures: "1 if it failed or something was left out",
  },
  async ({ words: [file], texts: { "master-key": masterKey, data }, flags, print }) => {
    const { "with-keys": withKeys = false, "new-master-key": newMasterKey = false, json } = flags;
    if (newMasterKey && masterKey !== undefined)
      throw new UsageError("--master-key or --new-master-key, not both");
    if (withKeys && file === undefined)
      throw new UsageError(
        "--with-keys needs FILE, which is read twice: keys are listed before they come in",
      );
    const input = file === undefined ? process.stdin : exportStream(file, withKeys);
    const config = configOf({ data });
    if (withKeys && file !== undefined) {
      const found = await keysIn(file).catch((error) => {
        input.destroy();
        throw error;
      });
      (json ? console.error : console.log)(keyList(found));
    }
    if (masterKey !== undefined) adoptMasterKeys(config, masterKey);
    const progress = new ProgressLine("lines");
    const body = Readable.from(countedChunks(input, progress));
    const report = await withOwner(config, { create: true, newMasterKey }, (owner) =>
      owner.upload<ImportedCounts>(`/operator/import?with_keys=${withKeys}`, body),
    ).finally(() => progress.end());
    const { leftOut, labelsAdded, notTaken, ...written } = report;
    if (!json) for (const what of leftOut) console.error(`left out: ${what}`);
    print(importedLines(report, takingCommand(file, data)).join("\n"), {
      ...written,
      labels_added: labelsAdded,
      left_out: leftOut,
      not_taken: notTaken,
    });
    return leftOut.length === 0 ? EXIT_OK : EXIT_FAILED;
  },
);

/** What comes in besides facts, for the one who is about to take it. */
function keyList({ keys, accounts, requests, settings }: Awaited<ReturnType<typeof keysIn>>): string {
  const rows = keys.map(({ account, tier, prefix, access, user, groups = null, write, note }) => {
    const rights = { user, access, groups, write: patternsOf(write)?.list.slice() ?? null };
    return [account, tier, `${prefix}…`, rightsText(rights), note];
  });
  const named = [...accounts].sort();
  const more = named.length > ACCOUNTS_NAMED_MAX ? `, and ${named.length - ACCOUNTS_NAMED_MAX} more` : "";
  const rest = kindsText({ keys: 0, requests, settings, users: 0 });
  return [
    `with keys: ${counted(keys.length, "key")}${rest === "" ? "" : `, ${rest}`}`,
    ...(rows.length === 0 ? [] : [table(["ACCOUNT", "TIER", "KEY", "FOR", "NOTE"], rows)]),
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

/** Takes what was left; what came from standard input is in no file yet. */
function takingCommand(file: string | undefined, data: string | undefined): string {
  if (file === undefined) return "a FILE of it with --with-keys is listed and taken, too";
  const folder = data === undefined ? "" : ` ${quotedOption("data", data)}`;
  return `to list and take them, too: ${sidebandCommand()} accounts import ${shellQuote(file)} --with-keys${folder}`;
}

function importedLines(report: ImportedCounts, taking: string): string[] {
  const { facts, keys, requests, lines, labelsAdded, notTaken } = report;
  const labels = counted(labelsAdded.length, "label");
  const rest = kindsText(notTaken);
  const more = kindsText({ keys, requests, settings: 0, users: 0 });
  return [
    ...(labelsAdded.length === 0 ? [] : [`added ${labels}: ${labelsAdded.join(", ")}`]),
    ...(rest === "" ? [] : [`not taken: ${rest}; ${taking}`]),
    `imported ${counted(facts, "fact")}${more === "" ? "" : `, ${more}`} from ${counted(lines, "line")}`,
  ];
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
      `${path} is no export of Sideband; what it would take from another file: ${sidebandCommand()} import ${shellQuote(path)}`,
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

/** Reads nothing before the first chunk is needed: a request that was not sent is repeated with the same input. */
async function* countedChunks(input: AsyncIterable<Buffer>, progress: ProgressLine): AsyncGenerator<Buffer> {
  for await (const chunk of input) {
    progress.step(chunk.toString("latin1").split("\n").length - 1);
    yield chunk;
  }
}
