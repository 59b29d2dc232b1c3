/**
 * Two more memories of other tools:
 *
 * - The reference server of MCP (@modelcontextprotocol/server-memory): entities with observations, and relations. What is
 *   said of the user (`default_user`) is in the group USER, what is said of Bob begins with his name.
 * - ChatGPT's export (conversations.json). It has no list of memories: what ChatGPT kept is in the messages to its tool
 *   `bio`, and in the contexts that it was given, which also have the user's custom instructions. The conversations are
 *   not read.
 */

import { type FoundMemory, UnreadableFileError } from "./findings.ts";
import { type LabelNames, NO_TOPIC, type Topic, topicBelow, USER_TOPIC } from "./label-names.ts";
import { fieldOf, type LocatedValue, listIn, textField } from "./located-json.ts";
import { readPiece } from "./text-lines.ts";
import { GROUP_LENGTH_MAX, joinedWords, slugWords } from "./words.ts";

const EMPTY = "nothing is said of it";
const FORGOTTEN = "ChatGPT was asked to forget it";
const FORGET = /^forget(?: that)? (\S.*)$/i;
/** The fields of ChatGPT's custom instructions. */
const CUSTOM_INSTRUCTIONS: readonly (readonly [name: string, topic: Topic])[] = [
  ["user_profile", USER_TOPIC],
  ["user_instructions", { group: "PREF", above: [] }],
];
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
    notRead:
      "the conversations: only what ChatGPT has put into its memory, and your custom instructions, are imported",
  };
  const memories = conversations.flatMap((conversation) => {
    const nodes = fieldOf(conversation, "mapping")?.value;
    const part = textField(conversation, "title");
    return [...(nodes instanceof Map ? nodes.values() : [])].flatMap((node) =>
      memoriesIn(fieldOf(node, "message")).map((memory) => ({ part, ...memory })),
    );
  });
  const forgotten = new Set(memories.flatMap(({ text }) => FORGET.exec(text)?.slice(1).map(bareText) ?? []));
  const seen = new Set<string>();
  for (const { text, line, part, topic } of memories) {
    if (text === "" || seen.has(text)) continue;
    seen.add(text);
    if (FORGET.test(text) || forgotten.has(bareText(text)))
      found.leftOut.push({ line, part, text, why: FORGOTTEN });
    else readPiece(text, { line, part }, names, topic, found);
  }
  if (found.facts.length === 0 && found.leftOut.length === 0)
    throw new UnreadableFileError(
      "ChatGPT kept no memory in these conversations; copy the list in its settings (Personalization, Manage memories) into a file and import that",
    );
  return found;
}

/** For comparing: "Forget that Ada has a dog." is about "Ada has a dog". */
function bareText(text: string): string {
  return text.toLowerCase().replace(/[.!]$/, "");
}

function memoriesIn(message: LocatedValue | undefined): { line: number; text: string; topic: Topic }[] {
  const content = fieldOf(message, "content");
  const lineOf = (name: string) => fieldOf(content, name)?.line ?? 0;
  const context = textField(content, "model_set_context") ?? "";
  const inCode = fieldOf(content, "text");
  const told =
    textField(message, "recipient") === "bio"
      ? [...listIn(content, "parts"), ...(inCode === undefined ? [] : [inCode])]
      : [];
  const texts = [
    ...told.map(({ line, value }) => ({
      line,
      text: typeof value === "string" ? value : "",
      topic: NO_TOPIC,
    })),
    { line: lineOf("model_set_context"), text: context.replace(/^#.*$/gm, ""), topic: NO_TOPIC },
    ...CUSTOM_INSTRUCTIONS.map(([name, topic]) => ({
      line: lineOf(name),
      text: withoutFrame(textField(content, name) ?? ""),
      topic,
    })),
  ];
  return texts.flatMap(({ line, text, topic }) =>
    text.split("\n").map((one) => ({
      line,
      topic,
      text: one
        .trim()
        .replace(/^\d+\.\s+/, "")
        .replace(/^\[[^\]]*\]\.?\s*/, "")
        .trim(),
    })),
  );
}

/** ChatGPT puts what the user wrote between fences, below words of its own. */
function withoutFrame(text: string): string {
  return text.split("```")[1] ?? text;
}
