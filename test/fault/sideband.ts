/** The command line from the sources, for tests that need a process of its own. */

import { main } from "../../src/cli/main.ts";

process.exitCode = await main(process.argv.slice(2));
