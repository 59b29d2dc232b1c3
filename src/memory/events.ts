/**
 * What happens to the users of an account, for whoever listens: an event for each change, never with a value. HTTP streams
 * and subscriptions of MCP both listen here. Where the events come from is the source's: what this process writes
 * (local-events.ts), or what all nodes have recorded in their database (shared-events.ts). Each goes back an hour, so that
 * one who comes back goes on without a gap.
 */

import { Failure } from "../base/errors.ts";
import { withThousands } from "../base/limits.ts";
import { isInside, OWN_PLACE } from "./places.ts";
import type { EventKind, Place, ProjectRecord } from "./records.ts";
import { isShared, projectOfPlace } from "./shared-places.ts";

/** Something that happened to a user's fact. */
export interface UserEvent {
  /** At a shared place: who wrote it, or "". */
  readonly userId: string;
  readonly place: Place;
  readonly kind: EventKind;
  readonly atMs: number;
  readonly revision: number;
  readonly writtenBy: string | null;
  /** undefined: everything at the place, and inside it, was forgotten. */
  readonly label: string | undefined;
}

/** An event with its number, which no listener sees, and what a listener names to go on after it (event-ids.ts). */
export interface NumberedEvent {
  readonly id: string;
  readonly number: number;
  readonly event: UserEvent;
  /** Of an event at a shared place: who shares it when it is told; null: all of the account. */
  readonly members?: ReadonlySet<string> | null;
}

/** `reset`: what happened before is not known; `end`: no more comes. */
export type EventMessage = NumberedEvent | "reset" | "end";

/** @param userId whom it has asked for; undefined: the whole account */
export type OnEventMessage = (message: EventMessage, userId: string | undefined) => void;

/** Where events come from. */
export interface EventSource {
  /** Begins with an account. When it has resolved, whatever happens from then on is told. */
  begin(account: string): Promise<void>;
  /** Nobody listens to the account any more. */
  end(account: string): void;
  /** What has happened after an event, in order; undefined where that is not known. */
  after(account: string, id: string): Promise<readonly NumberedEvent[] | undefined>;
  /** Called once, before anything else. */
  start(tell: (account: string, message: EventMessage) => void): void;
  close(): void;
}

export interface Listening {
  /** Resolves when nothing is missed any more. */
  readonly ready: Promise<void>;
  stop(): void;
}

interface Listener {
  readonly onMessage: OnEventMessage;
  /** How often it has asked for the same. */
  count: number;
  /** What comes while it is told what it has missed. */
  held: EventMessage[] | undefined;
  /** The number of the last missed event that it was told. The same event may also be among `held`. */
  last: number;
}

/** Listeners of an account by the user that they have asked for. */
type Listeners = Map<string | undefined, Map<OnEventMessage, Listener>>;

/** How far back a source goes, for a listener that comes back. */
export const EVENTS_KEPT_MS = 3_600_000;
/** How many memories those who listen to an account may listen to at once. A memory counts once. */
export const MEMORIES_MAX = 1_024;
const LISTENERS_MAX = 1_024;

export class UserEvents {
  readonly #source: EventSource;
  readonly #accounts = new Map<string, Listeners>();

  constructor(source: EventSource) {
    this.#source = source;
    source.start((account, message) => this.#tell(account, message));
  }

  /**
   * Tells `onMessage` of what happens to a user, or to all of the account, from now on, or after an event that it has heard.
   * Whoever asks for the same again is told once. Throws `overloaded`.
   */
  listen(account: string, userId: string | undefined, onMessage: OnEventMessage, lastId?: string): Listening {
    const listeners = this.#accounts.get(account) ?? new Map();
    const ofUser = listeners.get(userId) ?? new Map<OnEventMessage, Listener>();
    refuseTooMany(listeners, userId, ofUser);
    this.#accounts.set(account, listeners.set(userId, ofUser));
    const listener = ofUser.get(onMessage) ?? {
      onMessage,
      count: 0,
      held: lastId === undefined ? undefined : [],
      last: 0,
    };
    listener.count += 1;
    ofUser.set(onMessage, listener);
    let isOver = false;
    return {
      ready: this.#begin(account, userId, listener, lastId),
      stop: () => {
        if (isOver) return;
        isOver = true;
        listener.count -= 1;
        if (listener.count === 0) ofUser.delete(onMessage);
        if (ofUser.size === 0 && listeners.get(userId) === ofUser) listeners.delete(userId);
        if (listeners.size > 0 || this.#accounts.get(account) !== listeners) return;
        this.#accounts.delete(account);
        this.#source.end(account);
      },
    };
  }

  async #begin(
    account: string,
    userId: string | undefined,
    listener: Listener,
    lastId: string | undefined,
  ): Promise<void> {
    await this.#source.begin(account);
    if (lastId === undefined) return;
    const missed = await this.#source.after(account, lastId);
    const { onMessage, held = [] } = listener;
    listener.held = undefined;
    if (missed === undefined) onMessage("reset", userId);
    for (const told of withoutForgotten(missed ?? [])) if (isOf(told, userId)) onMessage(told, userId);
    listener.last = missed?.at(-1)?.number ?? 0;
    for (const message of held) if (isNew(message, listener)) onMessage(message, userId);
  }

  #tell(account: string, message: EventMessage): void {
    const listeners = this.#accounts.get(account);
    if (listeners === undefined) return;
    const asked = isOfOne(message) ? [message.event.userId, undefined] : listeners.keys();
    for (const userId of [...asked]) {
      if (typeof message !== "string" && !isOf(message, userId)) continue;
      for (const listener of [...(listeners.get(userId)?.values() ?? [])]) {
        if (listener.held !== undefined) listener.held.push(message);
        else if (isNew(message, listener)) listener.onMessage(message, userId);
      }
    }
  }

  /** Ends all listening: a server that stops does not wait for listeners. */
  close(): void {
    this.#source.close();
    for (const account of [...this.#accounts.keys()]) this.#tell(account, "end");
    this.#accounts.clear();
  }
}

function refuseTooMany(
  listeners: Listeners,
  userId: string | undefined,
  { size }: ReadonlyMap<OnEventMessage, Listener>,
): void {
  const refuse = (text: string) => new Failure("overloaded", text, { retryAfterS: 5 });
  if (!listeners.has(userId) && listeners.size >= MEMORIES_MAX)
    throw refuse(
      `The clients of an account listen to at most ${withThousands(MEMORIES_MAX)} memories at once on a node. ` +
        "End a subscription before you begin another.",
    );
  if (size >= LISTENERS_MAX)
    throw refuse(`At most ${withThousands(LISTENERS_MAX)} listen to a memory at once on a node.`);
}

function isNew(message: EventMessage, { last }: Listener): boolean {
  return typeof message === "string" || message.number > last;
}

/** Without the events of users and places that were forgotten later, and of what such a user has written in shared projects. */
function withoutForgotten(told: readonly NumberedEvent[]): readonly NumberedEvent[] {
  const forgotten = new Map<string, readonly Place[]>();
  const kept: NumberedEvent[] = [];
  for (const one of [...told].reverse()) {
    const { userId, place, label } = one.event;
    // What is shared is forgotten as a whole, whoever has written it.
    const owner = isShared(place) ? place : userId;
    const places = forgotten.get(owner) ?? [];
    const isOfForgotten = forgotten.get(userId)?.includes(OWN_PLACE) === true;
    if (isOfForgotten || places.some((outer) => isInside(place, outer))) continue;
    kept.push(one);
    if (label === undefined) forgotten.set(owner, [...places, place]);
  }
  return kept.reverse();
}

function isOfOne(message: EventMessage): message is NumberedEvent {
  return typeof message !== "string" && !isShared(message.event.place);
}

function isOf({ event, members }: NumberedEvent, userId: string | undefined): boolean {
  if (userId === undefined || !isShared(event.place)) return userId === undefined || event.userId === userId;
  return members === null || members?.has(userId) === true;
}

/** Who is told of what happens at a place, by what its account shares now. */
export function membersAt(place: Place, projects: readonly ProjectRecord[]): Pick<NumberedEvent, "members"> {
  const project = projectOfPlace(place);
  if (project === undefined) return {};
  const record = projects.find((known) => known.project === project);
  return { members: record?.members === null ? null : new Set(record?.members) };
}
