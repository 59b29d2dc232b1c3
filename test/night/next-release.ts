/**
 * The release after this one, as far as an upgrade goes: a copy of the built package whose stored data has one step more
 * on both stores, each record of the embedded store written anew and a column more in PostgreSQL.
 */

import assert from "node:assert/strict";
import { cpSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { builtSideband, packageFolder } from "../agents/built.ts";

const NO_STEPS = /FORMAT_STEPS = \[\]/;
const ONE_STEP = "FORMAT_STEPS = [(table, entry) => [{ table, ...entry }]]";
const MIGRATION = "-- A made step.\n-- works with: 1\nALTER TABLE sideband.facts ADD COLUMN weight bigint;\n";

/** Makes it in a new folder; the script behind its command `sideband`. */
export function makeNextRelease(folder: string): string {
  builtSideband();
  const from = (name: string) => join(packageFolder, name);
  const to = (name: string) => join(folder, name);
  for (const name of ["bin", "dist/src", "dist/bundle"]) cpSync(from(name), to(name), { recursive: true });
  for (const name of ["dist/web", "models", "node_modules"]) symlinkSync(from(name), to(name));
  const manifest = JSON.parse(readFileSync(from("package.json"), "utf8"));
  writeFileSync(to("package.json"), JSON.stringify({ ...manifest, version: "0.2.0" }));
  const changed = readdirSync(to("dist"), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith(".js"))
    .map(({ parentPath, name }) => join(parentPath, name))
    .filter((file) => NO_STEPS.test(readFileSync(file, "utf8")));
  assert.equal(changed.length, 2, "the service and the commands have the steps");
  for (const file of changed) writeFileSync(file, readFileSync(file, "utf8").replace(NO_STEPS, ONE_STEP));
  writeFileSync(to("dist/src/store/postgres/migrations/0002-made-step.sql"), MIGRATION);
  return to("bin/sideband.js");
}
