/**
 * sideband remember, recall, forget, facts, context: the memory for a person at a terminal. The commands use the
 * memory as an agent in the same folder does. Only remember begins a store.
 */

import { parseArgs } from "node:util";
import type { AgentMemory } from "../../agent-side/agent-memory.ts";
import { memorySection } from "../../agent-side/memory-section.ts";
import { scopedMemory } from "../../agent-side/scope.ts";
import { keptValue } from "../../agent-side/secrets.ts";
import { projectOf } from "../../agents/project.ts";
import type { AgentConfig } from "../../config.ts";
import { LABELS } from "../../contract/channel-labels.ts";
import { openAgentMemory } from "../../main/agent.ts";
import { isSidebandError } from "../../sdk/index.ts";
import { refuseReplacedBytes } from "../argument-bytes.ts";
import { type Command, CommandError, EXIT_OK, UsageError } from "../command.ts";
import { memoryError } from "../memory-errors.ts";
import { MEMORY_HELP, MEMORY_OPTIONS, MEMORY_USAGE, memoryConfig } from "../memory-options.ts";

const HELP = `${MEMORY_HELP}
  --json          print one JSON object

The facts are those that an agent in the working directory has. A git repository is a project: its TASK and PROJ facts
are kept under ID/PROJECT, all other facts under ID. If both have a fact with the same label, the project's is used.
"sideband agents status" prints the project; SIDEBAND_PROJECT names another one, and "off" is none. With an ID that
contains a "/", such as ID/PROJECT, only the facts under exactly that ID are used.

With --url, SIDEBAND_API_URL or SIDEBAND_API_KEY the command asks that service. Otherwise, and with --data, it asks the
process that owns the data folder, such as a running service on it. If no process owns the folder, the command starts
an owner in the background, which ends after ten minutes without use. Only remember begins a store where there is none.`;

interface FactsInput {
  readonly memory: AgentMemory;
  readonly config: AgentConfig;
  /** The arguments after the options, as many as the command takes. */
  readonly words: readonly string[];
  /** Prints the lines, or the object if the call has --json. */
  print(lines: string, object: object): void;
}

export const remember: Command = factCommand(
  ["LABEL", "VALUE"],
  {
    name: "remember",
    summary: "store a fact; one with the same label is replaced",
    about: `Stores a fact, exactly as written: sideband remember USER.gpu "RTX 5090". As with agents, <private> parts are left
out, and what looks like a key, a token or a password is refused (SIDEBAND_ALLOW_SECRETS=1 lets it be stored). The 40
labels:

${labelLines()}`,
    failures: "1 if it was refused",
    begins: true,
  },
  async ({ memory, config: { userId, allowSecrets }, words: [label, value], print }) => {
    const answer = await memory.encode(userId, label, keptValue(value, allowSecrets));
    print(`${answer.label}=${answer.value}`, answer);
  },
);

export const recall: Command = factCommand(
  ["LABEL"],
  {
    name: "recall",
    summary: "print one fact",
    about: "Prints the value of one fact.",
    failures: "1 if there is no such fact",
  },
  async ({ memory, config: { userId }, words: [label], print }) => {
    const answer = await orNoFact(memory.decode(userId, label), userId, label);
    print(answer.value, answer);
  },
);

export const forget: Command = factCommand(
  ["LABEL"],
  {
    name: "forget",
    summary: "delete one fact for good",
    about: "Deletes one fact for good.",
    failures: "1 if there is no such fact",
  },
  async ({ memory, config: { userId }, words: [label], print }) => {
    const answer = await orNoFact(memory.forget(userId, label), userId, label);
    print(`forgot ${label}`, answer);
  },
);

export const facts: Command = factCommand(
  [],
  {
    name: "facts",
    summary: "print all facts of a user",
    about: "Prints all facts of a user as LABEL=value lines.",
    failures: "1 if it failed",
  },
  async ({ memory, config: { userId }, print }) => {
    const answer = await memory.facts(userId);
    const lines = answer.facts.map(({ label, value }) => `${label}=${value}`);
    if (lines.length === 0) console.error(`${userId} has no facts`);
    print(lines.join("\n"), answer);
  },
);

export const context: Command = factCommand(
  [],
  {
    name: "context",
    summary: "print the section for an agent's prompt: the facts in plain text and the block",
    about:
      "Prints the memory as an agent here gets it in its prompt: the facts in plain text, and the sealed block.",
    failures: "1 if it failed",
  },
  async ({ memory, config: { userId }, print }) => {
    const answer = await memory.context(userId);
    if (answer.channel_count === 0) console.error(`${userId} has no facts`);
    print(memorySection(answer), answer);
  },
);

/** The labels, five on a line. */
function labelLines(): string {
  const lines = Array.from({ length: LABELS.length / 5 }, (_, i) => LABELS.slice(5 * i, 5 * i + 5));
  return lines.map((labels) => `  ${labels.join(" ")}`).join("\n");
}

interface FactCommand {
  readonly name: string;
  readonly summary: string;
  readonly about: string;
  readonly failures: string;
  /** Whether it makes the data folder's store where there is none. */
  readonly begins?: boolean;
}

function factCommand(
  names: readonly string[],
  { name, summary, about, failures, begins = false }: FactCommand,
  work: (call: FactsInput) => Promise<void>,
): Command {
  return {
    name,
    summary,
    help: `usage: ${["sideband", name, ...names, MEMORY_USAGE].join(" ")} [--json]

${about}

${HELP}

Exit status: 0; ${failures}; 2 for a wrong call.`,

    async run(args) {
      const options = { ...MEMORY_OPTIONS, json: { type: "boolean", default: false } } as const;
      refuseReplacedBytes(args);
      const { values, positionals: words } = parseArgs({ args, options, allowPositionals: true });
      if (words.length !== names.length) throw new UsageError(countText(names, words));
      if (words[names.indexOf("VALUE")]?.trim() === "")
        throw new CommandError(
          "the VALUE is empty or spaces alone: there is nothing to remember; sideband forget LABEL deletes a fact",
        );
      const config = memoryConfig(values);
      const opened = await openAgentMemory(
        { ...config, timeoutMs: config.personTimeoutMs },
        { begin: begins },
      );
      // A user_id of a project already says which facts are meant.
      const memory = values.user?.includes("/")
        ? opened
        : scopedMemory(opened, () => projectOf([process.cwd()], config.project));
      const print = (lines: string, object: object) => {
        if (values.json) console.log(JSON.stringify(object));
        else if (lines !== "") console.log(lines);
      };
      await work({ memory, config, words, print }).catch((error) => {
        throw memoryError(error, words, config);
      });
      return EXIT_OK;
    },
  };
}

function countText(names: readonly string[], words: readonly string[]): string {
  if (names.length === 0) return `it takes no arguments, but was given "${words[0]}"`;
  const quotes =
    words.length > names.length && names.includes("VALUE") ? "; put a VALUE with spaces in quotes" : "";
  return `it takes ${names.join(" and ")}${quotes}`;
}

async function orNoFact<T>(call: Promise<T>, userId: string, label: string): Promise<T> {
  try {
    return await call;
  } catch (error) {
    if (!isSidebandError(error, "fact_not_found")) throw error;
    throw new CommandError(`${userId} has no fact ${label}`);
  }
}
