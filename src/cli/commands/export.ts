/**
 * sideband export and accounts export: what is kept of one user, as JSON lines or as a section for CLAUDE.md; and keys, facts
 * and requests for keys of one account or all, as JSON lines.
 */

import { chmodSync, statSync } from "node:fs";
import { pipeline } from "node:stream/promises";
import { terminalText } from "../../agent-side/escaped-text.ts";
import { fileText } from "../../agents/user-file.ts";
import { ACCOUNT_DEFAULT } from "../../base/accounts.ts";
import { ALL_GROUPS, groupsOf } from "../../base/groups.ts";
import { markdownSection, withMarkdownSection } from "../../import/markdown-section.ts";
import { exportedUser } from "../../main/agent.ts";
import { writeWhole } from "../../main/export-file.ts";
import { withOwner } from "../../main/owner.ts";
import { type Command, CommandError, defineCommand, EXIT_OK, oneOf, UsageError } from "../command.ts";
import { GROUPS_HELP, memoryCommand, printOtherFacts, shownGroups } from "../memory-command.ts";
import { counted, ProgressLine } from "../printed.ts";
import { configOf, DATA_HELP } from "../shared-options.ts";

const OUT_HELP = `  --out FILE      a file instead of standard output; only you can read it. An earlier FILE stays until the new one
                  is whole; until then that is FILE.PID.new. What was written is counted in a line`;

export const exportCommand: Command = memoryCommand(
  {
    name: "export",
    summary: "write what is kept of a user to a file: all of it, or a section for CLAUDE.md",
    usage: "[--as jsonl | --as markdown [--groups LIST]] [--out FILE]",
    about: `Writes what is kept of a user. As jsonl that is everything, in all projects and with earlier values, and the labels of
the account ("sideband accounts export" writes all users). "sideband import FILE" reads the facts back: each value
exactly, with its place, its end, its origin, its pin and what its label is for. It writes them anew: who wrote them and
when, and earlier values, are brought back by "sideband accounts import" alone. As markdown it is the facts that a host for
code gets in its prompt here, as a section for CLAUDE.md or AGENTS.md.`,
    options: `  --as FORMAT     jsonl (the default) or markdown
${OUT_HELP}. With markdown the
                  section is put into FILE, in the place of an earlier one or at its end; the rest of FILE stays
${GROUPS_HELP}`,
    failures: "1 if it failed",
    hasJson: false,
    check({ texts: { as, groups } }) {
      oneOf("as", ["jsonl", "markdown"], as);
      if (groups !== undefined && as !== "markdown") throw new UsageError("--groups goes with --as markdown");
    },
  },
  async (call) => {
    const { memory, config, userId, project, texts, print } = call;
    const { as, out } = texts;
    if (as !== "markdown") return void (await writeExport(exportedUser(config), out));
    const shown = groupsOf(await shownGroups(call)) ?? ALL_GROUPS;
    const { facts: all } = await memory.facts(userId, { project });
    const facts = all.filter(({ label }) => shown.has(label));
    printOtherFacts(
      call,
      all.filter(({ label }) => !shown.has(label)),
      "written",
    );
    const section = markdownSection(facts);
    if (all.length === 0) console.error(`${userId} has no facts`);
    if (out === undefined) return print(section, {});
    const isChanged = await writeSection(section, out);
    if (facts.length > 0) print(`wrote ${counted(facts.length, "fact")} to ${out}`, {});
    else print(isChanged ? `took the earlier section out of ${out}` : "no file was written", {});
  },
);

export const accountsExport: Command = defineCommand(
  {
    name: "accounts export",
    summary: "write keys and facts of one account or all as JSON lines",
    usage: "[--account NAME [--user ID]] [--out FILE] [--data FOLDER]",
    about: `Writes a line for each key (its hash, never the key) with its counts of encodes, for each user with all facts, and for
each request for a key. Says on standard error what is not in it: above all the master key, without which blocks
handed out so far cannot be read. Works beside a running service, and on a standby of PostgreSQL. "sideband accounts
import" reads it.`,
    options: `  --account NAME  only this account
  --user ID       only this user, with the labels of the account and without keys (the account is "${ACCOUNT_DEFAULT}"
                  unless --account names another)
${OUT_HELP}
${DATA_HELP}`,
    failures: "1 if it failed",
  },
  async ({ texts: { user, out, data, ...texts } }) => {
    const account = texts.account ?? (user === undefined ? undefined : ACCOUNT_DEFAULT);
    const query = new URLSearchParams({
      ...(account === undefined ? {} : { account }),
      ...(user === undefined ? {} : { user }),
    });
    const isWhole = await withOwner(configOf({ data }), { create: false, readOnly: true }, (owner) =>
      writeExport(owner.lines("GET", `/operator/export?${query}`), out),
    );
    if (isWhole && user === undefined) console.error(leftOutOf(account));
    return EXIT_OK;
  },
);

/** Requests for keys belong to no account: the export of one account has none. */
function leftOutOf(account: string | undefined): string {
  const requests = account === undefined ? "" : "requests for keys, ";
  return `not exported: master.key and admin.token (copy them yourself), operators, ${requests}records of Idempotency-Key (kept for 24 hours)`;
}

/** @returns false where the reader of standard output has gone before the end (`| head`) */
async function writeExport(
  found: AsyncIterable<Record<string, unknown>>,
  out: string | undefined,
): Promise<boolean> {
  const written = { keys: 0, requests: 0, users: 0, facts: 0 };
  const progress = new ProgressLine("lines");
  const lines = exportedLines(found, written, progress);
  try {
    if (out === undefined) {
      await pipeline(lines, process.stdout, { end: false });
      return true;
    }
    const isFile = await writeWhole(lines, out);
    progress.end();
    // A pipe or a device may be the standard output itself: the line must not be among the data.
    (isFile ? console.log : console.error)(writtenText(written, out));
    return true;
  } catch (error) {
    if (out !== undefined || (error as NodeJS.ErrnoException).code !== "EPIPE") throw error;
    return false;
  } finally {
    progress.end();
  }
}

type WrittenCounts = Record<"keys" | "requests" | "users" | "facts", number>;

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

/**
 * The file keeps its mode, and stays as it is until the new one is whole.
 * @returns whether its text is another one
 */
async function writeSection(section: string, path: string): Promise<boolean> {
  const found = statSync(path, { throwIfNoEntry: false });
  const present = found?.isFile() ? (fileText(path) ?? "") : "";
  const text = withMarkdownSection(present, section);
  if (text === present) return false;
  await writeWhole([text], path);
  if (found?.isFile()) chmodSync(path, found.mode & 0o7777);
  return true;
}
