/**
 * The memory file of the reference server of MCP (@modelcontextprotocol/server-memory): a line of JSON for each entity
 * with its observations, and for each relation; also what its tool read_graph answers. An observation is a fact if it has
 * a key. Keys without a group count for the user (`default_user`) and for what a name says it is (`loom_project`): what
 * is said of Bob is not said of the user.
 */

import { type FoundMemory, joinedItems, NO_LIST } from "./findings.ts";
import type { LabelNames } from "./label-names.ts";
import { type LocatedValue, listIn, textField } from "./located-json.ts";
import { readPiece } from "./text-lines.ts";

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
