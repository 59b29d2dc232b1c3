/**
 * An agent file of Letta (.af): its memory blocks are texts under a label of its own, such as `human` and `persona`. A line
 * of a block is a fact if it has a key; keys without a group count in blocks about the user (`human`, `about_user`,
 * `preferences`) or the work (`project`). Messages, tools and settings are no memory. After letta/schemas/agent_file.py
 * of letta-ai/letta and the files of letta-ai/agent-file; older files have `core_memory` instead of `blocks`.
 */

import type { FoundMemory } from "./findings.ts";
import type { LabelNames } from "./label-names.ts";
import { fieldOf, type LocatedValue, listIn, textField } from "./located-json.ts";
import { readPiece } from "./text-lines.ts";

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
