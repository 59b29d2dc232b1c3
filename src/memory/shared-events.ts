/**
 * The events of a database that several nodes write to. Writes record what they change, in their own transaction, for
 * accounts that somebody listens to on any node; each node reads what is new for its own listeners a few times a
 * second. So all nodes tell the same events under the same ids, and whoever comes back may come to another node.
 */

import type { Clock } from "../base/clock.ts";
import type { EventIds, EventIdsOf } from "./event-ids.ts";
import {
  EVENTS_KEPT_MS,
  type EventMessage,
  type EventSource,
  membersAt,
  type NumberedEvent,
} from "./events.ts";
import type { EventLog, ProjectRecord, RecordedEvent } from "./records.ts";
import { isShared } from "./shared-places.ts";

interface Subscription {
  /** undefined while the database could not be asked. */
  log: { readonly name: string; readonly ids: EventIds } | undefined;
  /** The number of the last event that was told. */
  last: number;
  beginning: Promise<void> | undefined;
  renewAtMs: number;
}

const READ_MS = 250;
const RENEW_MS = 300_000;
const PAGE = 1_000;
/** The most events that a listener who comes back is told; with more it is told `reset`. */
const MISSED_MAX = 10_000;

export class SharedEvents implements EventSource {
  readonly #log: EventLog;
  readonly #clock: Clock;
  readonly #idsOf: EventIdsOf;
  readonly #followed = new Map<string, Subscription>();
  /** What each account shared when that was last looked at. */
  readonly #shared = new Map<string, readonly ProjectRecord[]>();
  #tellListeners: (account: string, message: EventMessage) => void = () => {};
  #timer: NodeJS.Timeout | undefined;
  #reading = false;

  constructor(log: EventLog, clock: Clock, idsOf: EventIdsOf) {
    this.#log = log;
    this.#clock = clock;
    this.#idsOf = idsOf;
  }

  start(tell: (account: string, message: EventMessage) => void): void {
    this.#tellListeners = tell;
  }

  begin(account: string): Promise<void> {
    this.#timer ??= setInterval(() => void this.#read(), READ_MS).unref();
    const known = this.#followed.get(account);
    const followed = known ?? { log: undefined, last: 0, beginning: undefined, renewAtMs: 0 };
    this.#followed.set(account, followed);
    if (followed.log !== undefined) return Promise.resolve();
    followed.beginning ??= this.#follow(account, followed).finally(() => {
      followed.beginning = undefined;
    });
    return followed.beginning;
  }

  end(account: string): void {
    this.#followed.delete(account);
    this.#shared.delete(account);
    if (this.#followed.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  async after(account: string, id: string): Promise<readonly NumberedEvent[] | undefined> {
    const ids = this.#followed.get(account)?.log?.ids;
    const number = ids?.numberOf(id);
    if (ids === undefined || number === undefined) return undefined;
    const { first, last, events } = await this.#log.readEvents([account], number, MISSED_MAX);
    if (number < first || number > last || events.length === MISSED_MAX) return undefined;
    const projects = await this.#projectsOf(events);
    return events.map((event) => numberedEvent(ids, event, projects.get(account)));
  }

  /** Has events recorded for as long as somebody listens, and an hour longer. */
  async #follow(account: string, followed: Subscription): Promise<void> {
    const nowMs = this.#clock.now();
    const { log, last } = await this.#log.followEvents(account, nowMs + EVENTS_KEPT_MS + 2 * RENEW_MS);
    await this.#lookAtProjects(account);
    followed.renewAtMs = nowMs + RENEW_MS;
    if (followed.log?.name === log) return;
    const wasKnown = followed.log !== undefined;
    followed.log = { name: log, ids: this.#idsOf(account, log) };
    followed.last = last;
    if (wasKnown) this.#tellListeners(account, "reset");
  }

  async #read(): Promise<void> {
    if (this.#reading) return;
    this.#reading = true;
    try {
      await this.#renew();
      while (await this.#readPage());
    } catch {
      // The database is away: what has happened is read when it is back.
    } finally {
      this.#reading = false;
    }
  }

  async #renew(): Promise<void> {
    const nowMs = this.#clock.now();
    for (const [account, followed] of [...this.#followed]) {
      if (followed.beginning !== undefined || (followed.log !== undefined && nowMs < followed.renewAtMs))
        continue;
      const isLate = followed.log === undefined;
      await this.#follow(account, followed);
      // What has happened since somebody began to listen is not known.
      if (isLate) this.#tellListeners(account, "reset");
    }
  }

  /** True where there may be more. */
  async #readPage(): Promise<boolean> {
    const followed = [...this.#followed].filter(([, { log }]) => log !== undefined);
    if (followed.length === 0) return false;
    const from = Math.min(...followed.map(([, { last }]) => last));
    const accounts = followed.map(([account]) => account);
    const { last, events } = await this.#log.readEvents(accounts, from, PAGE);
    const projects = await this.#projectsOf(events);
    for (const recorded of events) {
      const { account, number } = recorded;
      const state = this.#followed.get(account);
      if (state?.log === undefined || number <= state.last) continue;
      state.last = number;
      this.#tellListeners(account, numberedEvent(state.log.ids, recorded, projects.get(account)));
    }
    const isMore = events.length === PAGE;
    const upTo = isMore ? events[PAGE - 1].number : last;
    for (const [account, state] of followed) {
      // A database that was put back to an earlier state gives numbers again.
      if (last < state.last) {
        state.last = last;
        this.#tellListeners(account, "reset");
      } else if (state.last < upTo) state.last = upTo;
    }
    return isMore;
  }

  /**
   * What the accounts share that have events at shared places. That a project was erased is read when nobody shares it any
   * more: it is told to those who shared it when that was last looked at.
   */
  async #projectsOf(events: readonly RecordedEvent[]): Promise<Map<string, readonly ProjectRecord[]>> {
    const projects = new Map<string, readonly ProjectRecord[]>();
    for (const { account, place } of events) {
      if (!isShared(place) || projects.has(account)) continue;
      const before = this.#shared.get(account) ?? [];
      const now = await this.#lookAtProjects(account);
      const gone = before.filter(({ project }) => !now.some((other) => other.project === project));
      projects.set(account, [...now, ...gone]);
    }
    return projects;
  }

  async #lookAtProjects(account: string): Promise<readonly ProjectRecord[]> {
    const projects = await this.#log.readProjects(account);
    this.#shared.set(account, projects);
    return projects;
  }

  close(): void {
    clearInterval(this.#timer);
    this.#followed.clear();
  }
}

function numberedEvent(
  ids: EventIds,
  { account: _, number, label, ...event }: RecordedEvent,
  projects: readonly ProjectRecord[] = [],
): NumberedEvent {
  const told = { id: ids.idOf(number), number, event: { ...event, label: label ?? undefined } };
  return { ...told, ...membersAt(event.place, projects) };
}
