/** sideband mcp: memory as an MCP server on standard input and output. */

import { parseArgs } from "node:util";
import { readAgentConfig } from "../../config.ts";
import { openAgentMemory, runMcpStdio } from "../../main/agent.ts";
import { packageVersion } from "../../main/package.ts";
import { type Command, CommandError, EXIT_OK } from "../command.ts";

export const mcp: Command = {
  name: "mcp",
  summary: "serve memory to an agent over MCP (standard input and output)",
  help: `usage: sideband mcp [--user ID] [--url URL | --data DIR [--account NAME]]

Serves the tools remember, recall, forget, list, context, flush and read_block, the resource
sideband://memory/USER and the prompt "context" for one user. TASK and PROJ facts are kept for the project: the git
repository of the client's first root or of the working directory (SIDEBAND_PROJECT; "off" for none). With --url, SIDEBAND_API_URL or SIDEBAND_API_KEY
it uses that service; otherwise it uses the owner of the data folder. Where the folder has no owner, one is started in
the background, which ends after ten idle minutes.

  --user ID       whose memory (SIDEBAND_USER_ID; the name of the user who runs it)
  --url URL       the service (SIDEBAND_API_URL); its key is SIDEBAND_API_KEY
  --data DIR      the data folder (SIDEBAND_DATA; ~/.sideband/data)
  --account NAME  the account in the data folder ("default")

Exit status: 0 when the client has gone; 1 if the memory cannot be opened; 2 for a wrong call.`,

  async run(args) {
    const { values } = parseArgs({
      args,
      options: {
        user: { type: "string" },
        url: { type: "string" },
        data: { type: "string" },
        account: { type: "string" },
      },
    });
    const given = readAgentConfig();
    const config = {
      ...given,
      ...(values.url === undefined ? {} : { apiUrl: values.url }),
      // A folder named in the call wins over a service set in the environment.
      ...(values.data === undefined ? {} : { dataFolder: values.data, apiUrl: undefined, apiKey: undefined }),
      account: values.account ?? given.account,
      userId: values.user ?? given.userId,
    };
    const memory = await openAgentMemory(config).catch((error) => {
      throw new CommandError(`cannot open the memory in ${config.dataFolder}: ${error.message}`);
    });
    await runMcpStdio(memory, config, {
      version: packageVersion(),
      onError: (error) => console.error(`sideband mcp: ${error.message}`),
    });
    return EXIT_OK;
  },
};
