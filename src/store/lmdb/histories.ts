/**
 * Histories after the limit was changed. After it was lowered they are shortened by the next sweep, for a new value takes the
 * place of one entry only. A limit that holds for all of them is noted, so that they are looked through
 * once. Where none is noted, they may be of any length. Before the limit is raised they are shortened to the lower one: what
 * was beyond a limit does not come back.
 */

import { elementAt } from "../../base/assert.ts";
import { Failure } from "../../base/errors.ts";
import { DataFolderError } from "./data-folder.ts";
import { dayOfAnswer, splitFactKey, splitHistoryKey } from "./entry-keys.ts";
import { type Environment, FIRST_KEY, keyAfter } from "./environment.ts";
import type { GroupCommit } from "./group-commit.ts";
import { HISTORY_IN_FORCE, HISTORY_LIMIT, packNumber, unpackNumber } from "./records.ts";
import { UserWrites } from "./user-facts.ts";
import { EVERYBODY } from "./user-locks.ts";
import type { Write, Writer } from "./writer.ts";

interface HistoryLimit {
  readonly nowMs: number;
  /** How many earlier values of each fact are kept. */
  readonly historyMax: number;
}

/** Entries that one group looks at. */
const PAGE = 64;

/** Removes what is beyond the limit, unless that was done before. */
export async function shortenHistories(
  commit: GroupCommit,
  environment: Environment,
  options: HistoryLimit,
): Promise<void> {
  const { historyMax } = options;
  const noted = environment.get("meta", HISTORY_LIMIT);
  if (noted === undefined ? environment.entryCount("history") === 0 : unpackNumber(noted) <= historyMax)
    return;
  for (let start: Buffer | undefined = FIRST_KEY; start !== undefined; )
    start = await commit.run(shortenPage(start, options), EVERYBODY);
  await commit.run((writer) => writer.put("meta", HISTORY_LIMIT, packNumber(historyMax)));
}

/** The limit under which the store was opened last. */
export function historyInForce(environment: Environment): number | undefined {
  const noted = environment.get("meta", HISTORY_IN_FORCE);
  return noted === undefined ? undefined : unpackNumber(noted);
}

/** Puts a limit in force, before anything is read or written under it. */
export async function beginHistoryLimit(
  commit: GroupCommit,
  environment: Environment,
  options: HistoryLimit,
  folder: string,
): Promise<void> {
  const before = historyInForce(environment);
  if (before === options.historyMax) return;
  try {
    await changeLimit(commit, environment, before, options);
  } catch (error) {
    if (!(error instanceof Failure) || error.code !== "store_unavailable") throw error;
    const goOn = before === undefined ? "" : `, or go on with SIDEBAND_HISTORY=${before}`;
    throw new DataFolderError(
      `cannot begin with SIDEBAND_HISTORY=${options.historyMax} in ${folder}: ${error.message} Make room${goOn}`,
    );
  }
}

async function changeLimit(
  commit: GroupCommit,
  environment: Environment,
  before: number | undefined,
  { historyMax, nowMs }: HistoryLimit,
): Promise<void> {
  if (before !== undefined && before < historyMax)
    await shortenHistories(commit, environment, { historyMax: before, nowMs });
  const noted = environment.get("meta", HISTORY_LIMIT);
  await commit.run((writer) => {
    writer.put("meta", HISTORY_IN_FORCE, packNumber(historyMax));
    if (noted !== undefined && unpackNumber(noted) < historyMax)
      writer.put("meta", HISTORY_LIMIT, packNumber(historyMax));
  });
}

/** Returns where the next page begins; undefined after the last. */
function shortenPage(start: Buffer, options: HistoryLimit): Write<Buffer | undefined> {
  return (writer) => {
    const keys = writer.environment.keys("history", { start, limit: PAGE });
    const byFact = new Map<string, { fact: Buffer; ordinals: number[] }>();
    for (const key of keys.filter((key) => dayOfAnswer(key) === undefined)) {
      const { fact, ordinal } = splitHistoryKey(key);
      const name = fact.toString("latin1");
      const known = byFact.get(name) ?? { fact, ordinals: [] };
      known.ordinals.push(ordinal);
      byFact.set(name, known);
    }
    for (const { fact, ordinals } of byFact.values()) shortenOne(writer, fact, ordinals, options);
    return keys.length < PAGE ? undefined : keyAfter(elementAt(keys, PAGE - 1));
  };
}

/** A damaged record keeps nobody else's history from being shortened. */
function shortenOne(writer: Writer, fact: Buffer, ordinals: readonly number[], options: HistoryLimit): void {
  try {
    const { account, userId, ...name } = splitFactKey(fact);
    const { historyMax, nowMs } = options;
    new UserWrites(writer, account, userId).shorten(name, ordinals, historyMax, nowMs);
  } catch {}
}
