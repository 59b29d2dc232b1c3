/**
 * A step of the build: the declarations of what the package exports, once more, in a folder of CommonJS modules. Node loads
 * our modules with require, but a TypeScript program of CommonJS modules (`module: node16`) accepts only declarations of such.
 */

import { cpSync, readFileSync, rmSync, writeFileSync } from "node:fs";

const root = new URL("../", import.meta.url);
const from = new URL("dist/", root);
const to = new URL("dist/require/", root);
const { exports } = JSON.parse(readFileSync(new URL("package.json", root), "utf8"));

rmSync(to, { recursive: true, force: true });
const files = new Set(
  Object.values(exports).flatMap(({ types }) =>
    types === undefined ? [] : new URL(types.default, root).href,
  ),
);
// The set grows while it is read.
for (const file of files) {
  cpSync(new URL(file), new URL(file.slice(from.href.length), to));
  for (const [, path] of readFileSync(new URL(file), "utf8").matchAll(/(?:from |import\()"(\.[^"]+)\.ts"/g))
    files.add(new URL(`${path}.d.ts`, file).href);
}
writeFileSync(new URL("package.json", to), '{ "type": "commonjs" }\n');
