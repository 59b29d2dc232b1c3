/** Facts that are lists: an item added, or removed. The law reads the list and writes it in one step (law/lists.ts). */

import { Failure } from "../base/errors.ts";
import type { Caller } from "./authentication.ts";
import { type EncodeResult, type FactInput, lifeEnd, type WriteInput, writeFacts } from "./encode.ts";
import { namedLabel, writtenLabel } from "./free-labels.ts";
import { checkValue } from "./identifiers.ts";
import { ITEM_SEPARATOR } from "./law/lists.ts";
import { placeFor } from "./places.ts";
import type { MemoryServices } from "./services.ts";
import { viewFor } from "./shared-projects.ts";

export interface ItemInput extends WriteInput, Omit<FactInput, "value"> {
  readonly item: string;
}

export async function changeList(
  services: MemoryServices,
  caller: Caller,
  kind: "append" | "remove",
  input: ItemInput,
): Promise<EncodeResult> {
  const { userId, project, label, item, scope, ttlS, expiresAt, ifRevision, description, origin, pinned } =
    input;
  checkItem(item);
  const view = await viewFor(services, caller.account, input);
  const { terms, free } =
    kind === "append" ? await writtenLabel(services, view, input) : await namedLabel(services, view, label);
  // What is added goes where its label says; what is removed may be at any place that the call sees.
  const wanted = scope ?? (kind === "append" ? terms.scope : undefined);
  const places = wanted === undefined ? view.places : [placeFor(wanted, view.places)];
  const expiresAtMs = lifeEnd(input, terms, view.nowMs);
  const condition = ifRevision === undefined ? {} : { ifRevision };
  return writeFacts(services, caller, input, view, {
    changes: [{ kind, label, places, item, terms, free, expiresAtMs, ...condition, origin, pinned }],
    label,
    fingerprinted: [
      kind,
      userId,
      [
        label,
        item,
        scope,
        ttlS,
        expiresAt,
        ifRevision,
        description,
        origin,
        ...(pinned === undefined ? [] : [pinned]),
      ],
      project,
    ],
  });
}

function checkItem(item: string): void {
  checkValue(item, undefined, "item");
  if (item.includes(ITEM_SEPARATOR))
    throw new Failure("invalid_value", 'An item must not contain ";", which stands between items.', {
      param: "item",
    });
}
