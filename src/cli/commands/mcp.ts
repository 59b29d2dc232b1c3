/** sideband mcp and open: the memory for an agent, over MCP on standard input and output, and for a person, as a page. */

import { offText } from "../../agents/off.ts";
import { placeOf } from "../../agents/project.ts";
import { promptGroups } from "../../base/groups.ts";
import { labelList } from "../../base/label-patterns.ts";
import { usesService } from "../../config.ts";
import { openAgentMemory, runMcpStdio } from "../../main/agent.ts";
import { packageVersion } from "../../main/package.ts";
import { DEFAULT_BASE_URL } from "../../sdk/index.ts";
import { type Command, CommandError, defineCommand, EXIT_OK } from "../command.ts";
import { undoAnywhere } from "../printed-commands.ts";
import { idleMsOf, MEMORY_HELP, MEMORY_USAGE, memoryConfig, parsed } from "../shared-options.ts";

const IDLE_S = 1_800;
const failures = "1 if the memory cannot be opened";

export const mcp: Command = defineCommand(
  {
    name: "mcp",
    summary: "serve memory to an agent over MCP (standard input and output)",
    usage: `${MEMORY_USAGE} [--groups LIST] [--labels LIST]`,
    about: `Serves the tools remember, recall, find, forget, add_label and history, the resource sideband://memory/USER and the prompt
"context" for one user; with SIDEBAND_INCLUDE=both the sealed block, too, with flush and read_block. The project is the git
repository of the client's first root or of the working directory (SIDEBAND_PROJECT; "off" for none). With --url,
SIDEBAND_API_URL or SIDEBAND_API_KEY it uses that service; otherwise it uses the owner of the data folder. If the
folder has no owner, one is started in the background. It ends after ten idle minutes. Where memory is off (SIDEBAND_OFF,
"sideband off"), it lists no tools and refuses all calls.`,
    options: `${MEMORY_HELP}
  --groups LIST   the groups of labels that the resource and the prompt have: USER,PREF, all but some:
                  --groups=-HEALTH, or all (default SIDEBAND_GROUPS, else USER,PREF,TASK,PROJ). The tools reach all
  --labels LIST   the labels that the tools offer and write, exact ones and groups: "PREF.tone,LANG.*". Others are refused
                  (default: all that the key may write)`,
    failures,
  },
  async (call) => {
    const { groups, labels: list } = call.texts;
    const named = groups === undefined ? {} : { groups: parsed("--groups", promptGroups, groups) };
    const config = { ...memoryConfig(call), ...named };
    const labels = list === undefined ? undefined : parsed("--labels", labelList, list);
    const off = await offText(config, [process.cwd()]);
    if (off !== undefined) console.error(off);
    const memory = await openAgentMemory(config, { reach: off === undefined }).catch((error) => {
      throw new CommandError(`cannot open the memory in ${config.dataFolder}: ${error.message}`);
    });
    await runMcpStdio(memory, config, {
      version: packageVersion(),
      labels,
      onError: (error) => console.error(`sideband mcp: ${error.message}`),
      undoIn: (place, project) => undoAnywhere(config, place, project),
    });
    return EXIT_OK;
  },
);

export const openCommand: Command = defineCommand(
  {
    name: "open",
    summary: "see and change what is remembered, in the browser",
    usage: `${MEMORY_USAGE} [--no-browser] [--idle-s SECONDS]`,
    about: `Opens a page with the memory in the browser: see who wrote what, change it, add, forget, go back to a moment, export, erase. The
page is on this machine alone, at a free port of 127.0.0.1. The link that is printed works once, in one browser. The command
talks to the process that owns the data folder, and starts one if there is none. It ends with Ctrl-C, or when nobody has used
the page for a while. A service has this page at /memory.`,
    options: `${MEMORY_HELP}
  --no-browser    only print the link
  --idle-s SECONDS
                  how long it stays without being used (default ${IDLE_S})`,
    failures,
  },
  async (call) => {
    const idleMs = idleMsOf(call.texts, IDLE_S);
    const config = memoryConfig(call);
    if (usesService(config))
      throw new CommandError(
        `this memory is a service's: open ${config.apiUrl ?? DEFAULT_BASE_URL}/memory and sign in with its key, or name a data folder with --data`,
      );
    const browser = !call.flags["no-browser"];
    const { openPage } = await import("../../main/open-page.ts");
    const ended = await openPage({
      config,
      project: placeOf([process.cwd()], config),
      idleMs,
      browser,
      announce: (link) => console.log(announcement(link, config.userId, browser)),
    });
    if (ended === "idle") console.log(`closed: nobody has used the page for ${idleText(idleMs / 1000)}`);
    return EXIT_OK;
  },
);

function announcement(link: string, userId: string, browser: boolean): string {
  const first = browser
    ? `The memory of ${userId} opens in your browser. If it does not, open this link; it works once:`
    : `The memory of ${userId}: open this link in your browser; it works once:`;
  return `${first}\n\n  ${link}\n\nCtrl-C ends it.`;
}

function idleText(seconds: number): string {
  return seconds % 60 === 0 ? `${seconds / 60} minutes` : `${seconds} seconds`;
}
