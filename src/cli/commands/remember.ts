/**
 * sideband remember and rename: facts, and the labels that they get. A label that is not there is made, unless one that is
 * there is a slip away: then the person is asked. Only remember begins a store.
 */

import { PLACE_KINDS } from "../../agent-side/agent-memory.ts";
import { RefusedValueError, sanitizeValue } from "../../agent-side/secrets.ts";
import { projectAt, quotedValue, readRevisionsAfter, writtenLine } from "../../agent-side/written-line.ts";
import { LABEL_FORM, LABELS, scopeOfLabel } from "../../base/channel-labels.ts";
import { FACT_ORIGINS } from "../../base/fact-origins.ts";
import { TTL_S_MAX } from "../../base/limits.ts";
import type { PlaceKind, WrittenAnswer } from "../../contract/answers.ts";
import { quotedOption, shellQuote } from "../../main/shell-quote.ts";
import { isSidebandError } from "../../sdk/index.ts";
import { type Call, type Command, CommandError, oneOf, UsageError } from "../command.ts";
import {
  type MemoryCall,
  memoryCommand,
  unknownLabelText,
  WRITER,
  withNotFoundText,
} from "../memory-command.ts";
import { endMs, lifeS, localTime } from "../moments.ts";
import { placeText } from "../named-project.ts";
import { ask } from "../printed.ts";
import { addLabelCommand, rollbackOf, sidebandCommand, undoOf } from "../printed-commands.ts";
import { repeatedOptions, scopeOf, TEAM_HELP } from "../shared-options.ts";

export const remember: Command = memoryCommand(
  {
    name: "remember",
    summary: "store a fact; one with the same label is replaced, and can be restored",
    words: ["LABEL", "[VALUE]"],
    usage:
      "[--for 7d | --until WHEN | --never] [--add] [--scope person|project|worktree | --shared | --own] [--description TEXT] [--origin ORIGIN] [--new]",
    options: `  --for TIME      how long it counts: 90s, 30m, 12h, 7d, 2w, "3 months", 1y
  --until WHEN    until when: friday, "next monday 9:00", "in 3 days", "next week", "end of March", "31 Dec", 2026-12-31
                  (through the end of that day), or RFC 3339
  --never         it does not end
  --add           add VALUE to the list on LABEL, as an item or, with "a; b; c", as several
  --scope SCOPE   where it is kept, whatever its label says
${TEAM_HELP}
  --description TEXT  what belongs on LABEL, where it is one of your own: agents choose it by that
  --origin ORIGIN  where it comes from: said (by you, the default at a terminal), concluded (by an agent), or read
                  (in a file, a page or a tool's answer)
  --new           make LABEL, even if it is a slip away from one that is there`,
    about: `Stores a fact, exactly as written: sideband remember USER.gpu "RTX 5090". Prints what it replaced, and the command that
restores that. A VALUE has an end only if --until or --for is beside it. Without VALUE the fact stays, and has another
end, description or origin: sideband remember USER.gpu --until friday. As with agents, <private> parts are left
out, and what looks like a key, a token or a password is refused (SIDEBAND_ALLOW_SECRETS=1 lets it be stored). Where it
only may be one, you are asked.

LABEL is one that is there, or a new one: sideband remember FAMILY.wife "Grace". A group has capitals, digits and _, a
name small letters, digits and _. Where LABEL looks like a slip of another label, you are asked before; where nobody can
be asked, nothing is stored without --new. "sideband labels" lists your labels. The 40 that everybody has:

${labelLines()}`,
    failures: "1 if it was refused",
    begins: true,
    check(call) {
      const { words, texts, flags } = call;
      const [label, value] = words;
      const forget = `${sidebandCommand()} forget ${shellQuote(label)}${repeatedOptions(call)}`;
      if (value === undefined) return checkChange(call);
      if (value.trim() === "")
        throw new CommandError(
          `the VALUE is empty or spaces alone: there is nothing to remember; to forget the fact: ${forget}`,
        );
      termsOf(texts, flags);
      if (flags.add && (texts.for ?? texts.until) !== undefined)
        throw new UsageError(
          `an end is one of the whole list on ${label}, not of an item: give what ends a label of its own, without --add`,
        );
    },
  },
  async (call) => {
    const {
      memory,
      userId,
      config,
      project,
      words: [label, value],
      texts,
      flags,
      print,
    } = call;
    const { description } = texts;
    const say = async (answer: WrittenAnswer) => {
      const history = await readRevisionsAfter(memory, userId, answer, { project });
      const place = placeText(answer.place, project, config);
      const undo = undoOf(call, answer.place, project);
      print(writtenLine(answer, history, undo, localTime, place), answer);
      const had = history?.find(({ revision }) => revision === answer.previous?.revision)?.expires_at;
      if (had !== undefined && answer.expires_at === undefined && !flags.never)
        console.error(
          `it has no end any more; to give it that one again: ${sidebandCommand()} remember ${shellQuote(label)} --until ${had}${undo.options}`,
        );
    };
    if (value === undefined) return say(await changeTerms(call));
    const write = async (to: string, newLabel: true | "certain") => {
      const kept = await keptValue(call, value, to);
      const options = { ...termsOf(texts, flags), newLabel, description, project, writtenBy: WRITER };
      if (!flags.add) return memory.encode(userId, to, kept, options);
      return kept.includes(";")
        ? addItems(call, to, kept, options)
        : memory.append(userId, to, kept, options);
    };
    const answer = await write(label, flags.new ? "certain" : true).catch(async (error) => {
      if (isSidebandError(error, "invalid_request") && error.param === "description")
        await refuseDescription(call);
      if (!isSidebandError(error, "unknown_label")) throw error;
      return write(...(await meantLabel(call, error.hint)));
    });
    await say(answer);
  },
);

/** Several items in one write, so that one command undoes it. Nothing that is written meanwhile is lost. */
async function addItems(
  { memory, userId, project }: MemoryCall,
  label: string,
  value: string,
  options: Parameters<MemoryCall["memory"]["encode"]>[3] & { scope: PlaceKind | undefined },
): Promise<WrittenAnswer> {
  const known = (await memory.channels()).channels.find((channel) => channel.label === label);
  // An item goes where a fact would go, whatever the label has at another place.
  const scope = options.scope ?? known?.scope ?? scopeOfLabel(label);
  const { revisions } = await memory.history(userId, label, { project, scope }).catch((error) => {
    const isNew = isSidebandError(error, "fact_not_found") || isSidebandError(error, "unknown_label");
    return isNew ? { revisions: [] } : Promise.reject(error);
  });
  const present = revisions.find(({ ended }) => ended === undefined);
  const items = value.split(";").map((item) => item.trim());
  const all = [...(present?.value.split("; ") ?? []), ...items].filter((item) => item !== "");
  return memory.encode(userId, label, [...new Set(all)].join("; "), {
    ...options,
    scope,
    expiresAt: present?.expires_at,
    ifRevision: present?.revision ?? 0,
  });
}

/** The value as it may be kept. What only may be a secret is asked about. */
async function keptValue({ config, flags }: MemoryCall, value: string, label: string): Promise<string> {
  try {
    return sanitizeValue(value, config.allowSecrets, label);
  } catch (error) {
    const isDoubt = error instanceof RefusedValueError && error.code === "secret_doubted";
    if (!isDoubt || flags.json || !process.stdin.isTTY) throw error;
    const answer = await ask(
      `${error.message.split(":")[0]}, which agents would read. Store it all the same? [y/N] `,
    );
    if (answer !== "y" && answer !== "yes") throw new CommandError("nothing was stored");
    return sanitizeValue(value, "doubtful", label);
  }
}

function checkChange({ texts, flags }: Call): void {
  const { for: life, until, description, origin, scope } = texts;
  const change = life ?? until ?? description ?? origin ?? flags.never;
  const isPlaced = scope !== undefined || flags.shared || flags.own;
  if (flags.add || flags.new || isPlaced || change === undefined)
    throw new UsageError(
      "it takes LABEL and VALUE; only --until, --for, --never, --description and --origin change the fact that is there",
    );
  termsOf(texts, flags);
}

/** The fact that is there, with another end, description or origin. */
async function changeTerms(call: MemoryCall): Promise<WrittenAnswer> {
  const { memory, userId, project, texts, flags } = call;
  const [label] = call.words;
  const fact = await withNotFoundText(memory.decode(userId, label, { project }), userId, label);
  const { ttlS, expiresAt } = termsOf(texts, flags);
  const until = ttlS === undefined && !flags.never ? (expiresAt ?? fact.expires_at) : undefined;
  const written = memory.encode(userId, label, fact.value, {
    ttlS,
    expiresAt: until,
    origin: oneOf("origin", FACT_ORIGINS, texts.origin),
    description: texts.description,
    project,
    scope: fact.place,
    ifRevision: fact.revision,
    writtenBy: WRITER,
  });
  return written.catch(async (error) => {
    if (isSidebandError(error, "invalid_request") && error.param === "description")
      await refuseDescription(call);
    throw error;
  });
}

/** Throws where the label is not one of the person's own: a write does not describe it. */
async function refuseDescription({ memory, words: [label], texts, sameMemory }: MemoryCall): Promise<void> {
  const known = (await memory.channels()).channels.find((channel) => channel.label === label);
  if (known === undefined) return;
  const change = `labels edit ${shellQuote(label)} ${quotedOption("description", texts.description!)}`;
  throw new CommandError(
    known.own
      ? `${label} is a label of the account; to describe it anew: ${sidebandCommand()} ${change}${sameMemory}`
      : `${label} is a standard label, which cannot be described anew: leave --description out`,
  );
}

/** The label that is meant by one that was not made. Throws where nobody can be asked, or neither is meant. */
async function meantLabel(
  { memory, words: [label], flags, sameMemory }: MemoryCall,
  hint: string | undefined,
): Promise<[label: string, newLabel: true | "certain"]> {
  const unknown = unknownLabelText(label, hint, sameMemory);
  if (!LABEL_FORM.test(label)) throw new CommandError(unknown);
  if ((await memory.channels()).strict)
    throw new CommandError(`${unknown}\na new one: ${addLabelCommand(label, sameMemory)}`);
  if (hint === undefined || flags.json || !process.stdin.isTTY)
    throw new CommandError(`${unknown}\nto make ${label} all the same: the same command with --new`);
  const answer = await ask(`There is no label ${label}. Write to ${hint}? [y/N, or new to make ${label}] `);
  if (answer === "new") return [label, "certain"];
  if (answer !== "y" && answer !== "yes") throw new CommandError("nothing was stored");
  return [hint, true];
}

function termsOf({ for: life, until, scope, origin }: Call["texts"], flags: Call["flags"]) {
  const { never } = flags;
  if ([life, until, never].filter((end) => end !== undefined).length > 1)
    throw new UsageError("--for says how long, --until how late and --never no end: give one of them");
  const expiresAt = until === undefined ? undefined : new Date(endMs("--until", until)).toISOString();
  const ttlS = life === undefined ? undefined : lifeS("--for", life);
  if (ttlS !== undefined && ttlS > TTL_S_MAX)
    throw new UsageError(`--for takes at most ${TTL_S_MAX / 86_400} days, not "${life}"`);
  // Where nobody sits at a terminal, an agent or a script may have called.
  const saidOr = origin ?? (process.stdin.isTTY ? "said" : undefined);
  return {
    scope: scopeOf({ flags }, oneOf("scope", PLACE_KINDS, scope)),
    ttlS,
    expiresAt,
    origin: oneOf("origin", FACT_ORIGINS, saidOr),
  };
}

export const rename: Command = memoryCommand(
  {
    name: "rename",
    summary: "move a fact to another label, with its history",
    words: ["LABEL", "TO"],
    usage: "[--merge]",
    options: `  --merge         where TO has a fact: make a list of both there (items are joined by "; ")`,
    about: `Moves a fact to another label, with its history: sideband rename FAMILY.wife PEOPLE.grace. TO is made where it is not
there. Prints the command that undoes it.`,
    failures: "1 if there is no such fact, or TO has one",
    check({ words: [label, to] }) {
      if (label === to) throw new UsageError("LABEL and TO are the same");
    },
  },
  async (call) => {
    const { memory, userId, project, texts, flags, print } = call;
    const [label, to] = call.words;
    const merge = flags.merge ? ("append" as const) : undefined;
    const renamed = memory.rename(userId, label, to, { project, merge, writtenBy: WRITER }).catch((error) => {
      if (!isSidebandError(error, "fact_exists")) throw error;
      throw new CommandError(`${to} has a fact; with --merge it becomes a list of both`);
    });
    const answer = await withNotFoundText(renamed, userId, label);
    const { value, previous } = answer;
    if (previous === null) {
      const { program, options } = undoOf(call, answer.place, project);
      const back = `${program} rename ${shellQuote(to)} ${shellQuote(label)}${options}`;
      return print(`${label} is now ${to}; undo: ${back}`, answer);
    }
    const kept = await readRevisionsAfter(memory, userId, answer, { project });
    const isKept = kept === undefined || kept.some(({ revision }) => revision === previous.revision);
    const at = kept?.find(({ revision }) => revision === answer.revision)?.updated_at;
    const isShared = answer.place === "shared";
    // Both facts may be in any place of the person's, or they are what is shared.
    const place = repeatedOptions({
      texts: { ...texts, project: isShared ? projectAt(answer.place, project) : undefined },
    });
    const undo = isKept
      ? `undo: ${rollbackOf(at, place, isShared)}`
      : "no undo: the earlier value is not kept";
    print(`${label} is now in the list on ${to}: ${quotedValue(value)}; ${undo}`, answer);
  },
);

/** The labels, five on a line. */
function labelLines(): string {
  const lines = Array.from({ length: LABELS.length / 5 }, (_, i) => LABELS.slice(5 * i, 5 * i + 5));
  return lines.map((labels) => `  ${labels.join(" ")}`).join("\n");
}
