/** sideband agents: lists the agents that Sideband has files for, and installs those files. */

import { accessSync, constants } from "node:fs";
import { homedir } from "node:os";
import { delimiter, join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { readSearchPath } from "../../config.ts";
import { AGENTS, shownPath } from "../../main/agent.ts";
import { AGENT_FILES, COMMAND_PATH } from "../../main/package.ts";
import { type Command, CommandError, EXIT_OK, UsageError } from "../command.ts";

export const agentsList: Command = {
  name: "agents list",
  summary: "list the agents that can be given a memory",
  help: `usage: sideband agents list

Lists the agents that "sideband agents install" knows, with the folder that their files go to.`,

  async run(args) {
    parseArgs({ args, options: {} });
    const width = Math.max(...AGENTS.map(({ name }) => name.length));
    for (const { name, title, home } of AGENTS) console.log(`${name.padEnd(width)}  ${title} (~/${home})`);
    console.log(
      "\nFrameworks need no installation: sideband/ai-sdk, sideband/langgraph, sideband/openai-agents.",
    );
    return EXIT_OK;
  },
};

export const agentsInstall: Command = {
  name: "agents install",
  summary: "install memory into an agent: claude-code, codex, hermes, openclaw",
  help: `usage: sideband agents install claude-code|codex|hermes|openclaw [--dir DIR] [--dry-run]

Copies the agent's files to where its host looks for them, and says what is left to do. Hooks and settings that
are there already are kept. Where "sideband" is not on the search path, the files call this installation.

  --dir DIR   the host's folder instead of its usual one
  --dry-run   only say what would be written

Exit status: 0; 1 if a file cannot be written; 2 for a wrong call.`,

  async run(args) {
    const { values, positionals } = parseArgs({
      args,
      allowPositionals: true,
      options: { dir: { type: "string" }, "dry-run": { type: "boolean", default: false } },
    });
    const kind = AGENTS.find(({ name }) => name === positionals[0]);
    if (kind === undefined || positionals.length !== 1) {
      throw new UsageError(`expected one of ${AGENTS.map(({ name }) => name).join(", ")}`);
    }
    const target = resolve(values.dir ?? join(homedir(), kind.home));
    const dryRun = values["dry-run"];
    try {
      const { written, next } = kind.install({
        files: AGENT_FILES,
        target,
        command: command(),
        dryRun,
      });
      const verb = dryRun ? "would write" : "wrote";
      for (const path of written) console.log(`${verb} ${shownPath(path, process.cwd())}`);
      if (written.length === 0) console.log("everything is in place already");
      console.log(["", "Next:", ...next.map((line) => `  ${line}`)].join("\n"));
      return EXIT_OK;
    } catch (error) {
      if (error instanceof Error && "syscall" in error) throw new CommandError(error.message);
      if (error instanceof SyntaxError)
        throw new CommandError(`a file that is there already is not JSON: ${error.message}`);
      throw error;
    }
  },
};

/** `sideband` where a shell finds it; else node with this installation's script. */
function command(): string[] {
  const onPath = readSearchPath()
    .split(delimiter)
    .some((folder) => folder !== "" && isExecutable(join(folder, "sideband")));
  return onPath ? ["sideband"] : [process.execPath, COMMAND_PATH];
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
