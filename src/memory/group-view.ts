/**
 * What a caller sees whose key, token or request is for some groups of labels: the same memory, in which the other groups
 * do not exist. It is made here once, of a layer over the store, and every operation works with it as with the whole. What is outside is not
 * in what is read, counted or told; a write that names it, or concerns all that a user has, is refused.
 */

import { BoundedCache } from "../base/bounded-cache.ts";
import { CHANNELS } from "../base/channels.ts";
import type { Groups } from "../base/groups.ts";
import { andThen } from "../base/maybe-promise.ts";
import type { OnEventMessage } from "./events.ts";
import { Labels } from "./labels.ts";
import { isOfSeenLabel } from "./law/restores.ts";
import { nameOf } from "./law/user-memory.ts";
import type {
  Change,
  EarlierFact,
  FactRecord,
  FreeLabelsQuery,
  Store,
  UserLife,
  UserState,
} from "./ports.ts";
import type { FreeLabel, LabelRecord } from "./records.ts";
import { requireGroup, wholeOnly } from "./rights.ts";
import type { MemoryServices } from "./services.ts";
import { StoreLayer } from "./store-layer.ts";

const VIEWS_MAX = 256;
const views = new WeakMap<MemoryServices, BoundedCache<MemoryServices>>();

/** The services as a caller sees them; undefined: of all groups. */
export function seenBy(services: MemoryServices, groups: Groups | undefined): MemoryServices {
  const seen = groups === undefined ? services.groups : services.groups.and(groups);
  if (seen.text === services.groups.text) return services;
  const known = views.get(services) ?? new BoundedCache<MemoryServices>({ entriesMax: VIEWS_MAX });
  views.set(services, known);
  const view = known.get(seen.text) ?? servicesOf(services, seen);
  known.set(seen.text, view);
  return view;
}

function servicesOf(services: MemoryServices, groups: Groups): MemoryServices {
  const store = seenStore(services.store, groups);
  const labels = new Labels(store);
  return {
    ...services,
    groups,
    store,
    labels,
    blocks: services.blocks.seenBy(store, labels, groups.text),
    indexes: services.indexes.seenBy(store, labels, groups.text),
    events: seenEvents(services.events, groups),
  };
}

function seenStore(store: Store, groups: Groups): Store {
  const seen = new StoreLayer(store);
  const has = ({ label }: { readonly label: string }) => groups.has(label);
  seen.readFact = (view, label) => (groups.has(label) ? store.readFact(view, label) : undefined);
  seen.readUser = (view) => andThen(store.readUser(view), (state) => seenState(state, groups));
  seen.readLife = async (account, userId, asked) =>
    seenLife(await store.readLife(account, userId, asked), groups);
  seen.describeUser = async (account, userId, nowMs) => {
    const life = await seen.readLife(account, userId, { nowMs });
    if (life === undefined) return undefined;
    const facts = new Map<string, number>();
    for (const { place } of life.facts) facts.set(place, (facts.get(place) ?? 0) + 1);
    const times = life.facts.map(({ updatedAtMs }) => updatedAtMs);
    const updatedAtMs = times.length === 0 ? null : times.reduce((a, b) => Math.max(a, b));
    return { facts, updatedAtMs };
  };
  seen.readFreeLabels = (account, userId, asked) =>
    readSeenLabels((page) => store.readFreeLabels(account, userId, page), asked, has);
  seen.listUsers = async (account, { prefix, after, limit }) => {
    const users: string[] = [];
    for (let last = after; ; ) {
      const page = await store.listUsers(account, { prefix, after: last, limit });
      for (const user of page) {
        if (users.length < limit && (await seen.readLife(account, user, { nowMs: 0 })) !== undefined)
          users.push(user);
      }
      if (page.length < limit || users.length === limit) return users;
      last = page[limit - 1];
    }
  };
  seen.readLabels = (account) => andThen(store.readLabels(account), (records) => seenLabels(records, has));
  seen.write = async (request) => {
    for (const change of request.changes) requireSeen(change, groups);
    return store.write({ groups, ...request });
  };
  seen.forgetUser = async () => {
    throw wholeOnly();
  };
  return seen;
}

function seenState(state: UserState | undefined, groups: Groups): UserState | undefined {
  const facts = state?.facts.filter(({ label }) => groups.has(label)) ?? [];
  return state === undefined || facts.length === 0 ? undefined : { ...state, facts };
}

function seenLife(life: UserLife | undefined, groups: Groups): UserLife | undefined {
  if (life === undefined) return undefined;
  // What a fact was before it came from a label that is not seen is not seen either, and not counted.
  const hidden = new Map<string, number>();
  for (const fact of life.earlier) if (!isOfSeenLabel(fact, groups)) hidden.set(nameOf(fact), fact.ordinal);
  const seen = <F extends FactRecord | EarlierFact>(all: readonly F[]) =>
    all.flatMap((fact): F[] => {
      const ordinal = fact.ordinal - (hidden.get(nameOf(fact)) ?? 0);
      return groups.has(fact.label) && ordinal > 0 ? [{ ...fact, ordinal }] : [];
    });
  const [facts, earlier] = [seen(life.facts), seen(life.earlier)];
  return facts.length + earlier.length === 0 ? undefined : { ...life, facts, earlier };
}

type LabelPages = (asked: FreeLabelsQuery) => ReturnType<Store["readFreeLabels"]>;

/** Page by page, until there are as many as were asked for. */
async function readSeenLabels(
  read: LabelPages,
  { prefix, after, limit }: FreeLabelsQuery,
  has: (label: FreeLabel) => boolean,
): Promise<readonly FreeLabel[]> {
  const found: FreeLabel[] = [];
  for (let last = after; ; ) {
    const page = await read({ prefix, limit, ...(last === undefined ? {} : { after: last }) });
    found.push(...page.filter(has));
    if (page.length < limit || found.length >= limit) return found.slice(0, limit);
    last = page[limit - 1].label;
  }
}

/** Labels outside are as those that were removed: nobody finds them, and their channels stay theirs. */
function seenLabels(
  records: readonly LabelRecord[],
  has: (label: { readonly label: string }) => boolean,
): readonly LabelRecord[] {
  const terms = { oneOf: null, maxBytes: null, ttlS: null, scope: null, hidden: false, createdAtMs: 0 };
  const standard = CHANNELS.filter((channel) => !has(channel)).map((channel) => ({ ...channel, ...terms }));
  const others = standard.filter(({ channel }) => !records.some((record) => record.channel === channel));
  return [...records, ...others].map((record) => (has(record) ? record : { ...record, removed: true }));
}

/** Refuses what concerns all groups, and a write of a label outside. */
function requireSeen(change: Change, groups: Groups): void {
  if (change.kind === "rollback") return;
  if (!("label" in change)) throw wholeOnly();
  requireGroup(groups, change.label);
  if (change.kind === "rename") requireGroup(groups, change.to, "to");
}

/** What is forgotten as a whole is told to everybody. */
function seenEvents(events: MemoryServices["events"], groups: Groups): MemoryServices["events"] {
  const filtered = new WeakMap<OnEventMessage, OnEventMessage>();
  const filterOf =
    (onMessage: OnEventMessage): OnEventMessage =>
    (message, userId) => {
      const label = typeof message === "string" ? undefined : message.event.label;
      if (label === undefined || groups.has(label)) onMessage(message, userId);
    };
  return {
    listen(account, userId, onMessage, lastId) {
      const seen = filtered.get(onMessage) ?? filterOf(onMessage);
      filtered.set(onMessage, seen);
      return events.listen(account, userId, seen, lastId);
    },
    close() {},
  };
}
