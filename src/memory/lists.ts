/**
 * Facts that are lists: items joined by "; ". Adding and removing one is a read and a write that holds only while the
 * fact is the one that was read; where somebody else was faster, it is tried again. So no store knows lists, and of many
 * items that are added at once none is lost.
 */

import { utf8 } from "../base/bytes.ts";
import { Failure } from "../base/errors.ts";
import { VALUE_BYTES_MAX } from "../base/limits.ts";
import type { Caller } from "./authentication.ts";
import { type EncodeResult, encodeFacts, type FactInput, type WriteInput } from "./encode.ts";
import { factNotFound, forgetFact } from "./facts.ts";
import { checkValue } from "./identifiers.ts";
import { placeFor, scopeIn, viewOf } from "./places.ts";
import type { MemoryServices } from "./services.ts";

const JOINT = "; ";
const SEPARATOR = ";";
/** More than the writers of one fact that can be expected at once. */
const ATTEMPTS_MAX = 100;

export interface ItemInput extends WriteInput, Omit<FactInput, "value"> {
  readonly item: string;
}

/** An item that is there already is not added again. */
export function appendItem(
  services: MemoryServices,
  caller: Caller,
  input: ItemInput,
): Promise<EncodeResult> {
  checkItem(input.item);
  return untilWritten(input, async () => {
    const { account } = caller;
    const nowMs = services.clock.now();
    const view = viewOf(account, input, nowMs);
    const terms = await services.labels.find(account, input.label);
    const place = placeFor(input.scope ?? terms.scope, view.places);
    const present = await services.store.readFact({ ...view, places: [place] }, terms.channel);
    const items = itemsOf(present?.value);
    const value = items.includes(input.item) ? items.join(JOINT) : [...items, input.item].join(JOINT);
    const bytesMax = terms.maxBytes ?? VALUE_BYTES_MAX;
    if (utf8(value).length > bytesMax) {
      throw new Failure(
        "invalid_value",
        `With this item the list would have more than ${bytesMax} bytes: remove one of its items first.`,
        { param: "item", items },
      );
    }
    return write(services, caller, input, "append", {
      value,
      ifRevision: input.ifRevision ?? present?.revision ?? 0,
    });
  });
}

/** Where it was the last item, the fact is forgotten, and its history stays. */
export function removeItem(
  services: MemoryServices,
  caller: Caller,
  input: ItemInput,
): Promise<EncodeResult> {
  checkItem(input.item);
  return untilWritten(input, async () => {
    const { account } = caller;
    const { label } = input;
    const view = viewOf(account, input, services.clock.now());
    const terms = await services.labels.find(account, label);
    const places = input.scope === undefined ? view.places : [placeFor(input.scope, view.places)];
    const present = await services.store.readFact({ ...view, places }, terms.channel);
    if (present === undefined) throw factNotFound(label);
    const items = itemsOf(present.value);
    if (!items.includes(input.item)) {
      throw new Failure("fact_not_found", `The list on ${label} has no such item.`, { param: "item", items });
    }
    const ifRevision = input.ifRevision ?? present.revision;
    const scope = scopeIn(present.place, view.places);
    const rest = items.filter((item) => item !== input.item);
    if (rest.length > 0)
      return write(services, caller, { ...input, scope }, "remove", { value: rest.join(JOINT), ifRevision });
    const { userId, project, writtenBy, sessionId } = input;
    const forgotten = { userId, project, label, scope, writtenBy, sessionId, keepHistory: true, ifRevision };
    const channelCount = await forgetFact(services, account, forgotten);
    return { facts: [], channel: terms.channel, channelCount, replayed: false, used: undefined };
  });
}

function write(
  services: MemoryServices,
  caller: Caller,
  input: ItemInput,
  operation: "append" | "remove",
  fact: { value: string; ifRevision: number },
): Promise<EncodeResult> {
  const { label, item, scope, ttlS, expiresAt, ifRevision, ...rest } = input;
  const facts = [{ label, scope, ttlS, expiresAt, ...fact }];
  return encodeFacts(services, caller, {
    ...rest,
    facts,
    operation,
    fingerprinted: [label, item, scope, ttlS, expiresAt, ifRevision],
  });
}

/** Tries again where another writer was faster, unless the caller has named the revision itself. */
async function untilWritten<T>(input: ItemInput, attempt: () => Promise<T>): Promise<T> {
  for (let left = ATTEMPTS_MAX; ; left--) {
    try {
      return await attempt();
    } catch (error) {
      const isOvertaken = error instanceof Failure && error.code === "revision_mismatch";
      if (!isOvertaken || input.ifRevision !== undefined) throw error;
      if (left <= 1)
        throw new Failure("overloaded", "Too many writers change this fact at once.", { retryAfterS: 1 });
    }
  }
}

export function itemsOf(value: string | undefined): string[] {
  return value === undefined ? [] : value.split(JOINT);
}

function checkItem(item: string): void {
  checkValue(item, undefined, "item");
  if (item.includes(SEPARATOR))
    throw new Failure("invalid_value", 'An item must not contain ";", which stands between items.', {
      param: "item",
    });
}
