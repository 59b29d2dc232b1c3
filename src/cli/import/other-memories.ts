/**
 * Memories of other tools. In each, a text is a fact only if it has a key, and a field if its name is a label's.
 *
 * - mem0: the answer of get_all and OpenMemory's backup, which hold sentences, and the structured export (POST
 *   /v1/exports/), an object whose fields the caller has chosen. After docs.mem0.ai and openmemory/api/app/routers/backup.py.
 * - Letta: an agent file (.af), whose memory blocks are texts under a label of its own. Keys without a group count in blocks
 *   about the user or the work. After letta/schemas/agent_file.py; older files have `core_memory` instead of `blocks`.
 * - The reference server of MCP (@modelcontextprotocol/server-memory): entities with observations, and relations. Keys without
 *   a group count for the user (`default_user`) and for what a name says it is (`loom_project`): what is said of Bob is
 *   not said of the user.
 */

import { chosenUser, type FoundMemory, joinedItems, NO_LIST } from "./findings.ts";
import type { LabelNames } from "./label-names.ts";
import { fieldOf, type LocatedValue, listIn, textField } from "./located-json.ts";
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

export function readLettaAgent(file: LocatedValue, names: LabelNames): FoundMemory {
  const found: FoundMemory = {
    facts: [],
    leftOut: [],
    notRead: "messages, tools and settings of the agent",
  };
  for (const block of [...listIn(file, "blocks"), ...listIn(file, "core_memory")]) {
    const name = textField(block, "label") ?? "";
    const text = textField(block, "value") ?? "";
    const at = { line: fieldOf(block, "value")?.line ?? block.line, part: `block ${name}` };
    const label = names.find(name, undefined);
    const isLine = text.trim() !== "" && !text.trim().includes("\n");
    if (label !== undefined && "label" in label && isLine)
      found.facts.push({ ...at, label: label.label, value: text.trim() });
    else readPiece(text, at, names, names.topicOf(name), found);
  }
  return found;
}

const RELATION = "a relation between two things has no label";
const EMPTY = "nothing is said of it";

/** @param records entities and relations */
export function readReferenceServer(records: readonly LocatedValue[], names: LabelNames): FoundMemory {
  const found: FoundMemory = { facts: [], leftOut: [] };
  for (const record of records) {
    if (textField(record, "relationType") === undefined) readEntity(record, names, found);
    else {
      const [from, type, to] = ["from", "relationType", "to"].map((name) => textField(record, name) ?? "");
      found.leftOut.push({ line: record.line, text: `${from} ${type} ${to}`, why: RELATION });
    }
  }
  return found;
}

function readEntity(entity: LocatedValue, names: LabelNames, found: FoundMemory): void {
  const { line } = entity;
  const name = textField(entity, "name") ?? "";
  const observations = listIn(entity, "observations").flatMap((observation) =>
    typeof observation.value === "string" ? [{ line: observation.line, text: observation.value }] : [],
  );
  if (observations.length === 0) found.leftOut.push({ line, text: name, why: EMPTY });
  const own = names.find(name, undefined);
  if (own === undefined || "why" in own) {
    const topic = names.topicOf(name);
    for (const { line, text } of observations) readPiece(text, { line, part: name }, names, topic, found);
  } else if (observations.length > 0) {
    // Its name is a label: what is observed of it is the value.
    const texts = observations.map(({ text }) => text);
    const value = joinedItems(texts);
    if (value !== undefined) found.facts.push({ line, part: name, label: own.label, value });
    else found.leftOut.push({ line, part: name, text: texts.join("; "), why: NO_LIST });
  }
}
