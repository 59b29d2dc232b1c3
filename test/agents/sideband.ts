/** The command line from its sources, for tests that start it as a host would. */

import { main } from "../../src/cli/main.ts";

process.exitCode = await main(process.argv.slice(2));
