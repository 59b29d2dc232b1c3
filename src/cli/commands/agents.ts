/** sideband agents: lists the agents that Sideband has files for, installs those files, checks them, removes them. */

import { homedir } from "node:os";
import { join, relative, resolve, sep } from "node:path";
import type { AgentKind } from "../../agents/agent-files.ts";
import { AGENTS, isInCache, permanentCommand, versionOf } from "../../agents/install.ts";
import { InstallationRecord, isIntact } from "../../agents/installation-record.ts";
import { offText } from "../../agents/off.ts";
import { placeOf, projectOf } from "../../agents/project.ts";
import { NoStoreError } from "../../base/errors.ts";
import { promptGroups } from "../../base/groups.ts";
import { readAgentConfig, readSearchPath, readSystemFolders } from "../../config.ts";
import { openAgentMemory } from "../../main/agent.ts";
import { AGENT_FILES, COMMAND_PATH, OPENCLAW_MODULE, packageVersion } from "../../main/package.ts";
import { withAgentsLock } from "../../main/person-settings.ts";
import { quotedOption } from "../../main/shell-quote.ts";
import {
  type Call,
  type Command,
  CommandError,
  defineCommand,
  EXIT_FAILED,
  EXIT_OK,
  UsageError,
} from "../command.ts";
import { counted } from "../printed.ts";
import { sidebandCommand } from "../printed-commands.ts";
import { parsed } from "../shared-options.ts";

/** What a prompt gets, for each value of SIDEBAND_INCLUDE. */
const PROMPT_PARTS = {
  index: "the facts in plain text",
  block: "the sealed block",
  both: "the facts in plain text and the sealed block",
};
const NAMES = AGENTS.map(({ name }) => name);
const NAMES_LINES = `${NAMES.slice(0, 6).join(", ")},\n${NAMES.slice(6).join(", ")}`;

export const agentsList: Command = defineCommand(
  {
    name: "agents list",
    summary: "list the agents that can be given a memory",
    about: 'Lists the agents that "sideband agents install" knows, with the folder that their files go to.',
    failures: "1 if it failed",
  },
  async () => {
    const width = Math.max(...NAMES.map((name) => name.length));
    for (const kind of AGENTS)
      console.log(`${kind.name.padEnd(width)}  ${kind.title} (${fromHome(usualFolder(kind))})`);
    console.log(
      "\nFrameworks need no installation: sideband/ai-sdk, sideband/langgraph, sideband/openai-agents.",
    );
    return EXIT_OK;
  },
);

export const agentsInstall: Command = defineCommand(
  {
    name: "agents install",
    summary: "install memory into an agent (agents list names them)",
    words: ["NAME"],
    about: `NAME is one of ${NAMES_LINES}.

Copies the agent's files to where its host looks for them, and says what is left to do. Hooks and settings that
are there already are kept: an entry is added to a settings file in its text, and a file that cannot be read is left
as it is. Where "sideband" is not on the search path, the files call this installation; editors, which do not have a
shell's search path, always do.`,
    options: `  --dir DIR       the host's folder instead of its usual one
  --groups LIST   the groups of labels that its prompts get: USER,PREF, all but some: --groups=-HEALTH, or all (default:
                  SIDEBAND_GROUPS, else USER,PREF,TASK,PROJ). Not for Hermes and OpenClaw, whose key may have groups
  --dry-run       only say what would be written`,
    failures: "1 if a file cannot be written",
  },
  async (call) => {
    const { kind, target, isUsual, dryRun, groups } = optionsOf(call);
    const version = packageVersion();
    const command = kind.isDesktop
      ? [process.execPath, COMMAND_PATH]
      : permanentCommand(readSearchPath(), COMMAND_PATH, version);
    const system = { home: homedir(), platform: process.platform };
    const own = { files: AGENT_FILES, openclawModule: OPENCLAW_MODULE };
    const install = () => {
      const pieces = kind.pieces({ ...own, ...system, target, isUsual, command, groups });
      const entry = { agent: kind.name, target, version, command, groups };
      return new InstallationRecord(homedir()).install(entry, pieces, dryRun);
    };
    const changes = dryRun ? install() : await withAgentsLock(homedir(), install);
    for (const { done, path } of changes) {
      if (done === "kept") console.log(`kept ${shownPath(path)}: its "sideband" is your own`);
      else console.log(`${dryRun ? "would write" : done} ${shownPath(path)}`);
    }
    if (changes.length === 0) console.log("everything is in place already");
    if (isInCache(COMMAND_PATH)) {
      console.log(
        `\nThe files call ${COMMAND_PATH}, which is in a cache that npm may empty.` +
          '\nTo stay, run "npm install --global ." in a clone of Sideband and then this installation again.',
      );
    }
    if (groups !== undefined)
      console.log(
        `\nIts prompts get ${groups}. Its tools still reach every fact: what it must not see needs a key with groups (docs/agents/README.md).`,
      );
    console.log(["", "Next:", ...kind.next(target).map((line) => `  ${line}`)].join("\n"));
    return EXIT_OK;
  },
);

export const agentsRemove: Command = defineCommand(
  {
    name: "agents remove",
    summary: "remove from an agent what was installed",
    words: ["NAME"],
    about: `NAME is one of ${NAMES_LINES}.

Removes exactly what "sideband agents install" added. What else is in the files stays. An added file that was changed
since the installation is left in place and named. Facts are not deleted.`,
    options: `  --dir DIR   the host's folder, if it was given to the installation
  --dry-run   only say what is installed`,
    failures: "1 if nothing is installed there, or a file was left",
  },
  async (call) => {
    const { kind, target, dryRun } = optionsOf(call);
    const record = new InstallationRecord(homedir());
    const entry = record.find(kind.name, target);
    if (entry === undefined) {
      throw new CommandError(
        `${kind.name} is not installed in ${target}; what is: ${sidebandCommand()} agents status`,
      );
    }
    if (dryRun) {
      for (const { path } of entry.placed) console.log(`would take out ${shownPath(path)}`);
      return EXIT_OK;
    }
    const changes = await withAgentsLock(homedir(), () => record.remove(entry));
    for (const { done, path } of changes) {
      console.log(done === "left" ? `left ${shownPath(path)}: it was changed` : `${done} ${shownPath(path)}`);
    }
    if (kind.after.length > 0)
      console.log(["", "Next:", ...kind.after.map((line) => `  ${line}`)].join("\n"));
    return changes.some(({ done }) => done === "left") ? EXIT_FAILED : EXIT_OK;
  },
);

export const agentsStatus: Command = defineCommand(
  {
    name: "agents status",
    summary: "show which agents have a memory, and whether it answers",
    about: `Shows what "sideband agents install" put where and with which version, whether the files are still there unchanged,
and whether the command of that installation starts. All hosts call this command but Hermes and OpenClaw, which call a
service. It does not look into the host's own settings.

The last lines are about what the SIDEBAND_ variables of this shell, "sideband connect" and "sideband off" select: what a
prompt gets, and where the memory is. They say whether it answers, or that nothing is remembered there yet.`,
    failures: "1 if something is installed that does not work, or the memory does not answer",
  },
  async () => {
    const installed = new InstallationRecord(homedir()).all();
    let works = true;
    for (const entry of installed) {
      const version = versionOf(entry.command);
      const faults = [
        ...(isIntact(entry) ? [] : ["files are missing or changed"]),
        ...(version === undefined ? ["it does not start"] : []),
        ...(version !== undefined && version !== entry.version ? [`it starts ${version}`] : []),
      ];
      works &&= faults.length === 0;
      const kind = AGENTS.find(({ name }) => name === entry.agent);
      const isUsual = kind !== undefined && usualFolder(kind) === entry.target;
      const folder = isUsual ? "" : ` ${quotedOption("dir", entry.target)}`;
      const groups = entry.groups === undefined ? "" : ` --groups=${entry.groups}`;
      const advice = `: ${faults.join(", ")}\n  again: ${sidebandCommand()} agents install ${entry.agent}${folder}${groups}`;
      console.log(`${entry.agent} ${entry.version} in ${entry.target}`);
      console.log(`  command ${entry.command.join(" ")}${faults.length === 0 ? ", which starts" : advice}`);
      if (entry.groups !== undefined) console.log(`  its prompts get the groups ${entry.groups}`);
    }
    const missing = NAMES.filter((name) => !installed.some(({ agent }) => agent === name));
    if (missing.length > 0) console.log(`not installed: ${missing.join(", ")}`);
    const off = await offText(readAgentConfig(), [process.cwd()]);
    console.log(off ?? `a prompt gets ${PROMPT_PARTS[readAgentConfig().include]} (SIDEBAND_INCLUDE)`);
    return (await memoryAnswers()) && works ? EXIT_OK : EXIT_FAILED;
  },
);

/** Asks the memory as an agent does, and says how it went. */
async function memoryAnswers(): Promise<boolean> {
  const config = readAgentConfig();
  const where = config.apiUrl ?? (config.apiKey === undefined ? config.dataFolder : "the default address");
  try {
    const project = projectOf([process.cwd()], config);
    const place = placeOf([process.cwd()], config);
    const memory = await openAgentMemory(config, { begin: false });
    const startMs = performance.now();
    const { channel_count } = await memory.facts(config.userId, {
      timeoutMs: config.timeoutMs,
      project: place,
    });
    const ms = Math.round(performance.now() - startMs);
    const here = project === undefined ? "outside of a project" : `in the project ${project}`;
    console.log(
      `memory of ${config.userId} ${here}: ${where} answers in ${ms} ms, ${counted(channel_count, "fact")}`,
    );
    return true;
  } catch (error) {
    // Nothing is wrong: the first session of an agent makes the store.
    if (error instanceof NoStoreError) {
      console.log(`memory of ${config.userId}: ${error.message}`);
      return true;
    }
    console.log(`memory of ${config.userId}: ${where} does not answer: ${(error as Error).message}`);
    return false;
  }
}

function optionsOf({ words: [agent], texts: { dir, groups }, flags }: Call) {
  const kind = AGENTS.find(({ name }) => name === agent);
  if (kind === undefined) throw new UsageError(`NAME is one of ${NAMES.join(", ")}`);
  const target = resolve(dir ?? usualFolder(kind));
  if (groups !== undefined && kind.callsService)
    throw new UsageError(
      `${kind.name} has a key of a service: give the key groups, with keys create --groups`,
    );
  const named = groups === undefined ? undefined : parsed("--groups", givenGroups, groups);
  return { kind, target, isUsual: dir === undefined, dryRun: flags["dry-run"] === true, groups: named };
}

/** As they are written into the host's files. */
function givenGroups(text: string): string {
  return promptGroups(text) ?? "all";
}

function usualFolder(kind: AgentKind): string {
  return kind.folder({ platform: process.platform, home: homedir(), ...readSystemFolders() });
}

function fromHome(path: string): string {
  return path.startsWith(`${homedir()}${sep}`) ? join("~", relative(homedir(), path)) : path;
}

/** A path for display: relative to the working directory if it is inside it. */
function shownPath(path: string): string {
  const inside = relative(process.cwd(), path);
  return inside.startsWith("..") ? path : inside;
}
