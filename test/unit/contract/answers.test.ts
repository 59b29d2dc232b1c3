/** The answers that are written out for those who use the client, against the types of the schemas. The compiler compares them. */

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { writtenOut } from "../../../scripts/answer-types.ts";
import { temporaryFolder } from "../../fixtures/ends.ts";

const source = fileURLToPath(new URL("../../../src/contract/answers.ts", import.meta.url));
const compiler = fileURLToPath(new URL("../../../node_modules/typescript/bin/tsc", import.meta.url));

/** Types are compared as they are when all that they are made of is resolved. */
const PROGRAM = `
import type * as schemas from ${JSON.stringify(source)};
import type * as written from "./written.d.ts";
type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
type Plain<T> = T extends (infer E)[] ? Plain<E>[] : T extends object ? { [K in keyof T]: Plain<T[K]> } : T;
// @ts-expect-error: one has fields that the other may have
export const other: Same<Plain<written.WrittenAnswer>, Plain<schemas.EncodeAnswer>> = true;
`;

test("the answers that npm publishes are the types of the schemas", (t) => {
  const folder = temporaryFolder(t);
  const text = readFileSync(source, "utf8");
  const names = [...text.matchAll(/^export type (\w+)/gm)].map(([, name]) => name);
  assert.ok(names.length > 30);
  const lines = names.map(
    (name) => `export const ${name}: Same<Plain<written.${name}>, Plain<schemas.${name}>> = true;`,
  );
  writeFileSync(join(folder, "written.d.ts"), writtenOut(text));
  writeFileSync(join(folder, "same.ts"), PROGRAM + lines.join("\n"));
  const options = ["--module", "nodenext", "--strict", "--exactOptionalPropertyTypes", "--skipLibCheck"];
  const args = [compiler, ...options, "--noEmit", "--allowImportingTsExtensions", "--types", "", "same.ts"];
  assert.equal(spawnSync(process.execPath, args, { cwd: folder, encoding: "utf8" }).stdout, "");
});
