/**
 * The events of a store that only this process writes to: it tells of its own writes. The events of an account are kept in
 * memory from the first listener on, until an hour after the last one has left. Nothing of them is stored.
 */

import { randomUUID } from "node:crypto";
import { setImmediate } from "node:timers/promises";
import type { Clock } from "../base/clock.ts";
import { atOnce, inSlices, type Sliced } from "../base/slices.ts";
import { eraseUser } from "./erasure.ts";
import type { EventIds, EventIdsOf } from "./event-ids.ts";
import {
  EVENTS_KEPT_MS,
  type EventMessage,
  type EventSource,
  type NumberedEvent,
  type UserEvent,
} from "./events.ts";
import { isInside } from "./places.ts";
import type { Store, WriteOutcome, WriteRequest } from "./ports.ts";
import type { EndedFact, Place } from "./records.ts";
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
  #tellListeners: (account: string, heard: EventMessage) => void = () => {};
  #timer: NodeJS.Timeout | undefined;

  constructor(clock: Clock, idsOf: EventIdsOf) {
    this.#clock = clock;
    this.#idsOf = idsOf;
  }

  start(tell: (account: string, heard: EventMessage) => void): void {
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
      .flatMap((event, i) => (event === undefined ? [] : [toldOf(log, number + i + 1, event)]));
  }

  /** A store whose changes are told. */
  tellsOf(store: Store): Store {
    const told = new StoreLayer(store);
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
    const events = outcome.events.map(({ label, ...event }) => ({
      ...event,
      userId,
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

  #tellEnded({ account, endedAtMs: atMs, ...fact }: EndedFact): void {
    const log = this.#logs.get(account);
    if (log !== undefined) this.#tellAll(account, log, [{ ...fact, writtenBy: null, kind: "expired", atMs }]);
  }

  #tell(account: string, log: AccountLog, event: UserEvent): void {
    log.events.push(event);
    this.#tellListeners(account, toldOf(log, log.dropped + log.events.length, event));
    if (log.events.length >= EVENTS_MAX + DROPPED) drop(log, log.events.length - EVENTS_MAX);
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
  const kept = (event: UserEvent | undefined) => {
    const isForgotten = event?.userId === userId && (within === null || isInside(event.place, within));
    return isForgotten ? undefined : event;
  };
  log.events = log.events.map(kept);
  log.backlog = log.backlog.map(kept);
}

function toldOf(log: AccountLog, number: number, event: UserEvent): NumberedEvent {
  return { id: log.ids.idOf(number), number, event };
}

function drop(log: AccountLog, count: number): void {
  if (count === 0) return;
  log.events = log.events.slice(count);
  log.dropped += count;
}
