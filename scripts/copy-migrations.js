/** A step of the build: tsc copies no SQL files, but the program reads them from the folder of its own module. */

import { cpSync, rmSync } from "node:fs";

const folder = "src/store/postgres/migrations/";
const target = new URL(`../dist/${folder}`, import.meta.url);
// Those of an earlier build would be applied, too.
rmSync(target, { recursive: true, force: true });
cpSync(new URL(`../${folder}`, import.meta.url), target, { recursive: true });
