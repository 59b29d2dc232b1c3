/**
 * What comes out of mem0: the answer of get_all and OpenMemory's backup, which hold sentences, and the structured export
 * (POST /v1/exports/), an object whose fields the caller has chosen. A sentence is a fact only if it has a key; a field is
 * one if its name is a label's. After docs.mem0.ai (api-reference/memory, platform/features/memory-export,
 * cookbooks/essentials/exporting-memories) and openmemory/api/app/routers/backup.py of mem0ai/mem0.
 */

import { chosenUser, type FoundMemory, joinedItems, NO_LIST } from "./findings.ts";
import type { LabelNames } from "./label-names.ts";
import { fieldOf, type LocatedValue, textField } from "./located-json.ts";
import { noLabelCalled, readPiece } from "./text-lines.ts";

const DELETED = "it is deleted there";

/** Memories as sentences, each with the user that it is of. */
export function readMem0Memories(
  memories: readonly LocatedValue[],
  names: LabelNames,
  wanted: string,
): FoundMemory {
  const users = memories.flatMap((memory) => textField(memory, "user_id") ?? []);
  const userId = chosenUser(new Set(users), wanted);
  const found: FoundMemory = { facts: [], leftOut: [], ...(userId === undefined ? {} : { userId }) };
  for (const memory of memories) {
    if (userId !== undefined && (textField(memory, "user_id") ?? userId) !== userId) continue;
    const text = textField(memory, "memory") ?? textField(memory, "content") ?? "";
    const { line } = fieldOf(memory, "memory") ?? fieldOf(memory, "content") ?? memory;
    if (textField(memory, "state") === "deleted") found.leftOut.push({ line, text, why: DELETED });
    else readPiece(text, { line }, names, undefined, found);
  }
  return found;
}

/** An object of fields. */
export function readFields(fields: ReadonlyMap<string, LocatedValue>, names: LabelNames): FoundMemory {
  const found: FoundMemory = { facts: [], leftOut: [] };
  for (const [key, { line, value }] of fields) {
    if (value === null) continue;
    const items = Array.isArray(value) ? value.map((item) => item.value) : [value];
    const text = items.map((item) => (typeof item === "object" ? "{…}" : String(item)));
    const label = names.find(key, undefined);
    const joined = items.every((item) => typeof item !== "object") ? joinedItems(text) : undefined;
    if (label !== undefined && "label" in label && joined !== undefined && items.length > 0)
      found.facts.push({ line, label: label.label, value: joined });
    else {
      const why = label === undefined ? noLabelCalled(key) : "why" in label ? label.why : NO_LIST;
      found.leftOut.push({ line, text: `${key}: ${text.join("; ")}`, why });
    }
  }
  return found;
}
