/**
 * Facts that are lists: items joined by "; ". Adding and removing one is a read and a write that holds only while the
 * fact is the one that was read; where somebody else was faster, it is tried again. So no store knows lists, and of many
 * items that are added at once none is lost.
 */

import { utf8 } from "../base/bytes.ts";
import { Failure } from "../base/errors.ts";
import { VALUE_BYTES_MAX } from "../base/limits.ts";
import type { Caller } from "./authentication.ts";
import {
  type EncodeResult,
  encodeFacts,
  type FactInput,
  orAsBefore,
  storeFacts,
  type WriteInput,
} from "./encode.ts";
import { factNotFound } from "./facts.ts";
import { checkAuthor, checkValue } from "./identifiers.ts";
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
  return changeList(services, caller, "append", input);
}

/** Where it was the last item, the fact is forgotten, and its history stays. */
export function removeItem(
  services: MemoryServices,
  caller: Caller,
  input: ItemInput,
): Promise<EncodeResult> {
  return changeList(services, caller, "remove", input);
}

async function changeList(
  services: MemoryServices,
  caller: Caller,
  operation: "append" | "remove",
  input: ItemInput,
): Promise<EncodeResult> {
  const { label, item, scope, ttlS, expiresAt, ifRevision, ...who } = input;
  checkItem(item);
  checkAuthor(input);
  const fingerprinted = [label, item, scope, ttlS, expiresAt, ifRevision];
  const write = (fact: Omit<FactInput, "label">) => {
    const facts = [{ label, ttlS, expiresAt, ...fact }];
    return encodeFacts(services, caller, { ...who, facts, operation, fingerprinted });
  };
  const attempt = async () => {
    const view = viewOf(caller.account, input, services.clock.now());
    const terms = await services.labels.find(caller.account, label);
    // What is added goes where its label says; what is removed may be at any place that the call sees.
    const wanted = scope ?? (operation === "append" ? terms.scope : undefined);
    const places = wanted === undefined ? view.places : [placeFor(wanted, view.places)];
    const present = await services.store.readFact({ ...view, places }, terms.channel);
    const items = itemsOf(present?.value);
    if (operation === "append") {
      const value = (items.includes(item) ? items : [...items, item]).join(JOINT);
      checkRoom(value, items, terms.maxBytes ?? VALUE_BYTES_MAX);
      return write({ value, scope, ifRevision: ifRevision ?? present?.revision ?? 0 });
    }
    if (present === undefined) throw factNotFound(label);
    if (!items.includes(item))
      throw new Failure("fact_not_found", `The list on ${label} has no such item.`, { param: "item", items });
    const { place, revision } = present;
    const expected = { ifRevision: ifRevision ?? revision };
    const rest = items.filter((other) => other !== item).join(JOINT);
    if (rest !== "") return write({ value: rest, scope: scopeIn(place, view.places), ...expected });
    const { channel } = terms;
    const end = { label, place, channel, value: null, expiresAtMs: null, keepHistory: true, ...expected };
    return storeFacts(services, caller, { ...who, facts: [], operation, fingerprinted }, view, [end]);
  };
  const request = { ...who, facts: [{ label, value: "" }], operation, fingerprinted };
  return orAsBefore(services, caller, request, () => untilWritten(input, attempt));
}

function checkRoom(value: string, items: readonly string[], bytesMax: number): void {
  if (utf8(value).length <= bytesMax) return;
  throw new Failure(
    "invalid_value",
    `With this item the list would have more than ${bytesMax} bytes: remove one of its items first.`,
    { param: "item", items },
  );
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
