/**
 * sideband pin, unpin: which facts come first where a prompt has not room for all. The pin stays with the fact when its value
 * changes; value, end, place and origin stay as they are.
 */

import { quotedValue } from "../../agent-side/written-line.ts";
import { shellQuote } from "../../main/shell-quote.ts";
import type { Command } from "../command.ts";
import { type MemoryCall, memoryCommand, WRITER, withNotFoundText } from "../memory-command.ts";
import { undoOf } from "../printed-commands.ts";

export const pin: Command = memoryCommand(
  {
    name: "pin",
    summary: "keep a fact in prompts that have not room for all",
    words: ["LABEL"],
    about: `Pins the fact on LABEL: where a prompt has not room for all facts, pinned ones come first. The pin stays when the value changes,
until "sideband unpin" takes it away.`,
    failures: "1 if there is no such fact",
  },
  (call) => setPin(call, true),
);

export const unpin: Command = memoryCommand(
  {
    name: "unpin",
    summary: "take the pin of a fact away",
    words: ["LABEL"],
    about: "Takes the pin of the fact on LABEL away. The fact stays.",
    failures: "1 if there is no such fact",
  },
  (call) => setPin(call, false),
);

async function setPin(call: MemoryCall, pinned: boolean): Promise<void> {
  const { memory, userId, project, words, print } = call;
  const [label] = words;
  const fact = await withNotFoundText(memory.decode(userId, label, { project }), userId, label);
  const { value, revision, place, expires_at: expiresAt } = fact;
  const state = pinned ? "pinned" : "not pinned";
  if ((fact.pinned === true) === pinned) {
    print(`${label}: ${state} already`, { label, value, pinned });
    return;
  }
  // Only the value that was read: another one is not written over.
  const terms = { scope: place, expiresAt, ifRevision: revision, writtenBy: WRITER };
  await memory.encode(userId, label, value, { project, ...terms, pinned });
  const { program, options } = undoOf(call, place, project);
  const undo = `${program} ${pinned ? "unpin" : "pin"} ${shellQuote(label)}${options}`;
  print(`${label}: ${state}, ${quotedValue(value)}; undo: ${undo}`, { label, value, pinned });
}
