/**
 * sideband review: facts that an agent has read somewhere, for the person to accept or forget. An accepted one is said by
 * the person from then on; its value, end and place stay.
 */

import { forgottenLine, quotedValue, readRevisions } from "../../agent-side/written-line.ts";
import type { StoredFact } from "../../contract/answers.ts";
import { shellQuote } from "../../main/shell-quote.ts";
import { type Command, CommandError, UsageError } from "../command.ts";
import { type MemoryCall, memoryCommand, WRITER } from "../memory-command.ts";
import { localTime } from "../moments.ts";
import { counted } from "../printed.ts";
import { sidebandCommand, undoOf } from "../printed-commands.ts";

export const review: Command = memoryCommand(
  {
    name: "review",
    summary: "list, accept or forget what agents have read somewhere",
    words: ["[LABEL]"],
    usage: "[--accept | --forget]",
    options: `  --accept        the fact on LABEL, or all of them, count as said by you
  --forget        forget the fact on LABEL, or all of them; each can be restored`,
    about: `Lists the facts whose origin is "read": an agent met them in a file, a page or a tool's answer, and nobody has said them.
A prompt lists them apart. With SIDEBAND_REVIEW=read, a setting of the service or of the process that owns the data
folder, they are in no prompt and no block until they are accepted here.`,
    failures: "1 if LABEL has no such fact",
    check({ flags: { accept, forget } }) {
      if (accept && forget) throw new UsageError("--accept keeps and --forget does not: give one of them");
    },
  },
  async (call) => {
    const { memory, userId, project, flags, sameMemory, print } = call;
    const [label] = call.words;
    const { facts } = await memory.facts(userId, { project });
    const waiting = facts.filter((fact) => fact.origin === "read" && (label ?? fact.label) === fact.label);
    if (waiting.length === 0 && label !== undefined)
      throw new CommandError(`${userId} has no fact ${label} that was read somewhere`);
    const decide = flags.accept ? acceptFact : flags.forget ? forgetFact : undefined;
    const lines: string[] = [];
    for (const fact of waiting) lines.push(await (decide ?? listed)(call, fact));
    const command = `${sidebandCommand()} review`;
    if (waiting.length === 0) lines.push(`nothing of ${userId} was read somewhere`);
    else if (decide === undefined)
      lines.push(
        `${counted(waiting.length, "fact")}; to accept all: ${command} --accept${sameMemory}`,
        `to accept or forget one: ${command} LABEL --accept${sameMemory}, ${command} LABEL --forget${sameMemory}`,
      );
    print(lines.join("\n"), { user_id: userId, facts: waiting });
  },
);

async function listed(_call: MemoryCall, fact: StoredFact): Promise<string> {
  const { label, value, written_by: writer = "", updated_at: at, expires_at: until } = fact;
  const end = until === undefined ? "" : ` until ${localTime(until)}`;
  return `${label}=${quotedValue(value)}${end}  (${[writer, localTime(at)].filter((text) => text !== "").join(", ")})`;
}

/** Only the value that was listed: another one is not written over. */
async function acceptFact(call: MemoryCall, fact: StoredFact): Promise<string> {
  const { memory, userId, project } = call;
  const { label, value, revision, place, expires_at: expiresAt } = fact;
  const options = { project, scope: place, expiresAt, ifRevision: revision, writtenBy: WRITER };
  await memory.encode(userId, label, value, { ...options, origin: "said" });
  const terms = [
    ...(expiresAt === undefined ? [] : [`--until ${expiresAt}`]),
    ...(place === undefined ? [] : [`--scope ${place}`]),
  ].map((term) => ` ${term}`);
  const { program, options: at } = undoOf(call, place, project);
  const back = `remember ${shellQuote(label)} ${shellQuote(value)} --origin read${terms.join("")}${at}`;
  return `${label}: accepted ${quotedValue(value)}; undo: ${program} ${back}`;
}

async function forgetFact(call: MemoryCall, { label, revision, place }: StoredFact): Promise<string> {
  const { memory, userId, project } = call;
  const options = { project, scope: place, keepHistory: true, ifRevision: revision };
  await memory.forget(userId, label, options);
  const kept = await readRevisions(memory, userId, label, { project });
  return forgottenLine(label, kept, undoOf(call, place, project));
}
