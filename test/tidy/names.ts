/**
 * One name, one meaning: the name of a type, and every exported name, is declared in one file of src. A name that only
 * its own file uses may stand in other files too, as long as none of them exports it.
 */

import type { SourceFile } from "./rules.ts";

const DECLARATION =
  /^(export )?(?:declare )?(?:abstract )?(?:async )?(class|interface|type|function\*?|const|let|enum) ([\w$]+)/gm;

const PORT = "src/memory/ports.ts";
/** What both stores have beside the operations of the port. */
const STORE_NAMES =
  /^(GroupCommit|GroupCommitOptions|beginHistoryLimit|historyInForce|shortenHistories|stampOf)$/;

/** Files that say the same by the same name: two implementations of one thing, or a copy that is compiled apart. */
const ALIKE: readonly { first: RegExp; second: RegExp; names: RegExp | typeof PORT }[] = [
  { first: /^src\/store\/lmdb\//, second: /^src\/store\/postgres\//, names: PORT },
  { first: /^src\/store\/lmdb\//, second: /^src\/store\/postgres\//, names: STORE_NAMES },
  { first: /^src\/memory\//, second: /^src\/store\//, names: PORT },
  // The kernel is compiled from a folder of its own.
  { first: /^src\/reader\//, second: /^src\/reader\/assembly\//, names: /./ },
  // Each adapter has the name that its framework's users expect.
  { first: /^src\/agents\//, second: /^src\/agents\//, names: /^sidebandTools$/ },
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
  const port = files.find(({ path }) => path === PORT)?.text ?? "";
  const operations = new Set([...port.matchAll(/^ {2}(\w+)\(/gm)].map(([, name]) => name));
  return [...types, ...values]
    .filter(([, declarations]) => declarations.some(({ exported }) => exported))
    .filter(([name, declarations]) => {
      const paths = declarations.map(({ path }) => path);
      return !areAlike(paths, (names) => (names === PORT ? operations.has(name) : names.test(name)));
    })
    .map(([name, declarations]) => `${name}: ${declarations.map(({ path }) => path).join(", ")}`);
}

function add(names: Map<string, Declaration[]>, name: string, declaration: Declaration): void {
  const known = names.get(name) ?? [];
  names.set(name, known.some(({ path }) => path === declaration.path) ? known : [...known, declaration]);
}

function areAlike(
  paths: readonly string[],
  isNamed: (names: (typeof ALIKE)[number]["names"]) => boolean,
): boolean {
  const alike = ALIKE.filter(({ names }) => isNamed(names));
  const pairs = paths.flatMap((path, i) => paths.slice(i + 1).map((other) => [path, other].sort()));
  return pairs.every(([first, second]) =>
    alike.some(
      (a) => (a.first.test(first) && a.second.test(second)) || (a.first.test(second) && a.second.test(first)),
    ),
  );
}
