/** Every mutant still applies, has a name of its own, and names tests that exist. */

import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { MUTANTS } from "./all.ts";
import { applyTo } from "./mutant.ts";

const root = new URL("../../", import.meta.url);

test("every mutant applies to the code as it is", () => {
  const faults = MUTANTS.flatMap((mutant) => {
    try {
      applyTo(readFileSync(new URL(mutant.file, root), "utf8"), mutant);
      return [];
    } catch (error) {
      return [(error as Error).message];
    }
  });
  assert.deepEqual(faults, []);
});

test("every mutant has a name of its own and tests that exist", () => {
  assert.equal(new Set(MUTANTS.map(({ name }) => name)).size, MUTANTS.length);
  for (const { name, tests } of MUTANTS) {
    assert.match(name, /^[a-z0-9]+(-[a-z0-9]+)*$/);
    for (const path of tests) assert.ok(existsSync(new URL(path, root)), `${name}: ${path}`);
  }
});
