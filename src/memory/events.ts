/**
 * What happens to the users of an account, for whoever listens: an event for each change, never with a value. The events
 * of an account are kept in memory from the first listener on, until an hour after the last one has left, so that one who
 * comes back goes on without a gap. Nothing of them is stored.
 *
 * Changes of this process are told by the store that `tellsOf` wraps. Where other processes write to the same store, the
 * stamps of the users that somebody listens to are read each second, and what is new is told.
 */

import { randomUUID } from "node:crypto";
import type { Clock } from "../base/clock.ts";
import { Failure } from "../base/errors.ts";
import type { Labels } from "./labels.ts";
import { OWN_PLACE } from "./places.ts";
import type { Place, Store, UserLife, WriteOutcome, WriteRequest } from "./ports.ts";

/** Something that happened to a user's fact. */
export interface UserEvent {
  readonly userId: string;
  readonly place: Place;
  readonly kind: "written" | "forgotten" | "expired";
  readonly atMs: number;
  readonly revision: number;
  readonly writtenBy: string | null;
  /** undefined: everything at the place, and inside it, was forgotten. */
  readonly label: string | undefined;
}

/** An event with what a listener names to go on after it; `reset`: what happened before is not known; `end`: no more comes. */
export type Heard = { readonly id: string; readonly event: UserEvent } | "reset" | "end";
export type OnHeard = (heard: Heard) => void;

interface AccountLog {
  readonly id: string;
  /** Of the event before the first that is kept. */
  dropped: number;
  events: UserEvent[];
  readonly listeners: Map<OnHeard, string | undefined>;
  /** When the last listener left. */
  leftAtMs: number | undefined;
}

/** What is known of a user of whom other processes may write. */
interface FollowedUser {
  readonly account: string;
  readonly userId: string;
  stamp: string | undefined;
  revision: number;
  facts: ReadonlyMap<string, { place: Place; channel: number }>;
}

const KEPT_MS = 3_600_000;
const EVENTS_MAX = 10_000;
const LISTENERS_MAX = 1_024;
const LOOK_MS = 1_000;

export class UserEvents {
  readonly #store: Store;
  readonly #labels: Labels;
  readonly #clock: Clock;
  readonly #isShared: boolean;
  readonly #logs = new Map<string, AccountLog>();
  readonly #followed = new Map<string, FollowedUser>();
  #timer: NodeJS.Timeout | undefined;
  #looking = false;

  /** @param isShared whether other processes write to the store, too */
  constructor(store: Store, labels: Labels, { clock, isShared }: { clock: Clock; isShared: boolean }) {
    this.#store = store;
    this.#labels = labels;
    this.#clock = clock;
    this.#isShared = isShared;
  }

  /** Tells `onHeard` of what happens from now on, or from `lastId` on, until the function that it returns is called. */
  async listen(
    account: string,
    userId: string | undefined,
    lastId: string | undefined,
    onHeard: OnHeard,
  ): Promise<() => void> {
    const log = this.#logOf(account);
    if (log.listeners.size >= LISTENERS_MAX) {
      throw new Failure("overloaded", `At most ${LISTENERS_MAX} listen to an account at once.`, {
        retryAfterS: 5,
      });
    }
    if (this.#isShared && userId !== undefined) await this.#follow(account, userId);
    const heard = lastId === undefined ? [] : eventsAfter(log, lastId);
    if (heard === undefined) onHeard("reset");
    for (const { id, event } of heard ?? []) if (isOf(event, userId)) onHeard({ id, event });
    log.listeners.set(onHeard, userId);
    this.#timer ??= setInterval(() => void this.#look(), LOOK_MS).unref();
    return () => {
      log.listeners.delete(onHeard);
      if (log.listeners.size === 0) log.leftAtMs = this.#clock.now();
    };
  }

  #logOf(account: string): AccountLog {
    let log = this.#logs.get(account);
    if (log === undefined) {
      log = {
        id: randomUUID().slice(0, 8),
        dropped: 0,
        events: [],
        listeners: new Map(),
        leftAtMs: undefined,
      };
      this.#logs.set(account, log);
    }
    log.leftAtMs = undefined;
    return log;
  }

  /** A store whose changes are told. */
  tellsOf(store: Store): Store {
    const told = methodsOf(store);
    told.write = async (request) => {
      const outcome = await store.write(request);
      await this.#tellWrite(request, outcome);
      return outcome;
    };
    told.forgetUser = async (account, userId, place) => {
      const found = await store.forgetUser(account, userId, place);
      const event = { userId, place: place ?? OWN_PLACE, label: undefined, revision: 0, writtenBy: null };
      if (found) this.#tell(account, { ...event, kind: "forgotten", atMs: this.#clock.now() });
      return found;
    };
    told.sweep = async (nowMs) => {
      const ended = await store.sweep(nowMs);
      for (const { account, userId, place, channel, revision } of ended) {
        if (!this.#logs.has(account)) continue;
        const [label] = await this.#labels.namesOf(account, [channel]);
        this.#tell(account, {
          userId,
          place,
          label,
          revision,
          writtenBy: null,
          kind: "expired",
          atMs: nowMs,
        });
      }
      return ended;
    };
    return told;
  }

  async #tellWrite(request: WriteRequest, outcome: WriteOutcome): Promise<void> {
    const { account, userId, changes, nowMs, writtenBy = null } = request;
    if (outcome.outcome !== "stored" || !this.#logs.has(account)) return;
    const labels = await this.#labels.namesOf(
      account,
      changes.map(({ channel }) => channel),
    );
    const first = outcome.revision - changes.length + 1;
    for (const [i, { place, value }] of changes.entries()) {
      if (value === null && outcome.previous[i] === undefined) continue;
      const kind = value === null ? "forgotten" : "written";
      this.#tell(account, {
        userId,
        place,
        label: labels[i],
        revision: first + i,
        writtenBy,
        kind,
        atMs: nowMs,
      });
    }
    const followed = this.#followed.get(nameOf(account, userId));
    if (followed !== undefined) followed.revision = Math.max(followed.revision, outcome.revision);
  }

  #tell(account: string, event: UserEvent): void {
    const log = this.#logs.get(account);
    if (log === undefined) return;
    log.events.push(event);
    const id = idOf(log, log.dropped + log.events.length);
    for (const [tell, userId] of log.listeners) if (isOf(event, userId)) tell({ id, event });
    if (log.events.length > EVENTS_MAX) this.#drop(log, log.events.length - EVENTS_MAX);
  }

  #drop(log: AccountLog, count: number): void {
    log.events = log.events.slice(count);
    log.dropped += count;
  }

  async #follow(account: string, userId: string): Promise<void> {
    const name = nameOf(account, userId);
    if (this.#followed.has(name)) return;
    const life = await this.#store.readLife(account, userId, { nowMs: this.#clock.now() });
    this.#followed.set(name, { account, userId, ...knownOf(life) });
  }

  async #look(): Promise<void> {
    this.#forgetOld();
    if (this.#looking || this.#followed.size === 0) return;
    this.#looking = true;
    try {
      const users = [...this.#followed.values()];
      const stamps = await this.#store.readStamps(users);
      for (const [i, user] of users.entries()) if (stamps[i] !== user.stamp) await this.#lookAt(user);
    } catch {
      // The store is away: what has changed is seen when it is back.
    } finally {
      this.#looking = false;
    }
  }

  /** Tells what others have changed for a user. */
  async #lookAt(user: FollowedUser): Promise<void> {
    const { account, userId } = user;
    const nowMs = this.#clock.now();
    const life = await this.#store.readLife(account, userId, { nowMs });
    const known = knownOf(life);
    const written = [...(life?.facts ?? []), ...(life?.earlier ?? [])]
      .filter(({ revision }) => revision > user.revision)
      .map(({ place, channel, revision, writtenBy, updatedAtMs }) => {
        return { place, channel, revision, writtenBy, kind: "written" as const, atMs: updatedAtMs };
      });
    const gone = [...user.facts]
      .filter(([name]) => !known.facts.has(name))
      .map(([, { place, channel }]) => {
        const last = life?.earlier.findLast((fact) => fact.place === place && fact.channel === channel);
        const kind = last?.ended === "expired" ? ("expired" as const) : ("forgotten" as const);
        return {
          place,
          channel,
          revision: last?.revision ?? 0,
          writtenBy: null,
          kind,
          atMs: last?.endedAtMs ?? nowMs,
        };
      });
    Object.assign(user, known);
    for (const { channel, ...event } of [...written.sort((a, b) => a.revision - b.revision), ...gone]) {
      const [label] = await this.#labels.namesOf(account, [channel]);
      this.#tell(account, { ...event, userId, label });
    }
  }

  /** Logs that nobody has listened to for an hour, events older than that, and users whom nobody follows. */
  #forgetOld(): void {
    const oldMs = this.#clock.now() - KEPT_MS;
    for (const [account, log] of this.#logs) {
      if (log.leftAtMs !== undefined && log.leftAtMs <= oldMs) this.#logs.delete(account);
      const count = log.events.findIndex(({ atMs }) => atMs > oldMs);
      this.#drop(log, count < 0 ? log.events.length : count);
    }
    for (const [name, { account }] of this.#followed)
      if (!this.#logs.has(account)) this.#followed.delete(name);
    if (this.#logs.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  /** Ends all listening: a server that stops does not wait for listeners. */
  close(): void {
    clearInterval(this.#timer);
    for (const log of this.#logs.values()) for (const tell of [...log.listeners.keys()]) tell("end");
    this.#logs.clear();
  }
}

/** An object with the methods of a store, each bound to it. */
function methodsOf(store: Store): Store {
  const methods: Record<string, unknown> = {};
  for (const name of Object.getOwnPropertyNames(Object.getPrototypeOf(store)) as (keyof Store)[]) {
    const { value } = Object.getOwnPropertyDescriptor(Object.getPrototypeOf(store), name)!;
    if (typeof value === "function" && (name as string) !== "constructor") methods[name] = value.bind(store);
  }
  return methods as unknown as Store;
}

function isOf(event: UserEvent, userId: string | undefined): boolean {
  return userId === undefined || event.userId === userId;
}

function idOf(log: AccountLog, number: number): string {
  return `${log.id}-${number}`;
}

/** The events after one that was heard; undefined where that is not known any more. */
function eventsAfter(log: AccountLog, lastId: string) {
  const number = lastId.startsWith(`${log.id}-`) ? Number(lastId.slice(log.id.length + 1)) : Number.NaN;
  const from = number - log.dropped;
  if (!Number.isInteger(number) || from < 0 || from > log.events.length) return undefined;
  return log.events.slice(from).map((event, i) => ({ id: idOf(log, number + i + 1), event }));
}

function knownOf(life: UserLife | undefined): Omit<FollowedUser, "account" | "userId"> {
  const facts = life?.facts ?? [];
  const revisions = [...facts, ...(life?.earlier ?? [])].map(({ revision }) => revision);
  return {
    stamp: life?.stamp,
    revision: Math.max(0, ...revisions),
    facts: new Map(facts.map(({ place, channel }) => [`${channel} ${place}`, { place, channel }])),
  };
}

function nameOf(account: string, userId: string): string {
  return `${account}\0${userId}`;
}
