/**
 * A step of the build: the declarations of what the package exports, once more, in a folder of CommonJS modules. Node loads
 * our modules with require, but a TypeScript program of CommonJS modules (`module: node16`) accepts only declarations of such.
 */

import { cpSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { moduleFiles } from "./module-files.js";

const root = new URL("../", import.meta.url);
const from = new URL("dist/", root);
const to = new URL("dist/require/", root);
const { exports } = JSON.parse(readFileSync(new URL("package.json", root), "utf8"));

rmSync(to, { recursive: true, force: true });
const entries = Object.values(exports).flatMap(({ types }) =>
  types === undefined ? [] : new URL(types.default.replace(/\.d\.ts$/, ""), root).href,
);
for (const file of moduleFiles(entries, ".d.ts"))
  cpSync(new URL(file), new URL(file.slice(from.href.length), to));
writeFileSync(new URL("package.json", to), '{ "type": "commonjs" }\n');
