/** sideband serve: runs the service. */

import { parseArgs } from "node:util";
import { ACCOUNT_DEFAULT } from "../../base/account.ts";
import { serveUntilStopped as runService } from "../../main/serve.ts";
import { type Command, EXIT_OK } from "../command.ts";
import { configOf, DATA_HELP, DATA_OPTION } from "../data-option.ts";

export const serve: Command = {
  name: "serve",
  summary: "run the service",
  help: `usage: sideband serve [--port PORT] [--host ADDRESS] [--data FOLDER]

Runs the service until SIGTERM or SIGINT, then ends in order. Prints "listening on http://HOST:PORT" on standard
output; logs are JSON lines on standard error. A start makes what the data folder does not have yet: the
master key, the admin token, and, if there is no account, the account "${ACCOUNT_DEFAULT}" with one key, which is printed once.
With SIDEBAND_DATABASE_URL it makes no master key (set SIDEBAND_MASTER_KEY) and no account: "sideband keys create"
makes one with its key.

  --port PORT     the port to listen on; 0 picks a free one (default SIDEBAND_PORT, else 8787)
  --host ADDRESS  the address to listen on; 0.0.0.0 for all (default SIDEBAND_HOST, else 127.0.0.1)
${DATA_HELP}

All other settings are SIDEBAND_ variables: docs/CONFIG.md lists them.
If the database of SIDEBAND_DATABASE_URL is away, it waits for it.

Exit status: 0 after an orderly end; 1 if it cannot start, or has lost its data folder; 2 for a wrong call.`,

  async run(args) {
    const options = { port: { type: "string" }, host: { type: "string" }, ...DATA_OPTION } as const;
    const { values } = parseArgs({ args, options });
    await runService(configOf(values), (line) => console.log(line));
    return EXIT_OK;
  },
};
