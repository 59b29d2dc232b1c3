/** sideband mcp: memory as an MCP server on standard input and output. */

import { parseArgs } from "node:util";
import { openAgentMemory, runMcpStdio } from "../../main/agent.ts";
import { packageVersion } from "../../main/package.ts";
import { type Command, CommandError, EXIT_OK } from "../command.ts";
import { MEMORY_HELP, MEMORY_OPTIONS, MEMORY_USAGE, memoryConfig } from "../memory-options.ts";
import { undoAnywhere } from "../spoken-command.ts";

export const mcp: Command = {
  name: "mcp",
  summary: "serve memory to an agent over MCP (standard input and output)",
  help: `usage: sideband mcp ${MEMORY_USAGE}

Serves the tools remember, recall, forget, add_label and history, the resource sideband://memory/USER and the prompt
"context" for one user; with SIDEBAND_INCLUDE=both the sealed block, too, with flush and read_block. The project is the git
repository of the client's first root or of the working directory (SIDEBAND_PROJECT; "off" for none). With --url,
SIDEBAND_API_URL or SIDEBAND_API_KEY it uses that service; otherwise it uses the owner of the data folder. If the
folder has no owner, one is started in the background. It ends after ten idle minutes.

${MEMORY_HELP}

Exit status: 0 after the client has disconnected; 1 if the memory cannot be opened; 2 for a wrong call.`,

  async run(args) {
    const { values } = parseArgs({ args, options: MEMORY_OPTIONS });
    const config = memoryConfig(values);
    const memory = await openAgentMemory(config).catch((error) => {
      throw new CommandError(`cannot open the memory in ${config.dataFolder}: ${error.message}`);
    });
    await runMcpStdio(memory, config, {
      version: packageVersion(),
      onError: (error) => console.error(`sideband mcp: ${error.message}`),
      undoIn: (project) => undoAnywhere(config, project),
    });
    return EXIT_OK;
  },
};
