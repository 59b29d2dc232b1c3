/**
 * A step of the build: tsc copies no SQL files, but the program reads them from the folder of its own module. It runs all that
 * it finds there, so those of an earlier build go. Nor does it copy the module of a thread, which is JavaScript.
 */

import { cpSync, rmSync } from "node:fs";

const folder = "src/store/postgres/migrations/";
const built = new URL(`../dist/${folder}`, import.meta.url);
rmSync(built, { recursive: true, force: true });
cpSync(new URL(`../${folder}`, import.meta.url), built, { recursive: true });
const worker = "src/store/lmdb/commit-worker.js";
cpSync(new URL(`../${worker}`, import.meta.url), new URL(`../dist/${worker}`, import.meta.url));
