/** The files of the build that a module needs: itself, what it imports, what that imports. */

import { readFileSync } from "node:fs";

/** @param {string[]} entries @param {".js" | ".d.ts"} ending @returns {string[]} their addresses */
export function moduleFiles(entries, ending) {
  const files = new Set(entries.map((entry) => `${entry}${ending}`));
  // The set grows while it is read.
  for (const file of files) {
    for (const [, path] of readFileSync(new URL(file), "utf8").matchAll(
      /(?:from |import\(|import )"(\.[^"]+)\.[jt]s"/g,
    ))
      files.add(new URL(`${path}${ending}`, file).href);
  }
  return [...files];
}

/** @returns {string[]} the packages of npm that these files import */
export function packagesOf(files) {
  const names = files.flatMap((file) =>
    [
      ...readFileSync(new URL(file), "utf8").matchAll(/(?:from |import\()"(@[^/"]+\/[^/"]+|[^.@"/][^/"]*)/g),
    ].map(([, name]) => name),
  );
  return [...new Set(names)].sort();
}
