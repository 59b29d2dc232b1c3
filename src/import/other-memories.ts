/**
 * Memories of other tools: texts, each with the user that it is of, and profiles, whose fields are keys.
 *
 * - mem0: the answer of get_all and OpenMemory's backup, which hold sentences, and the structured export (POST
 *   /v1/exports/), an object whose fields the caller has chosen. After docs.mem0.ai and openmemory/api/app/routers/backup.py.
 * - supermemory: the answer of list; `containerTags` says whose it is. After supermemory.ai/docs/list-memories.
 * - LangGraph: items of a store, as `store.search` answers them or as the tables of its PostgreSQL store have them. The
 *   namespace has the user. After langgraph.store.base.Item.
 * - Letta: an agent file (.af), whose memory blocks are texts under a label of its own. After letta/schemas/agent_file.py;
 *   older files have `core_memory` instead of `blocks`.
 */

import { chosenUser, type FoundMemory, ofAnotherUser } from "./findings.ts";
import { type LabelNames, NO_TOPIC, type Topic, topicBelow, topicOf, USER_TOPIC } from "./label-names.ts";
import { fieldOf, type LocatedValue, listIn, textField } from "./located-json.ts";
import { readPiece } from "./text-lines.ts";

const DELETED = "it is deleted there";
const EMPTY = "it is empty";
const TEXT_FIELDS = ["memory", "content", "text", "data", "fact", "summary", "value"];
/** Parts of a namespace that name no user. */
const NAMESPACE_WORDS =
  /^(?:memor(?:y|ies)|users?|profiles?|facts?|preferences?|documents?|store|agents?|assistants?|semantic|episodic|procedural|langmem|chat|notes?|todos?|tasks?|(?:user_)?instructions?|default)$/i;
/** What programs note beside a memory. */
const MACHINE_FIELD =
  /^(?:id|kind|type|source|score|confidence|importance|(?:created|updated)_?at|timestamp|metadata|embedding)$/i;
const TASKS = /^(?:todos?|tasks?)$/i;
/** What a record is about, where its other fields say more of it. */
const TITLE_FIELDS = ["task", "todo", "title", "event"];
const MACHINE_KEY =
  /^(?:[0-9a-f-]{16,}|\d+|[a-z]{1,3}-?\d+|mem(?:ory)?[_-]?(?=[a-z_]*\d)\w+|default|profile|memory|data)$/i;

/** The text of a memory, with the line where it stands. */
export function textOf(
  memory: LocatedValue | undefined,
): { readonly line: number; readonly text: string } | undefined {
  if (typeof memory?.value === "string") return { line: memory.line, text: memory.value };
  for (const name of TEXT_FIELDS) {
    const field = fieldOf(memory, name);
    if (typeof field?.value === "string") return { line: field.line, text: field.value };
    if (field?.value instanceof Map) return textOf(field);
  }
  return undefined;
}

function ownerOf(memory: LocatedValue): string | undefined {
  const [tag] = listIn(memory, "containerTags");
  const named =
    textField(memory, "user_id") ?? textField(memory, "userId") ?? textField(memory, "containerTag");
  return named ?? (typeof tag?.value === "string" ? tag.value : undefined);
}

/** Memories as texts, each with the user that it is of: mem0's and supermemory's. */
export function readMemories(
  memories: readonly LocatedValue[],
  names: LabelNames,
  wanted: string,
): FoundMemory {
  const userId = chosenUser(new Set(memories.flatMap((memory) => ownerOf(memory) ?? [])), wanted);
  const found: FoundMemory = { facts: [], leftOut: [], ...(userId === undefined ? {} : { userId }) };
  for (const memory of memories) {
    const owner = ownerOf(memory) ?? userId;
    const { line, text } = textOf(memory) ?? { line: memory.line, text: "" };
    const isDeleted =
      textField(memory, "state") === "deleted" || fieldOf(memory, "isForgotten")?.value === true;
    if (owner !== userId) found.leftOut.push({ line, text, ...ofAnotherUser(owner!) });
    else if (isDeleted) found.leftOut.push({ line, text, why: DELETED });
    else if (text.trim() === "")
      found.leftOut.push({ line, text: textField(memory, "title") ?? "", why: EMPTY });
    else readPiece(text, { line }, names, NO_TOPIC, found);
  }
  return found;
}

/** An object of fields; an object inside is about what its name says, and a list is one value. */
function readFields(located: LocatedValue, names: LabelNames, topic: Topic, found: FoundMemory): void {
  if (!(located.value instanceof Map)) return;
  for (const [key, field] of located.value) {
    const { line, value } = field;
    const leave = (why: string) => found.leftOut.push({ line, text: key, why });
    if (value instanceof Map) readFields(field, names, below(topic, key), found);
    else if (Array.isArray(value)) {
      const texts = value.flatMap((item) => (typeof item.value === "object" ? [] : [String(item.value)]));
      for (const item of value)
        if (item.value instanceof Map) {
          const name = textField(item, "name") ?? textField(item, "title");
          readFields(
            item,
            names,
            name === undefined ? below(topic, key) : topicBelow(below(topic, key), name),
            found,
          );
        }
      if (value.length === 0) leave(EMPTY);
      // An item with the sign that separates items would become two.
      else if (texts.some((text) => text.includes(";")))
        for (const text of texts) found.facts.push({ line, ...names.sentence(text, topicBelow(topic, key)) });
      else if (texts.length > 0) found.facts.push({ line, ...names.keyed(key, texts.join("; "), topic) });
    } else if (value === null || String(value).trim() === "") leave(EMPTY);
    else found.facts.push({ line, ...names.keyed(spaced(key), String(value), topic) });
  }
}

function below(topic: Topic, key: string): Topic {
  return topic.above.length === 0 && (topic.group === undefined || topic.group === "USER")
    ? topicOf(spaced(key))
    : topicBelow(topic, spaced(key));
}

function spaced(key: string): string {
  return key.replace(/[_-]+/g, " ").replace(/([a-z])([A-Z])/g, "$1 $2");
}

/** mem0's structured export, or any object of simple fields: what is known about a user. */
export function readProfile(profile: LocatedValue, names: LabelNames): FoundMemory {
  const found: FoundMemory = { facts: [], leftOut: [] };
  readFields(profile, names, USER_TOPIC, found);
  return found;
}

export function readLangGraph(
  items: readonly LocatedValue[],
  names: LabelNames,
  wanted: string,
): FoundMemory {
  const spaceOf = (item: LocatedValue) => {
    const parts = listIn(item, "namespace").map(({ value }) => String(value));
    return parts.length > 0 ? parts : (textField(item, "prefix") ?? "").split(".");
  };
  const userOf = (item: LocatedValue) =>
    spaceOf(item).find((part) => part !== "" && !NAMESPACE_WORDS.test(part));
  const userId = chosenUser(new Set(items.flatMap((item) => userOf(item) ?? [])), wanted);
  const found: FoundMemory = { facts: [], leftOut: [], ...(userId === undefined ? {} : { userId }) };
  for (const item of items) {
    const value = fieldOf(item, "value");
    const key = textField(item, "key") ?? "";
    const owner = userOf(item) ?? userId;
    const space = spaceOf(item);
    const isOf = (form: RegExp) => space.some((part) => form.test(part));
    const topic = isOf(/^preferences?$/i)
      ? topicOf("preferences")
      : isOf(TASKS)
        ? topicOf("to do")
        : NO_TOPIC;
    const fields =
      value?.value instanceof Map
        ? [...value.value.keys()].filter((name) => !MACHINE_FIELD.test(name)).length
        : 0;
    const text = textOf(value);
    const isText = text !== undefined && (fields === 1 || MACHINE_KEY.test(key));
    if (owner !== userId) found.leftOut.push({ line: item.line, text: key, ...ofAnotherUser(owner!) });
    else if (isText && MACHINE_KEY.test(key)) readPiece(text.text, { line: text.line }, names, topic, found);
    else if (isText) found.facts.push({ line: text.line, ...names.keyed(spaced(key), text.text, topic) });
    else if (value === undefined || fields === 0 || titleOf(value) === "")
      found.leftOut.push({ line: item.line, text: key, why: EMPTY });
    else if (MACHINE_KEY.test(key) && titleOf(value) !== undefined)
      found.facts.push({ line: value.line, ...names.sentence(recordText(value), topic) });
    else readFields(value, names, MACHINE_KEY.test(key) ? USER_TOPIC : topicOf(spaced(key)), found);
  }
  return found;
}

function titleOf(record: LocatedValue): string | undefined {
  return TITLE_FIELDS.map((name) => textField(record, name)).find((text) => text !== undefined);
}

/** "Water the plants; deadline: Friday": the fields of one thing stay together. */
function recordText(record: LocatedValue): string {
  const title = titleOf(record);
  const fields = record.value instanceof Map ? [...record.value] : [];
  const told = fields.flatMap(([name, field]) => {
    const items: readonly LocatedValue[] = Array.isArray(field.value) ? field.value : [field];
    const texts = items.flatMap(({ value }) =>
      value === null || typeof value === "object" || value === "" ? [] : [String(value)],
    );
    return texts.length === 0 || texts[0] === title ? [] : [`${spaced(name)}: ${texts.join(", ")}`];
  });
  return [title, ...told].join("; ");
}

const AGENT_ITSELF = "it is about the agent, not about the user";

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
    const topic = topicOf(spaced(name));
    const isLine = text.trim() !== "" && !text.trim().includes("\n");
    const known = isLine ? names.keyed(spaced(name), text.trim(), NO_TOPIC) : undefined;
    if (/^(?:persona|system|agent)/i.test(name))
      for (const line of text.split("\n")) {
        if (line.trim() !== "") found.leftOut.push({ ...at, text: line.trim(), why: AGENT_ITSELF });
      }
    else if (known !== undefined && names.whole(known.label, true) !== undefined)
      found.facts.push({ ...at, ...known });
    else readPiece(text, at, names, topic, found);
  }
  return found;
}
