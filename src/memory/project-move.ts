/**
 * A project under another name: what a user has at a place and inside it goes to another, with its history, times and
 * writers. A repository that was known by its path and is now known by its remote is such a project; its worktrees are
 * inside it.
 *
 * Where both have a label, the value that was written last counts, and the others are in its history. First all is
 * written at the new place, one step after the other as in an import, and only then it is forgotten at the old one, if
 * nobody has changed it since. So nothing is lost by a crash between the two: the next call finds what is written
 * already, and goes on.
 */

import { Failure } from "../base/errors.ts";
import type { KeptValue } from "./history.ts";
import { isInside, viewOf } from "./places.ts";
import type { EarlierFact, FactChange, FactRecord, Place, UserLife } from "./ports.ts";
import type { MemoryServices } from "./services.ts";
import { exportedEarlier, exportedFact, type PastStep, pastOf } from "./user-lines.ts";

export interface MoveInput {
  readonly userId: string;
  /** Projects, without worktrees. */
  readonly from: string;
  readonly to: string;
}

/** How often it is tried again after another writer was faster. */
const ATTEMPTS_MAX = 10;

/** Resolves to the number of facts that were moved. */
export async function moveProject(
  services: MemoryServices,
  account: string,
  input: MoveInput,
): Promise<number> {
  const { store, clock } = services;
  const { userId, from, to } = input;
  for (const [param, project] of Object.entries({ from, to }))
    checkProjectName(account, input, param, project);
  if (from === to) return 0;
  for (let left = ATTEMPTS_MAX; ; left--) {
    const nowMs = clock.now();
    const lives = livesIn(await store.readLife(account, userId, { nowMs }), from, to);
    if (lives.length === 0) return 0;
    const person = { account, userId };
    const written = await Promise.all(lives.map((life) => writeAnew(services, person, life, nowMs)));
    const changes = lives.map(({ place, channel, present }) => forgetting(place, channel, present));
    const isWritten = written.every((isDone) => isDone);
    const outcome = isWritten && (await store.write({ account, userId, changes, places: [from], nowMs }));
    services.blocks.drop(account, userId);
    if (outcome && outcome.outcome === "stored")
      return lives.filter(({ present }) => present !== undefined).length;
    if (left <= 1)
      throw new Failure("overloaded", "Too many writers change these facts at once.", { retryAfterS: 1 });
  }
}

/** What was and is on one label at the old place, and at the new one. */
interface MovedLife {
  readonly place: Place;
  readonly channel: number;
  readonly present: FactRecord | undefined;
  /** The oldest first. */
  readonly earlier: readonly EarlierFact[];
  readonly target: Place;
  readonly atTarget: { readonly present: FactRecord | undefined; readonly earlier: readonly EarlierFact[] };
}

function livesIn(life: UserLife | undefined, from: string, to: string): MovedLife[] {
  const { facts = [], earlier = [] } = life ?? {};
  const names = new Map(
    [...facts, ...earlier]
      .filter(({ place }) => isInside(place, from))
      .map((fact) => [`${fact.channel} ${fact.place}`, fact]),
  );
  const lifeAt = (place: Place, channel: number) => {
    const isHere = (fact: { place: Place; channel: number }) =>
      fact.place === place && fact.channel === channel;
    return { present: facts.find(isHere), earlier: earlier.filter(isHere) };
  };
  return [...names.values()].map(({ place, channel }) => {
    const target = to + place.slice(from.length);
    return { place, channel, ...lifeAt(place, channel), target, atTarget: lifeAt(target, channel) };
  });
}

/** Writes at the new place what is not there yet; false where another writer was faster. */
async function writeAnew(
  { store }: MemoryServices,
  person: { readonly account: string; readonly userId: string },
  life: MovedLife,
  atMs: number,
): Promise<boolean> {
  const places = [life.target];
  for (const [i, { change, nowMs, writtenBy, sessionId }] of stepsOf(life, atMs).entries()) {
    const ifRevision = life.atTarget.present?.revision ?? 0;
    const changes = [i === 0 ? { ...change, ifRevision } : change];
    const { outcome } = await store.write({ ...person, changes, places, nowMs, writtenBy, sessionId });
    if (outcome !== "stored") return false;
  }
  return true;
}

function stepsOf(life: MovedLife, nowMs: number): PastStep[] {
  const { channel, present, earlier, target: place, atTarget } = life;
  const known: readonly KeptValue[] = [...atTarget.earlier, ...given(atTarget.present)];
  if (known.length === 0) {
    const values = [
      ...earlier.map((fact) => exportedEarlier(fact, "")),
      ...given(present && exportedFact(present, "")),
    ];
    return pastOf(place, channel, values);
  }
  // Both places have values: those that the new place does not have are added to its history.
  const winner = laterOf(present, atTarget.present);
  const missing = [...earlier, ...given(present)].filter(
    (fact) => fact !== winner && !known.some(({ value }) => value === fact.value),
  );
  const step = (
    value: string | null,
    { writtenBy, sessionId, revision }: KeptValue,
    terms: object,
  ): PastStep => ({
    change: { place, channel, value, ...terms },
    ...{ nowMs, revision, writtenBy, sessionId },
  });
  const steps = missing.map((fact) => step(fact.value, fact, {}));
  if (winner === undefined) {
    const last = missing.at(-1);
    return last === undefined ? [] : [...steps, step(null, last, { keepHistory: true })];
  }
  if (steps.length === 0 && winner === atTarget.present) return [];
  return [...steps, step(winner.value, winner, { expiresAtMs: winner.expiresAtMs })];
}

function laterOf(moved: FactRecord | undefined, staying: FactRecord | undefined): FactRecord | undefined {
  if (moved === undefined || staying === undefined) return moved ?? staying;
  return moved.updatedAtMs > staying.updatedAtMs ? moved : staying;
}

function given<T>(value: T | undefined): T[] {
  return value === undefined ? [] : [value];
}

function forgetting(place: Place, channel: number, present: FactRecord | undefined): FactChange {
  return { place, channel, value: null, ifRevision: present?.revision ?? 0 };
}

function checkProjectName(account: string, { userId }: MoveInput, param: string, project: string): void {
  if (project.includes("/"))
    throw new Failure("invalid_request", `${param} must be a project, without a worktree.`, { param });
  viewOf(account, { userId, project }, 0);
}
