/** sideband history, restore and rollback: what facts were, and going back to it. */

import { readRevisionsAfter, writtenLine } from "../../agent-side/written-line.ts";
import type { RollbackAnswer } from "../../contract/answers.ts";
import { shellQuote } from "../../main/shell-quote.ts";
import { isSidebandError } from "../../sdk/index.ts";
import { type Command, CommandError, UsageError } from "../command.ts";
import { memoryCommand, orNoFact, WRITER } from "../memory-command.ts";
import { localTime, momentMs } from "../moments.ts";
import { counted, table } from "../printed.ts";
import { sidebandCommand, undoHere } from "../printed-commands.ts";
import { withoutPerson } from "../shared-options.ts";

export const history: Command = memoryCommand(
  {
    name: "history",
    summary: "print the values that a fact had",
    words: ["LABEL"],
    about: `Prints the value that a fact has and those that it had, the newest first, with their revisions: "sideband restore
LABEL REVISION" writes one of them again. "sideband log" prints what changed for a user.`,
    failures: "1 if there is no such fact",
  },
  async ({ memory, userId, project, words: [label], print }) => {
    const answer = await orNoFact(memory.history(userId, label, { project }), userId, label);
    const rows = answer.revisions.map(({ revision, value, updated_at, written_by = "", ended = "" }) => [
      String(revision),
      localTime(updated_at),
      written_by,
      ended,
      value,
    ]);
    print(table(["REVISION", "WRITTEN", "BY", "ENDED", "VALUE"], rows), answer);
  },
);

export const restore: Command = memoryCommand(
  {
    name: "restore",
    summary: "write an earlier value of a fact again",
    words: ["LABEL", "REVISION"],
    about: `Writes the value that a fact had at a REVISION ("sideband history LABEL" lists them) again, where it was. A backup of
a data folder is for "sideband backup restore".`,
    failures: "1 if it failed, or there is no such revision",
    check: ({ words: [, revision] }) => {
      if (!/^[1-9]\d{0,14}$/.test(revision))
        throw new UsageError("REVISION is a whole number; sideband history LABEL lists them");
    },
  },
  async ({ memory, userId, project, words: [label, revision], sameMemory, print }) => {
    const restored = memory.restore(userId, label, Number(revision), { project, writtenBy: WRITER });
    const answer = await restored.catch((error) => {
      if (!isSidebandError(error, "not_found")) throw error;
      throw new CommandError(
        `${error.message} Those that are kept: ${sidebandCommand()} history ${shellQuote(label)}${sameMemory}`,
      );
    });
    const kept = await readRevisionsAfter(memory, userId, answer, { project });
    print(writtenLine(answer, kept, undoHere(sameMemory), localTime), answer);
  },
);

const rollbackCommand: Command = memoryCommand(
  {
    name: "rollback",
    summary: "put a user's facts back to a moment",
    words: [],
    usage: "--to MOMENT [--dry-run] [--partial]",
    options: `  --to MOMENT     "yesterday 18:00", monday, "2h ago", "2026-12-01 18:00", or RFC 3339
  --dry-run       only print what would change
  --partial       go back also where the history of some facts does not reach that far; they stay as they are`,
    about: `Puts all facts of a user back to a moment, in all projects, or in that of --project: all of them or none. What
was written since stays in the history. Prints what changes.`,
    failures: "1 if the history of some facts does not reach back that far",
    check({ texts: { to }, flags }) {
      if (flags.person)
        throw new UsageError(
          "--person is not for rollback, which goes back in all projects or in that of --project: sideband restore LABEL REVISION --person goes back for one fact",
        );
      if (to === undefined) throw new UsageError("--to MOMENT is needed");
      momentMs("--to", to, "start");
    },
  },
  async ({ memory, userId, texts, flags, sameMemory, print }) => {
    const to = new Date(momentMs("--to", texts.to!, "start")).toISOString();
    const answer = await memory.rollback(userId, to, {
      project: texts.project,
      dryRun: flags["dry-run"],
      partial: flags.partial,
      writtenBy: WRITER,
    });
    print(rollbackLines(answer, to), answer);
    if (answer.status === "ok" && answer.changes.length > 0) {
      // The time of the service, not of this machine: the newest change is one that was just made.
      const [{ at }] = (await memory.changes(userId, { limit: 1 })).changes;
      const before = new Date(Date.parse(at) - 1).toISOString();
      console.error(`undo: ${sidebandCommand()} rollback --to ${before}${sameMemory}`);
    }
    if (answer.status !== "unreached") return;
    const labels = answer.unreached.map(({ label }) => label).join(", ");
    throw new CommandError(
      `nothing was changed: the history of ${labels} does not reach back to ${localTime(to)}; --partial leaves them as they are`,
    );
  },
);

export const rollback: Command = { ...rollbackCommand, help: withoutPerson(rollbackCommand.help) };

function rollbackLines({ status, changes, unreached }: RollbackAnswer, to: string): string {
  const lines = changes.map(({ label, project, from, to: value }) => {
    const where = project === undefined ? "" : ` in ${project}`;
    return `${label}${where}: ${from ?? "(none)"} → ${value ?? "(none)"}`;
  });
  const left = status === "ok" ? unreached.map(({ label }) => `${label}: stays as it is`) : [];
  const done = { ok: "changed", planned: "would change", unreached: "would change" }[status];
  return [...lines, ...left, `${counted(changes.length, "fact")} ${done}, back to ${localTime(to)}`].join(
    "\n",
  );
}
