/** sideband open: the memory page of a data folder in the browser. */

import { parseArgs } from "node:util";
import { projectOf } from "../../agents/project.ts";
import { usesService } from "../../config.ts";
import { openPage } from "../../main/open-page.ts";
import { DEFAULT_BASE_URL } from "../../sdk/index.ts";
import { type Command, CommandError, EXIT_OK, UsageError } from "../command.ts";
import { MEMORY_HELP, MEMORY_OPTIONS, MEMORY_USAGE, memoryConfig } from "../memory-options.ts";

const IDLE_S = "1800";

export const openCommand: Command = {
  name: "open",
  summary: "see and change what is remembered, in the browser",
  help: `usage: sideband open ${MEMORY_USAGE} [--no-browser] [--idle-s SECONDS]

Opens a page with the memory in the browser: see who wrote what, change it, add, forget, go back to a moment, export, erase. The
page is on this machine alone, at a free port of 127.0.0.1. The link that is printed works once, in one browser. The command
talks to the process that owns the data folder, and starts one if there is none. It ends with Ctrl-C, or when nobody has used
the page for a while.

${MEMORY_HELP}
  --no-browser    only print the link
  --idle-s SECONDS
                  how long it stays without being used (default ${IDLE_S})

A service has this page at /memory.

Exit status: 0 when it has ended; 1 if the memory cannot be opened; 2 for a wrong call.`,

  async run(args) {
    const options = {
      ...MEMORY_OPTIONS,
      "no-browser": { type: "boolean" },
      "idle-s": { type: "string", default: IDLE_S },
    } as const;
    const { values } = parseArgs({ args, options });
    const idleS = Number(values["idle-s"]);
    if (!(idleS > 0 && idleS <= 86_400)) throw new UsageError("--idle-s takes seconds, up to 86400");
    const config = memoryConfig(values);
    if (usesService(config))
      throw new CommandError(
        `this memory is a service's: open ${config.apiUrl ?? DEFAULT_BASE_URL}/memory and sign in with its key, or name a data folder with --data`,
      );
    const ended = await openPage({
      config,
      project: projectOf([process.cwd()], config),
      idleMs: idleS * 1000,
      browser: values["no-browser"] !== true,
      announce: (link) => console.log(announcement(link, config.userId, values["no-browser"] !== true)),
    });
    if (ended === "idle") console.log(`closed: nobody has used the page for ${idleText(idleS)}`);
    return EXIT_OK;
  },
};

function announcement(link: string, userId: string, browser: boolean): string {
  const first = browser
    ? `The memory of ${userId} opens in your browser. If it does not, open this link; it works once:`
    : `The memory of ${userId}: open this link in your browser; it works once:`;
  return `${first}\n\n  ${link}\n\nCtrl-C ends it.`;
}

function idleText(seconds: number): string {
  return seconds % 60 === 0 ? `${seconds / 60} minutes` : `${seconds} seconds`;
}
