/** The recorded process: runs a scenario, or what follows after it was killed, and adds its marks to the log. */

import { appendFileSync } from "node:fs";
import { SCENARIOS, start } from "./scenarios.ts";

const [name, part, home, outside] = process.argv.slice(2);
const log = process.env.RECORD_TO as string;
const mark = (mark: unknown) => appendFileSync(log, `mark\t${JSON.stringify(mark)}\t0\n`);
await (part === "run" ? SCENARIOS[name].run : start)({ home, outside, mark });
