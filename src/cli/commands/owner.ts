/** sideband owner: owns a data folder for agents that run without a service. They start it by themselves. */

import { parseArgs } from "node:util";
import { runOwner } from "../../main/serve.ts";
import { type Command, EXIT_OK, UsageError } from "../command.ts";
import { configOf, DATA_HELP, DATA_OPTION } from "../data-option.ts";

const IDLE_S = "600";

export const owner: Command = {
  name: "owner",
  summary: "serve a data folder to agents without a port (agents start it themselves)",
  help: `usage: sideband owner [--data FOLDER] [--idle-s SECONDS]

Answers on the local socket of the data folder, without a TCP port. Ends after SIGTERM, or when nobody has used it for
a while. Agents and commands start it if the folder has no owner; its log is owner.log in the folder.

${DATA_HELP}
  --idle-s SECONDS
                  how long it stays without being used (default ${IDLE_S})

Exit status: 0 after an orderly end; 1 if it cannot start, or has lost its data folder; 2 for a wrong call.`,

  async run(args) {
    const options = { "idle-s": { type: "string", default: IDLE_S }, ...DATA_OPTION } as const;
    const { values } = parseArgs({ args, options });
    const idleS = Number(values["idle-s"]);
    if (!(idleS > 0 && idleS <= 86_400)) throw new UsageError("--idle-s takes seconds, up to 86400");
    const config = configOf({ data: values.data }, { SIDEBAND_DATABASE_URL: "" });
    // At "info" every request would add a line to owner.log, which nobody cleans up.
    const logLevel = config.logLevel === "info" ? "warn" : config.logLevel;
    await runOwner({ ...config, logLevel }, idleS * 1000);
    return EXIT_OK;
  },
};
