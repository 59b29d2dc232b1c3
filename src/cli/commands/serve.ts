/** sideband serve: runs the service. */

import { parseArgs } from "node:util";
import { readConfig } from "../../config.ts";
import { serve as runService } from "../../main/serve.ts";
import { type Command, EXIT_OK } from "../command.ts";

export const serve: Command = {
  name: "serve",
  summary: "run the service",
  help: `usage: sideband serve

Runs the service until SIGTERM or SIGINT, then ends in order. Prints "listening on http://HOST:PORT" on standard
output; logs are JSON lines on standard error. The first start on an empty data folder makes the master key, the
admin token and an account "default" with one key, which is printed once. Beside a database no key is made: "sideband
keys create" makes one.

Settings are SIDEBAND_ variables: docs/CONFIG.md lists them all.

Exit status: 0 after an orderly end; 1 if it cannot start; 2 for a wrong call.`,

  async run(args) {
    parseArgs({ args, options: {} });
    await runService(readConfig(), (line) => console.log(line));
    return EXIT_OK;
  },
};
