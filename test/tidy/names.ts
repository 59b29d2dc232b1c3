/**
 * One name, one meaning: the name of a type, and every exported name, is declared in one file of src. A name that only
 * its own file uses may stand in other files too, as long as none of them exports it.
 */

import type { SourceFile } from "./rules.ts";

const DECLARATION =
  /^(export )?(?:declare )?(?:abstract )?(?:async )?(class|interface|type|function\*?|const|let|enum) ([\w$]+)/gm;

/** Files that say the same by the same name: two implementations of one thing, or a copy that is compiled apart. */
const ALIKE: readonly (readonly [RegExp, RegExp])[] = [
  // Each store has the operations of the port, and a group commit.
  [/^src\/store\/lmdb\//, /^src\/store\/postgres\//],
  [/^src\/memory\//, /^src\/store\//],
  // The kernel is compiled from a folder of its own.
  [/^src\/reader\//, /^src\/reader\/assembly\//],
  // Each adapter has the names that its framework's users expect.
  [/^src\/agents\//, /^src\/agents\//],
];

interface Declaration {
  readonly path: string;
  readonly exported: boolean;
}

/** Names with more than one meaning, each with the files that declare it. */
export function ambiguousNames(files: readonly SourceFile[]): string[] {
  const types = new Map<string, Declaration[]>();
  const values = new Map<string, Declaration[]>();
  for (const { path, text } of files) {
    if (!/^src\/.*\.tsx?$/.test(path)) continue;
    for (const [, exported, kind, name] of text.matchAll(DECLARATION)) {
      const declaration = { path, exported: exported !== undefined };
      if (/^(class|interface|type)$/.test(kind)) add(types, name, { path, exported: true });
      if (!/^(interface|type)$/.test(kind)) add(values, name, declaration);
    }
  }
  return [...types, ...values]
    .filter(([, declarations]) => declarations.some(({ exported }) => exported))
    .filter(([, declarations]) => !areAlike(declarations.map(({ path }) => path)))
    .map(([name, declarations]) => `${name}: ${declarations.map(({ path }) => path).join(", ")}`);
}

function add(names: Map<string, Declaration[]>, name: string, declaration: Declaration): void {
  const known = names.get(name) ?? [];
  names.set(name, known.some(({ path }) => path === declaration.path) ? known : [...known, declaration]);
}

function areAlike(paths: readonly string[]): boolean {
  const pairs = paths.flatMap((path, i) => paths.slice(i + 1).map((other) => [path, other].sort()));
  return pairs.every(([first, second]) =>
    ALIKE.some(([a, b]) => (a.test(first) && b.test(second)) || (a.test(second) && b.test(first))),
  );
}
