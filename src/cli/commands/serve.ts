/** sideband serve and owner: the processes that own a data folder, with a TCP port and without one. */

import { ACCOUNT_DEFAULT } from "../../base/accounts.ts";
import { readAgentConfig } from "../../config.ts";
import { runOwner, serveUntilStopped } from "../../main/serve.ts";
import { type Command, defineCommand, EXIT_OK } from "../command.ts";
import { sidebandCommand } from "../printed-commands.ts";
import { configOf, DATA_HELP, idleMsOf } from "../shared-options.ts";

const IDLE_S = 600;
const failures = "1 if it cannot start, or has lost its data folder";

export const serve: Command = defineCommand(
  {
    name: "serve",
    summary: "run the service",
    about: `Runs the service until SIGTERM or SIGINT, then ends in order. Prints "listening on http://HOST:PORT" on standard
output; logs are JSON lines on standard error. A start makes what the data folder does not have yet: the
master key, the admin token, and, if there is no account, the account "${ACCOUNT_DEFAULT}" with one key. At a terminal the
key is printed once; elsewhere it goes to the file first.key (mode 600) of the data folder, and the file's path is printed.
With SIDEBAND_DATABASE_URL it makes no master key (set SIDEBAND_MASTER_KEY) and no account: "sideband keys create"
makes one with its key.`,
    options: `  --port PORT     the port to listen on; 0 picks a free one (default SIDEBAND_PORT, else 8787)
  --host ADDRESS  the address to listen on; 0.0.0.0 for all (default SIDEBAND_HOST, else 127.0.0.1)
${DATA_HELP}

All other settings are SIDEBAND_ variables: docs/CONFIG.md lists them.
If the database of SIDEBAND_DATABASE_URL is away, it waits for it.`,
    failures,
  },
  async ({ texts }) => {
    const person = { userId: readAgentConfig().userId, program: sidebandCommand() };
    const keyInFile = process.stdout.isTTY !== true;
    await serveUntilStopped(configOf(texts), (line) => console.log(line), { person, keyInFile });
    return EXIT_OK;
  },
);

export const owner: Command = defineCommand(
  {
    name: "owner",
    summary: "serve a data folder to agents without a port (agents start it themselves)",
    about: `Answers on the local socket of the data folder, without a TCP port. Ends after SIGTERM, or when nobody has used it for
a while. Agents and commands start it if the folder has no owner; its log is owner.log in the folder.`,
    options: `${DATA_HELP}
  --idle-s SECONDS
                  how long it stays without being used (default ${IDLE_S})`,
    failures,
  },
  async ({ texts }) => {
    const idleMs = idleMsOf(texts, IDLE_S);
    const config = configOf({ data: texts.data }, { SIDEBAND_DATABASE_URL: "" });
    // At "info" every request would add a line to owner.log, which nobody cleans up.
    const logLevel = config.logLevel === "info" ? "warn" : config.logLevel;
    await runOwner({ ...config, logLevel }, idleMs);
    return EXIT_OK;
  },
);
