/**
 * What others have changed since an agent's last session here, as one line for the person who starts the next. When the
 * last one began is in a small file of the user, by host, memory, user and project. Without the file, or where the memory
 * does not answer in time, there is no line, and the session starts all the same.
 */

import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { quotedValue } from "../agent-side/written-line.ts";
import { ALL_GROUPS, groupsOf } from "../base/groups.ts";
import type { ChangesAnswer } from "../contract/answers.ts";
import type { ChangesOptions } from "../sdk/options.ts";

interface SessionOptions {
  /** The file with the times of the last sessions. */
  readonly file: string;
  readonly host: string;
  /** Where the memory is: an address or a folder. */
  readonly where: string;
  readonly userId: string;
  readonly project: string | undefined;
  /** Those that the session's prompt gets: others are nobody's news here. undefined: all. */
  readonly groups: string | undefined;
  readonly timeoutMs: number;
}

interface ChangesReader {
  changes(userId: string, options: ChangesOptions): Promise<ChangesAnswer>;
}

type Changes = ChangesAnswer["changes"];

const SESSIONS_MAX = 200;
const CHANGES_MAX = 200;
/** How many facts the line names, and how much of a value. */
const NAMED_MAX = 3;
const VALUE_LENGTH_MAX = 40;

/** The line, or "" if there is nothing to tell. Notes that a session has begun. Never rejects. */
export async function sessionNews(memory: ChangesReader, options: SessionOptions): Promise<string> {
  const { file, host, where, userId, project, groups, timeoutMs } = options;
  try {
    const name = [host, where, userId, project ?? ""].join(" ");
    const last = timesIn(file)[name];
    const nowMs = Date.now();
    const changes = last === undefined ? [] : await newestChanges(memory, userId, { project, timeoutMs });
    // Others have begun while the memory was asked.
    writeTimes(file, { ...timesIn(file), [name]: new Date(nowMs).toISOString() });
    const seen = groupsOf(groups) ?? ALL_GROUPS;
    const shown = changes.filter(
      ({ label, renamed_from: from = label }) => seen.has(label) && seen.has(from),
    );
    return last === undefined ? "" : newsLine(shown, { last, host, userId, project });
  } catch {
    return "";
  }
}

/** Of the person in all places, and of all who share the project, the newest first. */
async function newestChanges(
  memory: ChangesReader,
  userId: string,
  { project, timeoutMs }: Pick<SessionOptions, "project" | "timeoutMs">,
): Promise<Changes> {
  const ask = async (options: ChangesOptions) =>
    (await memory.changes(userId, { limit: CHANGES_MAX, timeoutMs, ...options })).changes;
  if (project === undefined) return ask({});
  const [own, inProject] = await Promise.all([ask({}), ask({ project: project.split("/")[0] })]);
  const shared = inProject.filter(({ place }) => place === "shared");
  if (shared.length === 0) return own;
  return [...own, ...shared].sort((a, b) => Date.parse(b.at) - Date.parse(a.at));
}

function timesIn(file: string): Record<string, string> {
  try {
    return JSON.parse(readFileSync(file, "utf8"));
  } catch {
    // There is none yet, or it is damaged: the next session begins it anew.
    return {};
  }
}

function writeTimes(file: string, times: Record<string, string>): void {
  const newest = Object.entries(times)
    .sort(([, a], [, b]) => (a < b ? 1 : -1))
    .slice(0, SESSIONS_MAX);
  const draft = `${file}.${process.pid}.new`;
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  try {
    writeFileSync(draft, `${JSON.stringify(Object.fromEntries(newest), null, 1)}\n`, { mode: 0o600 });
    renameSync(draft, file);
  } finally {
    // Windows replaces no file that another hook reads at this moment.
    rmSync(draft, { force: true });
  }
}

/** @param changes the newest first */
function newsLine(
  changes: Changes,
  { last, host, userId, project }: Pick<SessionOptions, "host" | "userId" | "project"> & { last: string },
): string {
  const places = [undefined, project?.split("/")[0], project];
  const isOfOthers = ({
    at,
    written_by: writer,
    user_id: author = userId,
    project: place,
  }: Changes[number]) => at > last && (writer !== host || author !== userId) && places.includes(place);
  const told = new Map<string, string>();
  for (const [i, change] of changes.entries()) {
    const name = factName(change);
    // The newest change of a fact says what it is now.
    if (isOfOthers(change) && !told.has(name)) told.set(name, changeText(change, changes.slice(i + 1)));
  }
  const texts = [...told.values()].filter((text) => text !== "");
  if (texts.length === 0) return "";
  const named = texts.slice(0, NAMED_MAX).join("; ");
  const more = texts.length > NAMED_MAX ? `; and ${texts.length - NAMED_MAX} more` : "";
  return `Sideband, since your last session here: ${named}${more}. "sideband log" has it all.`;
}

/** A fact and its place: in a shared project the person's own is another one. */
export function factName({
  label,
  project = "",
  place,
}: Pick<Changes[number], "label" | "project" | "place">): string {
  return `${label} ${project} ${place ?? ""}`;
}

/** Empty where only something beside the value was changed: where it comes from, or its end. */
function changeText(change: Changes[number], older: Changes): string {
  const { label, kind, value, written_by: writer, user_id: author, renamed_from: from } = change;
  const shown = (text: string) => quotedValue(text, VALUE_LENGTH_MAX);
  const names = [author, writer].filter((name) => name !== undefined);
  const by = names.length === 0 ? "" : ` (${names.map((name) => quotedValue(name).slice(1, -1)).join(", ")})`;
  if (kind === "renamed") return `${label} renamed from ${from}, now ${shown(value)}`;
  if (kind !== "written")
    return `${label} ${kind === "expired" ? "ended" : "forgotten"}, was ${shown(value)}${by}`;
  const before = older.find((one) => factName(one) === factName(change));
  if (before?.kind === "written" && before.value === value) return "";
  const was = before?.kind === "written" ? `was ${shown(before.value)}, ` : "";
  return `${label} ${was}now ${shown(value)}${by}`;
}
