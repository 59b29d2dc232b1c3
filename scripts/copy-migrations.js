/** A step of the build: tsc copies no SQL files, but the program reads them from the folder of its own module. */

import { cpSync } from "node:fs";

const folder = "src/store/postgres/migrations/";
cpSync(new URL(`../${folder}`, import.meta.url), new URL(`../dist/${folder}`, import.meta.url), {
  recursive: true,
});
