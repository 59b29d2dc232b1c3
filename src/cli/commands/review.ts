/**
 * sideband review: facts that an agent has read somewhere, for the person to accept or turn down. An accepted one is said by
 * the person from then on; its value, end and place stay. In place of one that is turned down the value before it counts again.
 */

import { replacedValue, waitingFacts } from "../../agent-side/waiting-facts.ts";
import {
  forgottenLine,
  quotedValue,
  readRevisions,
  readRevisionsAfter,
  writtenLine,
} from "../../agent-side/written-line.ts";
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
    summary: "list, accept or turn down what agents have read somewhere",
    words: ["[LABEL]"],
    usage: "[--accept | --forget]",
    options: `  --accept        the fact on LABEL, or all of them, count as said by you
  --forget        turn the fact on LABEL, or all of them, down: the value that it replaced counts again, and where there
                  was none it is forgotten; each can be restored`,
    about: `Lists the facts whose origin is "read": an agent met them in a file, a page or a tool's answer, and nobody has said them;
and the value that each has replaced. A prompt lists them apart. With SIDEBAND_REVIEW=read, a setting of the service or of the process that owns the data
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
    const waiting = waitingFacts(facts).filter((fact) => (label ?? fact.label) === fact.label);
    if (waiting.length === 0 && label !== undefined)
      throw new CommandError(`${userId} has no fact ${label} that was read somewhere`);
    const decide = flags.accept ? acceptFact : flags.forget ? turnDown : undefined;
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

async function listed({ memory, userId, project }: MemoryCall, fact: StoredFact): Promise<string> {
  const { label, value, written_by: writer = "", updated_at: at, expires_at: until } = fact;
  const end = until === undefined ? "" : ` until ${localTime(until)}`;
  const by = [writer, localTime(at)].filter((text) => text !== "").join(", ");
  const before = await replacedValue(memory, userId, fact, project, Date.now());
  const was = before === undefined ? "" : `, in place of ${quotedValue(before.value)}`;
  return `${label}=${quotedValue(value)}${end}  (${by})${was}`;
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

/** Only the value that was listed: in the place of another one nothing comes back, and it is not forgotten. */
async function turnDown(call: MemoryCall, fact: StoredFact): Promise<string> {
  const { memory, userId, project } = call;
  const { label, revision, place: scope } = fact;
  const options = { project, scope, ifRevision: revision };
  const before = await replacedValue(memory, userId, fact, project, Date.now());
  if (before === undefined) {
    await memory.forget(userId, label, { ...options, keepHistory: true });
    const kept = await readRevisions(memory, userId, label, { project });
    return forgottenLine(label, kept, undoOf(call, scope, project));
  }
  const written = await memory.restore(userId, label, before.revision, { ...options, writtenBy: WRITER });
  const kept = await readRevisionsAfter(memory, userId, written, { project });
  return writtenLine(written, kept, undoOf(call, written.place, project), localTime);
}
