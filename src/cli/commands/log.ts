/**
 * sideband log: what was written, forgotten and ended for a user, a line for each change, the newest last. With --follow
 * it goes on: it asks once a second for what is new, and now and then for what has been forgotten with its history.
 */

import { setTimeout as pause } from "node:timers/promises";
import { quotedValue } from "../../agent-side/written-line.ts";
import { factName } from "../../agents/session-news.ts";
import type { Sideband } from "../../sdk/index.ts";
import type { Command } from "../command.ts";
import { type KeptChange, underFormerLabels } from "../former-labels.ts";
import { allPages, memoryCommand } from "../memory-command.ts";
import { localTime, momentMs, TIME_WIDTH } from "../moments.ts";

/** A change, and the value that was there before, also before an end. */
interface LoggedChange extends Omit<KeptChange, "was"> {
  readonly was: string | undefined;
}

const PAGE = 200;
/** How many are printed where no moment is named. */
const LAST_COUNT = 20;
const ASK_MS = 1_000;
/** What is forgotten with its history is seen by comparing all of it, each time this many questions have been asked. */
const WHOLE_EVERY = 5;
const VALUE_LENGTH_MAX = 60;
const WRITER_WIDTH = 12;

export const log: Command = memoryCommand(
  {
    name: "log",
    summary: "print what changed for a user, and follow it",
    words: [],
    usage: "[--since MOMENT] [--follow]",
    options: `  --since MOMENT  all that changed since then, such as "yesterday 18:00" or "2h ago" (default: the last ${LAST_COUNT} changes)
  --follow        go on until Ctrl-C: print each change when it happens`,
    about: `Prints a line for each change of a user's facts, in all projects, in that of --project, or with --person in none, and of
what is shared in this project, by whoever wrote it: when, who, and what was and is there. "sideband history LABEL" has the values of one fact, and "sideband restore" and "sideband rollback" go back to
them. Of a fact that was forgotten with its history nothing is kept: only --follow sees that. With --json each line is a
JSON object.`,
    failures: "1 if it failed",
    check: ({ texts }) => void sinceMs(texts.since),
  },
  async ({ memory, userId, project, texts, flags }) => {
    const options = { project: texts.project, here: project, isPersonAlone: flags.person === true };
    const ask = (since?: string) => changesOf(memory, userId, { ...options, since });
    const journal = new Journal();
    const logged = journal.add(await ask());
    const fromMs = sinceMs(texts.since);
    const shown = logged.filter(({ at }) => fromMs === undefined || Date.parse(at) >= fromMs);
    const print = (changes: readonly LoggedChange[]) => {
      for (const change of changes) console.log(flags.json ? JSON.stringify(change) : changeLine(change));
    };
    if (shown.length === 0) console.error(`nothing has changed for ${userId}`);
    print(fromMs === undefined ? shown.slice(-LAST_COUNT) : shown);
    if (flags.follow) await goOn(journal, ask, print);
  },
);

function sinceMs(since: string | undefined): number | undefined {
  return since === undefined ? undefined : momentMs("--since", since, "start");
}

/** All changes that are kept, the oldest first. */
async function changesOf(
  memory: Sideband<string>,
  userId: string,
  {
    isPersonAlone,
    here,
    ...options
  }: {
    project?: string | undefined;
    here: string | undefined;
    isPersonAlone: boolean;
    since?: string | undefined;
  },
): Promise<KeptChange[]> {
  const ask = (project: string | undefined) =>
    allPages(
      (cursor) => memory.changes(userId, { ...options, project, limit: PAGE, cursor }),
      (page) => page.changes,
    );
  const found = await ask(options.project);
  const isAsked = options.project !== undefined || isPersonAlone || here === undefined;
  const shared = isAsked ? [] : (await ask(here.split("/")[0])).filter(({ place }) => place === "shared");
  const all = [...found, ...shared].sort((a, b) => Date.parse(b.at) - Date.parse(a.at));
  return underFormerLabels(all)
    .filter(({ project }) => !isPersonAlone || project === undefined)
    .reverse();
}

async function goOn(
  journal: Journal,
  ask: (since?: string) => Promise<KeptChange[]>,
  print: (changes: readonly LoggedChange[]) => void,
): Promise<void> {
  const stop = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => stop.abort());
  let isAway = false;
  // A reader that has gone (`| head`) ends it, too.
  for (let count = 1; !stop.signal.aborted && !process.stdout.destroyed; count++) {
    await pause(ASK_MS, undefined, { signal: stop.signal }).catch(() => {});
    try {
      const isWhole = count % WHOLE_EVERY === 0;
      const changes = await ask(isWhole ? undefined : journal.newestAt);
      print([...(isWhole ? journal.forgottenSince(changes) : []), ...journal.add(changes)]);
      isAway = false;
    } catch (error) {
      if (!isAway) console.error(`sideband log: ${(error as Error).message}; asking again`);
      isAway = true;
    }
  }
}

/** What has been logged, and the values that are there now. */
class Journal {
  readonly #seen = new Set<string>();
  readonly #present = new Map<string, KeptChange>();
  #newestAt: string | undefined;

  get newestAt(): string | undefined {
    return this.#newestAt;
  }

  /** The changes among these, the oldest first, that are new. */
  add(changes: readonly KeptChange[]): LoggedChange[] {
    return changes.flatMap((change) => {
      const name = factName(change);
      // Not by its revision: writing the same value again gives it another one.
      const mark = `${change.at} ${change.kind} ${name} ${change.value}`;
      if (this.#seen.has(mark)) return [];
      this.#seen.add(mark);
      this.#newestAt = change.at;
      const was = this.#present.get(name)?.value;
      const { kind, renamed_from: label = change.label } = change;
      if (kind !== "written") this.#present.delete(factName({ ...change, label }));
      if (kind === "written" || kind === "renamed") this.#present.set(name, change);
      return [{ ...change, was }];
    });
  }

  /** Facts of which nothing is kept any more. @param changes all that are kept */
  forgottenSince(changes: readonly KeptChange[]): LoggedChange[] {
    const kept = new Set(changes.map(factName));
    const gone = [...this.#present].filter(([name]) => !kept.has(name));
    for (const [name] of gone) this.#present.delete(name);
    return gone.map(([, { written_by: _, session_id: __, ...change }]) => ({
      ...change,
      kind: "forgotten",
      at: new Date().toISOString(),
      was: change.value,
    }));
  }
}

function changeLine({
  at,
  user_id: author,
  written_by,
  label,
  project,
  place,
  kind,
  value,
  was,
  renamed_from: from,
}: LoggedChange): string {
  const shown = (text: string) => quotedValue(text, VALUE_LENGTH_MAX);
  const before = was === undefined ? "" : `was ${shown(was)}, `;
  const what = {
    written:
      was === value
        ? `still ${shown(value)}, its end or description is another`
        : `${before}now ${shown(value)}`,
    forgotten: `forgotten, was ${shown(value)}`,
    expired: `ended, was ${shown(value)}`,
    renamed: `renamed from ${from}, ${shown(value)}`,
  }[kind];
  const isShared = place === "shared";
  const where = project === undefined ? "" : `${isShared ? " shared" : ""} in ${project}`;
  const writer = [author, written_by].filter((name) => name !== undefined).join(", ");
  return `${localTime(at).padEnd(TIME_WIDTH)}  ${writer.padEnd(WRITER_WIDTH)}  ${label}${where}: ${what}`;
}
