/** sideband history, restore, rollback and undo: what facts were, and going back to it. */

import { readRevisions, readRevisionsAfter, writtenLine } from "../../agent-side/written-line.ts";
import type { ChangesAnswer, RollbackAnswer } from "../../contract/answers.ts";
import { shellQuote } from "../../main/shell-quote.ts";
import { isSidebandError, type Sideband } from "../../sdk/index.ts";
import { type Call, type Command, CommandError, UsageError } from "../command.ts";
import { type KeptChange, underFormerLabels } from "../former-labels.ts";
import { allPages, type MemoryCall, memoryCommand, WRITER, withNotFoundText } from "../memory-command.ts";
import { localTime, momentMs } from "../moments.ts";
import { placeText } from "../named-project.ts";
import { counted, table } from "../printed.ts";
import { rollbackOf, sidebandCommand, undoOf } from "../printed-commands.ts";
import { projectName } from "../project-call.ts";
import { repeatedOptions, scopeOf, TEAM_HELP, withoutPerson } from "../shared-options.ts";

export const history: Command = memoryCommand(
  {
    name: "history",
    summary: "print the values that a fact had",
    words: ["LABEL"],
    usage: "[--shared | --own]",
    options: TEAM_HELP,
    about: `Prints the value that a fact has and those that it had, the newest first, with their revisions: "sideband restore
LABEL REVISION" writes one of them again. "sideband log" prints what changed for a user.`,
    failures: "1 if there is no such fact",
  },
  async (call) => {
    const { memory, userId, project, words, print } = call;
    const [label] = words;
    const scope = scopeOf(call);
    const answer = await withNotFoundText(memory.history(userId, label, { project, scope }), userId, label);
    const rows = answer.revisions.map((kept) => [
      String(kept.revision),
      localTime(kept.updated_at),
      [kept.user_id, kept.written_by].filter((name) => name !== undefined).join(", "),
      kept.ended ?? "",
      kept.expires_at === undefined ? "" : localTime(kept.expires_at),
      kept.value,
    ]);
    const head = ["REVISION", "WRITTEN", "BY", "ENDED", "UNTIL", "VALUE"];
    const isEnding = answer.revisions.some(({ expires_at }) => expires_at !== undefined);
    const withoutEnds = (row: readonly string[]) => (isEnding ? [...row] : row.toSpliced(4, 1));
    print(table(withoutEnds(head), rows.map(withoutEnds)), answer);
  },
);

export const restore: Command = memoryCommand(
  {
    name: "restore",
    summary: "write an earlier value of a fact again",
    words: ["LABEL", "REVISION"],
    usage: "[--shared | --own]",
    options: TEAM_HELP,
    about: `Writes the value that a fact had at a REVISION ("sideband history LABEL" lists them) again, where it was. A backup of
a data folder is for "sideband backup restore".`,
    failures: "1 if it failed, or there is no such revision",
    check: ({ words: [, revision] }) => {
      if (!/^[1-9]\d{0,14}$/.test(revision))
        throw new UsageError("REVISION is a whole number, one of those that history lists");
    },
  },
  async (call) => {
    const { memory, userId, project, config, sameMemory, print } = call;
    const [label, revision] = call.words;
    const scope = scopeOf(call);
    let at = { label, project };
    const write = () =>
      memory.restore(userId, at.label, Number(revision), { project: at.project, scope, writtenBy: WRITER });
    const answer = await write().catch(async (error) => {
      if (!MISSING.some((code) => isSidebandError(error, code))) throw error;
      // What has been written there since is not meant by a number of what was there before.
      const isGone =
        isSidebandError(error, "unknown_label") ||
        (await readRevisions(memory, userId, label, { project, scope }))?.length === 0;
      const renamed = isGone ? await renamedValue(memory, userId, label, Number(revision)) : undefined;
      if (renamed !== undefined) {
        console.error(`${label} is ${renamed.label} now`);
        at = renamed;
        return write();
      }
      if (!isSidebandError(error, "not_found")) throw error;
      throw new CommandError(
        `${error.message} Those that are kept: ${sidebandCommand()} history ${shellQuote(label)}${sameMemory}`,
      );
    });
    const kept = await readRevisionsAfter(memory, userId, answer, { project: at.project });
    const place = placeText(answer.place, at.project, config);
    print(writtenLine(answer, kept, undoOf(call, answer.place, at.project), localTime, place), answer);
  },
);

const MISSING = ["not_found", "fact_not_found", "unknown_label"] as const;

/** Where a value of a label is now, if its fact was renamed since. */
async function renamedValue(memory: Sideband<string>, userId: string, label: string, revision: number) {
  const changes = await allPages(
    (cursor) => memory.changes(userId, { limit: PAGE, cursor }),
    (page) => page.changes,
  );
  const value = changes.find((change) => change.revision === revision);
  const isRenamed = changes.some(
    (one) => one.renamed_from === label && one.label === value?.label && one.project === value.project,
  );
  return value !== undefined && isRenamed ? { label: value.label, project: value.project } : undefined;
}

const rollbackCommand: Command = memoryCommand(
  {
    name: "rollback",
    summary: "put a user's facts back to a moment",
    words: [],
    usage: "--to MOMENT [--unchanged-since MOMENT] [--shared] [--dry-run] [--partial]",
    options: `  --to MOMENT     "yesterday 18:00", monday, "2h ago", "2026-12-01 18:00", or RFC 3339
  --unchanged-since MOMENT  only facts that have not changed since then go back; an import prints both moments
  --shared        only what is shared in this project: for all who share it
  --dry-run       only print what would change
  --partial       go back also where the history of some facts does not reach that far; they stay as they are`,
    about: `Puts all facts of a user back to a moment, in all projects, or in that of --project: all of them or none. What is
shared goes back only with --shared. What was written since stays in the history. Prints what changes.`,
    failures: "1 if the history of some facts does not reach back that far",
    check({ texts, flags }) {
      if (flags.person)
        throw new UsageError(
          "--person is not for rollback, which goes back in all projects or in that of --project: sideband restore LABEL REVISION --person goes back for one fact",
        );
      if (texts.to === undefined) throw new UsageError("--to MOMENT is needed");
      momentsOf(texts);
    },
  },
  async (call) => {
    const { memory, userId, texts, flags, print } = call;
    const { to, unchangedSince } = momentsOf(texts);
    const place = flags.shared ? sharedIn(projectName(call)) : { project: texts.project };
    const sameMemory = repeatedOptions({ texts: { ...texts, ...place } });
    const answer = await memory.rollback(userId, to, {
      unchangedSince,
      ...place,
      dryRun: flags["dry-run"],
      partial: flags.partial,
      writtenBy: WRITER,
    });
    print(rollbackLines(answer, to), answer);
    if (answer.status === "ok" && answer.changes.length > 0)
      console.error(`undo: ${rollbackOf(answer.at, sameMemory, flags.shared)}`);
    if (answer.status === "unreached")
      throw unreached(answer, to, (flags.shared ? " --shared" : "") + sameMemory);
  },
);

/** What a rollback of all that is shared takes. */
function sharedIn(project: string) {
  return { project, scope: "project" } as const;
}

function momentsOf({ to = "", "unchanged-since": since }: Call["texts"]) {
  const moment = (option: string, text: string) => new Date(momentMs(option, text, "start")).toISOString();
  return {
    to: moment("--to", to),
    unchangedSince: since === undefined ? undefined : moment("--unchanged-since", since),
  };
}

export const rollback: Command = { ...rollbackCommand, help: withoutPerson(rollbackCommand.help) };

/** How many of the last things are listed. */
const LISTED = 20;
const PAGE = 200;
/** Between two steps of one import. */
const IMPORT_PAUSE_MS = 10_000;

const undoCommand: Command = memoryCommand(
  {
    name: "undo",
    summary: "take back the last thing that was done to a user's facts",
    words: [],
    usage: "[--list]",
    options: `  --list          print the last ${LISTED} things, the newest first, with the command that goes back before each`,
    about: `Takes back the last thing that was done to a user's facts, in all projects, or in that of --project: a write, an import,
a forgetting, a rename, a merge, a restore, a rollback. Of what is shared in a project it takes back what the user has
written, where nobody has written since. Facts are again what they were, with the labels and the ends that
they had. Done twice, it takes the undo back. What was forgotten for good stays forgotten. What a command has done to
the labels of the account is undone by the command that it has printed.`,
    failures: "1 if there is nothing to take back",
    check({ flags }) {
      if (flags.person)
        throw new UsageError("--person is not for undo, which looks at all projects or at that of --project");
    },
  },
  async (call) => {
    const { memory, userId, texts, flags, sameMemory, print } = call;
    const { project } = texts;
    const things = await lastChanges(call, LISTED);
    if (things.length === 0) throw new CommandError(`nothing has changed for ${userId}`);
    if (flags.list) {
      const rows = things.map((thing) => [
        localTime(thing.at),
        thing.by,
        thing.what,
        `${sidebandCommand()} rollback --to ${thing.before}${sharedAgain(thing)}${repeatedOptions({ texts: { ...texts, project: thing.shared ?? project } })}`,
      ]);
      return print(table(["WHEN", "BY", "WHAT", "GO BACK BEFORE IT"], rows), { things });
    }
    // Of a fact that has ended, or was forgotten for good, nothing can be taken back: the one before it is next.
    for (const thing of things) {
      const { before, at, shared } = thing;
      const place = shared === undefined ? { project } : { ...sharedIn(shared), unchangedSince: at };
      const answer = await memory.rollback(userId, before, { ...place, writtenBy: WRITER });
      if (answer.status === "unreached") throw unreached(answer, before, sharedAgain(thing) + sameMemory);
      if (answer.changes.length === 0) continue;
      print(rollbackLines(answer, before), answer);
      const options = repeatedOptions({ texts: { ...texts, project: shared ?? project } });
      console.error(`undo: ${rollbackOf(answer.at, options, shared !== undefined)}`);
      return;
    }
    throw new CommandError(
      "there is nothing to take back: what was forgotten for good, or has ended, stays away",
    );
  },
);

export const undo: Command = { ...undoCommand, help: withoutPerson(undoCommand.help) };

/** What was done at one moment, or by one import, the newest first. */
interface UndoableChange {
  readonly at: string;
  readonly before: string;
  readonly by: string;
  readonly what: string;
  /** The project where it was done to what is shared. */
  readonly shared?: string | undefined;
}

/** To what is shared others have done things, too: those are not the person's to take back. */
async function lastChanges(call: MemoryCall, count: number): Promise<UndoableChange[]> {
  const { memory, userId, texts } = call;
  const { project } = texts;
  const changes: KeptChange[] = [];
  const isMine = ({ place, user_id: author }: KeptChange) => place !== "shared" || author === userId;
  const team = project === undefined ? await sharedChanges(memory, userId) : [];
  let [things, cursor]: [UndoableChange[], string | undefined] = [[], undefined];
  do {
    const page: ChangesAnswer = await memory.changes(userId, { project, limit: PAGE, cursor });
    changes.push(...page.changes);
    things = undoableChanges(underFormerLabels(newestFirst([...changes, ...team]).filter(isMine)));
    cursor = page.next_cursor ?? undefined;
    // The last one may go on.
  } while (cursor !== undefined && things.length <= count);
  return things.slice(0, count);
}

/** What was done to shared facts in any project: the changes of a user have those of one project only where it is named. */
async function sharedChanges(memory: Sideband<string>, userId: string): Promise<KeptChange[]> {
  const { projects } = await memory.projects();
  const pages = await Promise.all(
    projects.map(({ project }) => memory.changes(userId, { project, limit: PAGE })),
  );
  return pages.flatMap(({ changes }) => changes.filter(({ place }) => place === "shared"));
}

function newestFirst(changes: readonly KeptChange[]): KeptChange[] {
  return changes.toSorted((a, b) => Date.parse(b.at) - Date.parse(a.at));
}

/** The options with which a rollback takes back a thing that was done to what is shared, and no more. */
function sharedAgain({ shared, at }: UndoableChange): string {
  return shared === undefined ? "" : ` --shared --unchanged-since ${at}`;
}

/** @param changes the newest first; an end that came by itself is nobody's doing */
function undoableChanges(changes: readonly KeptChange[]): UndoableChange[] {
  const things: [KeptChange, ...KeptChange[]][] = [];
  for (const change of changes.filter(({ kind }) => kind !== "expired")) {
    const last = things.at(-1);
    if (last !== undefined && isSameChange(last.at(-1)!, change)) last.push(change);
    else things.push([change]);
  }
  return things.map((together) => {
    const [{ at, label, kind, renamed_from: from, written_by: by = "", place, project }] = together;
    const others = together.length === 1 ? "" : ` and ${together.length - 1} more`;
    const shared = place === "shared" ? project : undefined;
    const where = shared === undefined ? "" : ` shared in ${shared}`;
    const what = `${kind} ${from === undefined ? "" : `${from} to `}${label}${others}${where}`;
    return { at, before: new Date(Date.parse(together.at(-1)!.at) - 1).toISOString(), by, what, shared };
  });
}

/** An import writes its facts in several steps. */
function isSameChange(later: KeptChange, earlier: KeptChange): boolean {
  if (later.place !== earlier.place) return false;
  if (later.at === earlier.at) return true;
  const isImport = later.written_by?.startsWith("import: ") && later.written_by === earlier.written_by;
  return isImport === true && Date.parse(later.at) - Date.parse(earlier.at) < IMPORT_PAUSE_MS;
}

function unreached({ unreached: facts }: RollbackAnswer, to: string, sameMemory: string): CommandError {
  const labels = facts.map(({ label }) => label).join(", ");
  return new CommandError(
    `nothing was changed: the history of ${labels} does not reach back to ${localTime(to)}\n` +
      `to leave those as they are: ${sidebandCommand()} rollback --to ${to} --partial${sameMemory}`,
  );
}

function rollbackLines(answer: RollbackAnswer, to: string): string {
  const { status, changes, unreached, changed_since: changedSince = [] } = answer;
  const lines = changes.map(({ label, project, from, to: value }) => {
    const where = project === undefined ? "" : ` in ${project}`;
    if (from === value) return `${label}${where}: ${from}, with the end and the description that it had`;
    return `${label}${where}: ${from ?? "(none)"} → ${value ?? "(none)"}`;
  });
  const left = [
    ...(status === "ok" ? unreached.map(({ label }) => `${label}: stays as it is`) : []),
    ...changedSince.map(({ label }) => `${label}: stays as it is, since it has changed again`),
  ];
  const done = { ok: "changed", planned: "would change", unreached: "would change" }[status];
  return [...lines, ...left, `${counted(changes.length, "fact")} ${done}, back to ${localTime(to)}`].join(
    "\n",
  );
}
