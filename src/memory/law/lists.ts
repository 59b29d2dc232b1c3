/** Facts that are lists: items joined by "; ". An item is added or removed by the law, so that of many at once none is lost. */

import { elementAt } from "../../base/assert.ts";
import { utf8 } from "../../base/bytes.ts";
import { Failure } from "../../base/errors.ts";
import type { FactOrigin } from "../../base/fact-origins.ts";
import { VALUE_BYTES_MAX } from "../../base/limits.ts";
import type { FactChange, ItemChange } from "../ports.ts";
import type { Memory } from "./user-memory.ts";

const JOINT = "; ";
export const ITEM_SEPARATOR = ";";

/** An item that is there already is not added again. */
export function appendSteps(memory: Memory, change: ItemChange, nowMs: number): FactChange[] {
  const { label, places, item, terms, free, expiresAtMs, ifRevision } = change;
  const place = elementAt(places, 0);
  const present = memory.live({ place, label }, nowMs);
  const items = itemsOf(present?.value);
  const value = (items.includes(item) ? items : [...items, item]).join(JOINT);
  const bytesMax = terms.maxBytes ?? VALUE_BYTES_MAX;
  if (utf8(value).length > bytesMax)
    throw new Failure(
      "invalid_value",
      `With this item the list would have more than ${bytesMax} bytes: remove one of its items first.`,
      { param: "item", items },
    );
  const condition = ifRevision === undefined ? {} : { ifRevision };
  const origin = joinedOrigin(present?.origin, change.origin);
  return [{ place, label, value, terms, free, expiresAtMs, ...condition, origin, pinned: change.pinned }];
}

/** Where it was the last item, the fact is forgotten, and its history stays. */
export function removeSteps(memory: Memory, change: ItemChange, nowMs: number): FactChange[] {
  const { label, places, item, terms, free, expiresAtMs, ifRevision } = change;
  const present = places
    .toReversed()
    .map((place) => memory.live({ place, label }, nowMs))
    .find((fact) => fact !== undefined);
  if (present === undefined)
    throw new Failure("fact_not_found", `There is no fact on ${terms.label}.`, { param: "label" });
  const items = itemsOf(present.value);
  if (!items.includes(item))
    throw new Failure("fact_not_found", `The list on ${terms.label} has no such item.`, {
      param: "item",
      items,
    });
  const { place } = present;
  const rest = items.filter((other) => other !== item).join(JOINT);
  const condition = ifRevision === undefined ? {} : { ifRevision };
  if (rest === "") return [{ place, label, value: null, keepHistory: true, ...condition }];
  return [{ place, label, value: rest, terms, free, expiresAtMs, ...condition, origin: present.origin }];
}

/** The items of both, each once. */
export function joinedLists(first: string, second: string): string {
  return [...new Set([...itemsOf(first), ...itemsOf(second)])].join(JOINT);
}

/** That of a list, and of what is added to it: one item that was read somewhere makes it a list that was. */
export function joinedOrigin(
  list: FactOrigin | undefined,
  added: FactOrigin | undefined,
): FactOrigin | undefined {
  return list === "read" ? list : (added ?? list);
}

function itemsOf(value: string | undefined): string[] {
  return value === undefined ? [] : value.split(JOINT);
}
