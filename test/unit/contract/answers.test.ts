/** The answers that are written out for those who use the client, against the types of the schemas. The compiler compares them. */

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { writtenOut } from "../../../scripts/answer-types.ts";

const source = fileURLToPath(new URL("../../../src/contract/answers.ts", import.meta.url));
const compiler = fileURLToPath(new URL("../../../node_modules/typescript/bin/tsc", import.meta.url));

/** A program that compiles if two types are exactly the same, whatever they are made of. */
const comparison = (pairs: readonly string[]) => `
import type * as schemas from ${JSON.stringify(source)};
import type * as written from "./written.d.ts";
type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
type Plain<T> = T extends (infer E)[] ? Plain<E>[] : T extends object ? { [K in keyof T]: Plain<T[K]> } : T;
${pairs.map((pair, i) => `export const same${i}: Same<${pair}> = true;`).join("\n")}`;

test("the answers that npm publishes are the types of the schemas", (t) => {
  const folder = mkdtempSync(join(tmpdir(), "sideband-answers-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const text = readFileSync(source, "utf8");
  const names = [...text.matchAll(/^export type (\w+)/gm)].map(([, name]) => name);
  assert.ok(names.length > 30);
  const pairs = names.map((name) => `Plain<written.${name}>, Plain<schemas.${name}>`);
  writeFileSync(join(folder, "written.d.ts"), writtenOut(text));
  writeFileSync(join(folder, "same.ts"), comparison(pairs));
  writeFileSync(
    join(folder, "other.ts"),
    comparison(["Plain<written.WrittenAnswer>, Plain<schemas.EncodeAnswer>"]),
  );
  const options = ["--module", "nodenext", "--strict", "--exactOptionalPropertyTypes", "--skipLibCheck"];
  const args = [compiler, ...options, "--noEmit", "--allowImportingTsExtensions", "--types", ""];
  const { stdout } = spawnSync(process.execPath, [...args, "same.ts", "other.ts"], {
    cwd: folder,
    encoding: "utf8",
  });
  const faults = stdout.split("\n").filter((line) => line.includes("error"));
  assert.deepEqual(faults, ["other.ts(6,14): error TS2322: Type 'true' is not assignable to type 'false'."]);
});
