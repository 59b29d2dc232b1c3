/**
 * Whose facts they are: USER and PREF belong to a person, TASK and PROJ to a person in a project. The service knows
 * only user_ids, so a project has one of its own, made from the person's: docs/decisions/0033 has the mapping.
 *
 * What is read is the facts of both. Where both have a label, the project's counts.
 */

import type { ContextAnswer, FlushAnswer, ReadAnswer } from "../contract/answers.ts";
import { LABELS } from "../contract/channel-labels.ts";
import type { AgentCallOptions, AgentMemory, AgentScope } from "./agent-memory.ts";

/** The user_id of a person's facts in a project. */
export function projectUserId(person: string, project: string): string {
  return `${person}/${project}`;
}

/** The user_ids of a person's memory: their own, and that of the project they work in. */
export function userIdsOf(person: string, project: string | undefined): string[] {
  return project === undefined ? [person] : [person, projectUserId(person, project)];
}

/** Where a fact belongs if nobody says otherwise. */
export function scopeOf(label: string): AgentScope {
  return /^(?:TASK|PROJ)\./.test(label) ? "project" : "person";
}

class NoProjectError extends Error {
  override name = "NoProjectError";
  readonly code = "no_project";

  constructor() {
    super("This session is in no project; leave the scope out, or name the scope person.");
  }
}

/**
 * A memory of a person that knows the project. Its calls take the person's user_id, and each fact goes where it
 * belongs, or where `scope` says.
 *
 * @param projectOf the project, or undefined outside of one; asked at every call
 */
export function scopedMemory(
  memory: AgentMemory,
  projectOf: () => Promise<string | undefined> | string | undefined,
): AgentMemory {
  /** The user_ids that a call is about, the person's first. */
  const usersOf = async (person: string, scope: AgentScope | undefined): Promise<string[]> => {
    if (scope === "person") return [person];
    const users = userIdsOf(person, await projectOf());
    if (scope !== "project") return users;
    if (users.length === 1) throw new NoProjectError();
    return users.slice(1);
  };
  /** The answer of the project, or of the person if the project has no such fact. */
  const firstOf = async <T>(
    person: string,
    options: AgentCallOptions | undefined,
    ask: (userId: string) => Promise<T>,
  ): Promise<T> => {
    const [first, project] = await usersOf(person, options?.scope);
    if (project === undefined) return ask(first);
    return ask(project).catch((error: { code?: unknown }) => {
      if (error.code === "fact_not_found") return ask(first);
      throw error;
    });
  };
  const allOf = async <T>(
    person: string,
    options: AgentCallOptions | undefined,
    ask: (userId: string) => Promise<T>,
  ): Promise<T[]> => Promise.all((await usersOf(person, options?.scope)).map(ask));
  return {
    async encode(person, label, value, options) {
      const users = await usersOf(person, options?.scope);
      const userId = options?.scope === undefined && scopeOf(label) === "person" ? users[0] : users.at(-1)!;
      return memory.encode(userId, label, value, options);
    },
    decode: (person, label, options) => firstOf(person, options, (id) => memory.decode(id, label, options)),
    forget: (person, label, options) => firstOf(person, options, (id) => memory.forget(id, label, options)),
    async facts(person, options) {
      const answers = await allOf(person, options, (id) => memory.facts(id, options));
      const facts = merged(answers.flatMap((answer) => answer.facts));
      return { user_id: person, channel_count: facts.length, facts };
    },
    context: async (person, options) =>
      mergedContexts(await allOf(person, options, (id) => memory.context(id, options)), person),
    flush: async (person, options) =>
      mergedFlushes(await allOf(person, options, (id) => memory.flush(id, options))),
    read: async (person, block, options) => {
      // A text may have the blocks of both in it; each is read by the one that it belongs to.
      const users = await usersOf(person, options?.scope);
      const reads = await Promise.allSettled(users.map((id) => memory.read(id, block, options)));
      const answers = reads.flatMap((read) => (read.status === "fulfilled" ? [read.value] : []));
      if (answers.length === 0) throw (reads[0] as PromiseRejectedResult).reason;
      return mergedReads(answers);
    },
  };
}

/** Contexts of several user_ids as one: the facts in channel order, and all blocks. The last context counts most. */
export function mergedContexts(contexts: readonly ContextAnswer[], userId: string): ContextAnswer {
  if (contexts.length === 1) return contexts[0];
  // A value has no line break, and the label ends at the first "=".
  const lines = contexts.flatMap(({ plain_index }) => (plain_index === "" ? [] : plain_index.split("\n")));
  const facts = merged(lines.map((line) => ({ label: line.slice(0, line.indexOf("=")), line })));
  return {
    user_id: userId,
    fdm_block: blocksOf(contexts),
    channel_count: facts.length,
    channel_labels: facts.map(({ label }) => label),
    plain_index: facts.map(({ line }) => line).join("\n"),
  };
}

export function mergedFlushes(flushes: readonly FlushAnswer[]): FlushAnswer {
  if (flushes.length === 1) return flushes[0];
  return {
    status: flushes.some(({ status }) => status === "ok") ? "ok" : "empty",
    channel_count: flushes.reduce((sum, { channel_count }) => sum + channel_count, 0),
    lossless: flushes.every(({ lossless }) => lossless),
    fdm_block: blocksOf(flushes),
    overflow: flushes.flatMap(({ overflow }) => overflow),
  };
}

function mergedReads(reads: readonly ReadAnswer[]): ReadAnswer {
  if (reads.length === 1) return reads[0];
  const sum = (count: "missing" | "wrong" | "repaired") =>
    reads.reduce((total, read) => total + read[count], 0);
  return {
    ...reads[0],
    facts: merged(reads.flatMap(({ facts }) => facts)),
    missing: sum("missing"),
    wrong: sum("wrong"),
    repaired: sum("repaired"),
    guard_left: Math.min(...reads.map(({ guard_left }) => guard_left)),
  };
}

function blocksOf(answers: readonly { readonly fdm_block: string }[]): string {
  return answers.flatMap(({ fdm_block }) => (fdm_block === "" ? [] : [fdm_block])).join("\n");
}

/** One entry for each label, the last one, in channel order. */
function merged<T extends { readonly label: string }>(entries: readonly T[]): T[] {
  const byLabel = new Map<string, T>(entries.map((entry) => [entry.label, entry]));
  return LABELS.flatMap((label) => byLabel.get(label) ?? []);
}
