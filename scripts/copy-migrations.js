/** The last step of the build: tsc leaves SQL files where they are, and the program reads them beside itself. */

import { cpSync } from "node:fs";

const folder = "src/store/postgres/migrations/";
cpSync(new URL(`../${folder}`, import.meta.url), new URL(`../dist/${folder}`, import.meta.url), {
  recursive: true,
});
