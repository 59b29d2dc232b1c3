/**
 * What a caller may write whose key or token is bound to a user, or is for some labels: the same memory, over a store that
 * adds to each write what its author may write. A label that a write names is refused here, before it is looked up; what
 * a write comes to (a rollback, a move, an erasure) the law refuses, under the user's lock, with the same words.
 */

import { BoundedCache } from "../base/bounded-cache.ts";
import type { LabelPatterns } from "../base/label-patterns.ts";
import type { Caller } from "./authentication.ts";
import type { Labels } from "./labels.ts";
import { isInside } from "./places.ts";
import type { Change, WriteRequest } from "./ports.ts";
import type { Place } from "./records.ts";
import { requireWritable, type Writable } from "./rights.ts";
import type { MemoryServices } from "./services.ts";
import { StoreLayer } from "./store-layer.ts";

const VIEWS_MAX = 256;
const views = new WeakMap<MemoryServices, BoundedCache<MemoryServices>>();

/** The services as their caller may write them. */
export function writtenBy(
  services: MemoryServices,
  { user, write }: Pick<Caller, "user" | "write">,
): MemoryServices {
  if (user === null && write === undefined) return services;
  const name = `${user === null ? "account" : "user"} ${write?.text ?? ""}`;
  const known = views.get(services) ?? new BoundedCache<MemoryServices>({ entriesMax: VIEWS_MAX });
  views.set(services, known);
  const view = known.get(name) ?? limited(services, { isBound: user !== null, patterns: write });
  known.set(name, view);
  return view;
}

interface AuthorLimits {
  readonly isBound: boolean;
  readonly patterns: LabelPatterns | undefined;
}

function limited(services: MemoryServices, limits: AuthorLimits): MemoryServices {
  const { store, labels } = services;
  const layer = new StoreLayer(store);
  layer.write = async (request: WriteRequest) => {
    const writable = await writableIn(labels, request.account, limits);
    for (const change of request.changes) requireNamed(writable, change);
    const [first] = request.changes;
    if (first?.kind === "move") await requireInside(writable, request, first.from);
    return store.write({ ...request, writable });
  };
  layer.forgetUser = async (account, userId, place, _writable, audit) => {
    const writable = await writableIn(labels, account, limits);
    await requireInside(writable, { account, userId }, place);
    return store.forgetUser(account, userId, place, writable, audit);
  };
  /** Before the list of erasures has it: what is noted there counts after a restore, whatever the law has said. */
  const requireInside = async (
    writable: Writable,
    { account, userId }: Pick<WriteRequest, "account" | "userId">,
    place: Place | undefined,
  ) => {
    const { facts = [], earlier = [] } = (await store.readLife(account, userId, { nowMs: 0 })) ?? {};
    for (const fact of [...facts, ...earlier])
      if (place === undefined || isInside(fact.place, place)) requireWritable(writable, fact.label);
  };
  return { ...services, store: layer };
}

/** The account's labels as they are known here: what another node has changed counts within seconds, as a key's rights do. */
async function writableIn(
  labels: Labels,
  account: string,
  { isBound, patterns }: AuthorLimits,
): Promise<Writable> {
  const reserved = isBound ? (await labels.of(account)).reserved : new Set<string>();
  return { patterns, reserved };
}

function requireNamed(writable: Writable, change: Change): void {
  if (!("label" in change)) return;
  requireWritable(writable, change.label, `${"param" in change ? (change.param ?? "") : ""}label`);
  if (change.kind === "rename") requireWritable(writable, change.to, "to");
}
