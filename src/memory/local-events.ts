/**
 * The events of a store that only this process writes to: it tells of its own writes. The events of an account are kept in
 * memory from the first listener on, until an hour after the last one has left. Nothing of them is stored.
 */

import { randomUUID } from "node:crypto";
import { setImmediate } from "node:timers/promises";
import { assert } from "../base/assert.ts";
import type { Clock } from "../base/clock.ts";
import { atOnce, inSlices, type Sliced } from "../base/slices.ts";
import { eraseUser } from "./erasure.ts";
import type { EventIds, EventIdsOf } from "./event-ids.ts";
import {
  EVENTS_KEPT_MS,
  type EventMessage,
  type EventSource,
  membersAt,
  type NumberedEvent,
  type UserEvent,
} from "./events.ts";
import { isInside } from "./places.ts";
import type { Store, WriteOutcome, WriteRequest } from "./ports.ts";
import type { EndedFact, Place, ProjectRecord } from "./records.ts";
import { eventUser, isShared, projectOfUser, sharedPlace } from "./shared-places.ts";
import { StoreLayer } from "./store-layer.ts";

interface AccountLog {
  readonly ids: EventIds;
  /** The number of the event before the first that is kept. */
  dropped: number;
  /** Undefined: of a user or place that was forgotten since. The number stays taken. */
  events: (UserEvent | undefined)[];
  /** What is still to be told. */
  backlog: (UserEvent | undefined)[];
  /** When the last listener left. */
  leftAtMs: number | undefined;
}

const EVENTS_MAX = 10_000;
/** So many more are dropped together: to drop one takes as long. */
const DROPPED = 1_000;
/** Events of one write that are told in one go. */
const TOLD_AT_ONCE = 256;
const LOOK_MS = 10_000;

export class LocalEvents implements EventSource {
  readonly #clock: Clock;
  readonly #idsOf: EventIdsOf;
  readonly #logs = new Map<string, AccountLog>();
  /** What an account shares: of the one store, which has it at once. */
  #projectsOf: (account: string) => readonly ProjectRecord[] = () => [];
  #tellListeners: (account: string, message: EventMessage) => void = () => {};
  #timer: NodeJS.Timeout | undefined;

  constructor(clock: Clock, idsOf: EventIdsOf) {
    this.#clock = clock;
    this.#idsOf = idsOf;
  }

  start(tell: (account: string, message: EventMessage) => void): void {
    this.#tellListeners = tell;
  }

  async begin(account: string): Promise<void> {
    const log = this.#logs.get(account);
    if (log !== undefined) log.leftAtMs = undefined;
    else {
      const ids = this.#idsOf(account, randomUUID());
      this.#logs.set(account, { ids, dropped: 0, events: [], backlog: [], leftAtMs: undefined });
    }
    this.#timer ??= setInterval(() => this.#dropOld(), LOOK_MS).unref();
  }

  end(account: string): void {
    const log = this.#logs.get(account);
    if (log !== undefined) log.leftAtMs = this.#clock.now();
  }

  async after(account: string, id: string): Promise<readonly NumberedEvent[] | undefined> {
    this.#dropOld();
    const log = this.#logs.get(account);
    const number = log?.ids.numberOf(id);
    if (log === undefined || number === undefined) return undefined;
    drop(log, Math.max(0, log.events.length - EVENTS_MAX));
    const from = number - log.dropped;
    if (from < 0 || from > log.events.length) return undefined;
    return log.events
      .slice(from)
      .flatMap((event, i) =>
        event === undefined ? [] : [this.#toldOf(account, log, number + i + 1, event)],
      );
  }

  /** A store whose changes are told. */
  withEvents(store: Store): Store {
    const told = new StoreLayer(store);
    this.#projectsOf = (account) => {
      const projects = store.readProjects(account);
      assert(!(projects instanceof Promise), "a store of one process has nothing to wait for");
      return projects;
    };
    // Told without waiting: the changes of one commit are answered in their order.
    told.write = async (request) => {
      const outcome = await store.write(request);
      this.#tellWrite(request, outcome);
      return outcome;
    };
    told.forgetUser = (...erased) => eraseUser(told, this.#clock.now(), ...erased);
    const tellEnded = (ended: readonly EndedFact[]) => {
      for (const fact of ended) this.#tellEnded(fact);
      return ended;
    };
    told.endFacts = async (nowMs) => tellEnded(await store.endFacts(nowMs));
    told.sweep = async (nowMs) => {
      const all: EndedFact[] = [];
      // A page at a time: what is written meanwhile is told behind the end of what was there before.
      for (let page = await told.endFacts(nowMs); page.length > 0; page = await told.endFacts(nowMs))
        all.push(...page);
      return [...all, ...tellEnded(await store.sweep(nowMs))];
    };
    return told;
  }

  #tellWrite({ account, userId, changes: [first] }: WriteRequest, outcome: WriteOutcome): void {
    const log = this.#logs.get(account);
    if (outcome.outcome !== "stored" || log === undefined) return;
    if (first?.kind === "erase" && outcome.report?.erased) forget(log, userId, first.within);
    const events = outcome.events.map(({ label, place, ...event }) => ({
      ...event,
      ...eventUser(userId, place),
      label: label ?? undefined,
    }));
    this.#tellAll(account, log, events);
  }

  #tellAll(account: string, log: AccountLog, events: readonly UserEvent[]): void {
    const isWaiting = log.backlog.length > 0;
    for (const event of events) log.backlog.push(event);
    if (isWaiting) return;
    const telling = this.#tellBacklog(account, log);
    // Those of a large user take a while; what comes after them waits.
    if (events.length <= TOLD_AT_ONCE) atOnce(telling);
    else void inSlices(telling, () => setImmediate());
  }

  *#tellBacklog(account: string, log: AccountLog): Sliced<void> {
    for (let i = 0; i < log.backlog.length; i++) {
      yield;
      const event = log.backlog[i];
      if (event !== undefined) this.#tell(account, log, event);
    }
    log.backlog = [];
  }

  #tellEnded({ account, endedAtMs: atMs, userId, place, ...fact }: EndedFact): void {
    const log = this.#logs.get(account);
    const event = { ...fact, ...eventUser(userId, place), writtenBy: null, kind: "expired" as const, atMs };
    if (log !== undefined) this.#tellAll(account, log, [event]);
  }

  #tell(account: string, log: AccountLog, event: UserEvent): void {
    log.events.push(event);
    this.#tellListeners(account, this.#toldOf(account, log, log.dropped + log.events.length, event));
    if (log.events.length >= EVENTS_MAX + DROPPED) drop(log, log.events.length - EVENTS_MAX);
  }

  #toldOf(account: string, log: AccountLog, number: number, event: UserEvent): NumberedEvent {
    const members = isShared(event.place) ? membersAt(event.place, this.#projectsOf(account)) : {};
    return { id: log.ids.idOf(number), number, event, ...members };
  }

  /** Logs that nobody has listened to for an hour, and events older than that. */
  #dropOld(): void {
    const oldMs = this.#clock.now() - EVENTS_KEPT_MS;
    for (const [account, log] of this.#logs) {
      if (log.leftAtMs !== undefined && log.leftAtMs <= oldMs) this.#logs.delete(account);
      const count = log.events.findIndex((event) => event !== undefined && event.atMs > oldMs);
      drop(log, count < 0 ? log.events.length : count);
    }
    if (this.#logs.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  close(): void {
    clearInterval(this.#timer);
    this.#logs.clear();
  }
}

/** @param within a place and those inside it; null: all of the user */
function forget(log: AccountLog, userId: string, within: Place | null): void {
  const project = projectOfUser(userId);
  const shared = project === undefined ? undefined : sharedPlace(project);
  const kept = (event: UserEvent | undefined) => {
    const isOfPerson = event?.userId === userId && (within === null || isInside(event.place, within));
    const isForgotten = isOfPerson || (event !== undefined && event.place === shared);
    return isForgotten ? undefined : event;
  };
  log.events = log.events.map(kept);
  log.backlog = log.backlog.map(kept);
}

function drop(log: AccountLog, count: number): void {
  if (count === 0) return;
  log.events = log.events.slice(count);
  log.dropped += count;
}
