/**
 * The writes of the page, each with its undo: what was there is there again, with its end, or what was not is gone. An undo
 * is done only if nobody has changed the fact since, and keeps the history.
 */

import { replacedValue } from "../../agent-side/waiting-facts.ts";
import type { StoredFact, WrittenAnswer } from "../../contract/answers.ts";
import { isSidebandError, SidebandError } from "../../sdk/errors.ts";
import type { EncodeOptions, ForgetOptions } from "../../sdk/options.ts";
import type { MemoryPage } from "./page-context.ts";
import type { ToastAction } from "./toast.tsx";

type FactToWrite = Pick<StoredFact, "label" | "value"> & Omit<EncodeOptions, "project">;

/** "Undo" of a toast, and what is said after it. */
export function undoAction(
  { showToast }: MemoryPage,
  work: () => Promise<unknown>,
  done: string,
): ToastAction {
  const run = async () => {
    await work();
    showToast({ text: done });
  };
  return { name: "Undo", run };
}

/**
 * Writes a fact from a form, if it is still what the person has seen (`ifRevision`), and says so.
 * @param before the fact that is there
 * @returns whether it was written; if not, the facts have been read again by now
 */
export async function writeIfUnchanged(
  page: MemoryPage,
  { label, value, ...options }: FactToWrite,
  before?: StoredFact,
): Promise<boolean> {
  const { live, api, memory, showToast } = page;
  try {
    const written = await live.write([label], () =>
      api.encode(memory.userId, label, value, { ...options, project: memory.project }),
    );
    const [done, undone] =
      written.previous === null
        ? ["is remembered", "is not remembered any more"]
        : ["is changed", "is as it was"];
    const undo = () => undoWrite(page, written, before);
    showToast({ text: `${label} ${done}.`, actions: [undoAction(page, undo, `${label} ${undone}.`)] });
    return true;
  } catch (failure) {
    if (isSidebandError(failure, "revision_mismatch")) return false;
    throw failure;
  }
}

/** @param before what was there, with its end */
export async function undoWrite(
  page: MemoryPage,
  { label, place, revision, previous }: WrittenAnswer,
  before?: StoredFact,
): Promise<void> {
  const { live, api, memory } = page;
  const options = { project: memory.project, scope: place, ifRevision: revision, keepHistory: true };
  if (previous === null) await live.write([label], () => api.forget(memory.userId, label, options));
  else await restoreFact(page, { ...before, ...previous, label, place }, revision);
}

type EarlierFact = Pick<StoredFact, "label" | "value" | "revision"> & Partial<StoredFact>;

/**
 * Writes a fact as it was, with its end, where it was: from its history, or where none is kept, anew.
 * @param ifRevision the revision that it must have now; 0: there must be none
 */
async function restoreFact(page: MemoryPage, fact: EarlierFact, ifRevision: number): Promise<void> {
  const { live, api, memory } = page;
  const { userId, project } = memory;
  const { label, value, revision, place: scope, expires_at: expiresAt, description, origin } = fact;
  await live.write([label], async () => {
    try {
      await api.restore(userId, label, revision, { project, ifRevision });
    } catch (failure) {
      if (!SidebandError.isInstance(failure) || !NOT_KEPT.includes(failure.code)) throw failure;
      const terms = { newLabel: "certain" as const, description };
      await api.encode(userId, label, value, { project, scope, expiresAt, ifRevision, origin, ...terms });
    }
  });
}

const NOT_KEPT: readonly string[] = ["not_found", "fact_not_found", "unknown_label"];

/** Forgets a fact, and offers to bring it back or to forget its earlier values, too. */
export async function forgetFact(page: MemoryPage, fact: StoredFact): Promise<void> {
  const { live, api, memory, showToast } = page;
  const { label, place: scope, revision } = fact;
  const forgetWith = (options: ForgetOptions) =>
    live.write([label], () =>
      api.forget(memory.userId, label, { project: memory.project, scope, ...options }),
    );
  await forgetWith({ ifRevision: revision, keepHistory: true });
  const forGood = async () => {
    await forgetWith({});
    showToast({ text: `${label} is forgotten for good, with its earlier values.` });
  };
  const rest = fact.hides === undefined ? "" : ` The team's counts again: “${fact.hides.value}”.`;
  showToast({
    text: `${label} is forgotten. Its earlier values are kept.${rest}`,
    actions: [
      undoAction(page, () => restoreFact(page, fact, 0), `${label} is back.`),
      { name: "Forget for good", run: forGood, asks: `${label}, which cannot be undone` },
    ],
  });
}

/** The person says what an agent had read. Only the value that was seen: another one is not written over. */
export async function acceptFact(page: MemoryPage, fact: StoredFact): Promise<void> {
  const { live, api, memory, showToast } = page;
  const { label, value, revision, place: scope, expires_at: expiresAt } = fact;
  const options = {
    project: memory.project,
    scope,
    expiresAt,
    ifRevision: revision,
    origin: "said" as const,
  };
  const written = await live.write([label], () => api.encode(memory.userId, label, value, options));
  const undo = undoAction(page, () => undoWrite(page, written, fact), `${label} waits for you again.`);
  showToast({ text: `${label} is accepted.`, actions: [undo] });
}

/**
 * The person turns down what an agent had read: what it replaced counts again, and where there was nothing it is forgotten.
 * Only the value that was seen.
 */
export async function turnDownFact(page: MemoryPage, fact: StoredFact): Promise<void> {
  const { live, api, memory, showToast } = page;
  const { userId, project } = memory;
  const { label, revision, place: scope } = fact;
  const before = await replacedValue(api, userId, fact, project, Date.now());
  if (before === undefined) return forgetFact(page, fact);
  const written = await live.write([label], () =>
    api.restore(userId, label, before.revision, { project, scope, ifRevision: revision }),
  );
  const undo = undoAction(page, () => undoWrite(page, written, fact), `${label} waits for you again.`);
  showToast({ text: `${label} is “${before.value}” again.`, actions: [undo] });
}

/** Moves a fact to another label; with `merge`, both become a list there. */
export async function renameFact(
  page: MemoryPage,
  fact: StoredFact,
  to: string,
  merge?: "append",
): Promise<void> {
  const { live, api, memory, showToast } = page;
  const { userId, project } = memory;
  const { label, revision } = fact;
  const rename = (from: string, target: string, options: object) =>
    live.write([from, target], () => api.rename(userId, from, target, { project, ...options }));
  const written = await rename(label, to, { ifRevision: revision, merge });
  const undo = async () => {
    if (merge === undefined) return void (await rename(to, label, { ifRevision: written.revision }));
    await undoWrite(page, written);
    await restoreFact(page, fact, 0);
  };
  const [done, undone] =
    merge === undefined
      ? [`${label} is ${to} now.`, `${label} has its label again.`]
      : [`${to} is a list of both now.`, `${label} and ${to} are two facts again.`];
  showToast({ text: done, actions: [undoAction(page, undo, undone)] });
}
