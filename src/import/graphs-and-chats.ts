/**
 * Two more memories of other tools:
 *
 * - The reference server of MCP (@modelcontextprotocol/server-memory): entities with observations, and relations. What is
 *   said of the user (`default_user`) is in the group USER, what is said of Bob begins with his name.
 * - ChatGPT's export (conversations.json). It has no list of memories: what ChatGPT kept is in the messages to its tool
 *   `bio`, and in the contexts that it was given. The conversations are not read.
 */

import { type FoundMemory, UnreadableFileError } from "./findings.ts";
import { type LabelNames, NO_TOPIC, type Topic, topicBelow, USER_TOPIC } from "./label-names.ts";
import { fieldOf, type LocatedValue, listIn, textField } from "./located-json.ts";
import { readPiece } from "./text-lines.ts";
import { GROUP_LENGTH_MAX, joinedWords, slugWords } from "./words.ts";

const EMPTY = "nothing is said of it";
const USER = /^(?:default_?user|user|me|myself|the_?user)$/i;

/** @param records entities and relations */
export function readReferenceServer(records: readonly LocatedValue[], names: LabelNames): FoundMemory {
  const found: FoundMemory = { facts: [], leftOut: [] };
  const topics = new Map<string, Topic>();
  for (const record of records) {
    const name = textField(record, "name");
    if (name !== undefined) topics.set(name, entityTopic(name, textField(record, "entityType") ?? ""));
  }
  for (const record of records) {
    if (textField(record, "relationType") === undefined) readEntity(record, names, topics, found);
    else readRelation(record, names, topics, found);
  }
  return found;
}

function entityTopic(name: string, type: string): Topic {
  if (USER.test(name)) return USER_TOPIC;
  const words = slugWords(type);
  const group = /^[a-z]/.test(words[0] ?? "")
    ? joinedWords(words, GROUP_LENGTH_MAX).toUpperCase()
    : undefined;
  return topicBelow({ group, above: [] }, name.replaceAll("_", " "));
}

function readEntity(
  entity: LocatedValue,
  names: LabelNames,
  topics: ReadonlyMap<string, Topic>,
  found: FoundMemory,
): void {
  const name = textField(entity, "name") ?? "";
  const observations = listIn(entity, "observations").flatMap((observation) =>
    typeof observation.value === "string" ? [{ line: observation.line, text: observation.value }] : [],
  );
  if (observations.length === 0) found.leftOut.push({ line: entity.line, text: name, why: EMPTY });
  // Its name may be a label, or the name of one: what is observed of it is the value.
  const known = names.whole(names.keyed(name, "", NO_TOPIC).label, true);
  const texts = observations.map(({ text }) => text);
  if (
    known !== undefined &&
    texts.length > 0 &&
    (texts.length === 1 || !texts.some((text) => text.includes(";")))
  )
    found.facts.push({ line: observations[0].line, part: name, label: known, value: texts.join("; ") });
  else
    for (const { line, text } of observations)
      readPiece(text, { line, part: name }, names, topics.get(name) ?? NO_TOPIC, found);
}

function readRelation(
  relation: LocatedValue,
  names: LabelNames,
  topics: ReadonlyMap<string, Topic>,
  found: FoundMemory,
): void {
  const { line } = relation;
  const [from, type, to] = ["from", "relationType", "to"].map((name) =>
    (textField(relation, name) ?? "").replaceAll("_", " "),
  );
  const topic = topics.get(textField(relation, "from") ?? "");
  const fact =
    topic === USER_TOPIC
      ? names.keyed(type, to, USER_TOPIC)
      : names.sentence(`${from} ${type} ${to}`, { group: topic?.group, above: [] });
  found.facts.push({ line, part: "relation", ...fact });
}

export function isChatExport(record: LocatedValue | undefined): boolean {
  return fieldOf(record, "mapping")?.value instanceof Map;
}

export function readChatMemories(conversations: readonly LocatedValue[], names: LabelNames): FoundMemory {
  const found: FoundMemory = {
    facts: [],
    leftOut: [],
    notRead: "the conversations: only what ChatGPT has put into its memory is imported",
  };
  const seen = new Set<string>();
  for (const conversation of conversations) {
    const nodes = fieldOf(conversation, "mapping")?.value;
    for (const node of nodes instanceof Map ? nodes.values() : []) {
      for (const { line, text } of memoriesIn(fieldOf(node, "message"))) {
        const bare = text
          .replace(/^\d+\.\s+/, "")
          .replace(/^\[[^\]]*\]\.?\s*/, "")
          .trim();
        if (bare === "" || seen.has(bare)) continue;
        seen.add(bare);
        readPiece(bare, { line, part: textField(conversation, "title") }, names, NO_TOPIC, found);
      }
    }
  }
  if (found.facts.length === 0 && found.leftOut.length === 0)
    throw new UnreadableFileError(
      "ChatGPT kept no memory in these conversations; copy the list in its settings (Personalization, Manage memories) into a file and import that",
    );
  return found;
}

function memoriesIn(message: LocatedValue | undefined): { line: number; text: string }[] {
  const content = fieldOf(message, "content");
  const context = textField(content, "model_set_context");
  const told = textField(message, "recipient") === "bio" ? listIn(content, "parts") : [];
  const lines = told.flatMap(({ line, value }) =>
    typeof value === "string" ? value.split("\n").map((text) => ({ line, text })) : [],
  );
  const line = fieldOf(content, "model_set_context")?.line ?? 0;
  return [
    ...lines,
    ...(context ?? "")
      .split("\n")
      .filter((text) => !text.startsWith("#"))
      .map((text) => ({ line, text })),
  ];
}
