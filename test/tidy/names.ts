/**
 * One meaning a word within a layer: the name of a type, and every exported name, is declared in one file of its layer. A
 * name that only its own file uses may stand in other files too, as long as none of them exports it. And what is exported
 * is imported somewhere.
 */

import { posix } from "node:path";
import type { SourceFile } from "./rules.ts";

const DECLARATION =
  /^(export )?(?:declare )?(?:abstract )?(?:async )?(class|interface|type|function\*?|const|let|enum) ([\w$]+)/gm;

/** A folder of src; of the stores each is one, and so is the kernel, which is compiled apart. */
const LAYER = /^src\/(?:store\/\w+|reader\/assembly|[\w-]+)/;
/** Each adapter has the name that its framework's users expect. */
const EXPECTED = "sidebandTools";

interface Declaration {
  readonly path: string;
  readonly exported: boolean;
}

/** Names with more than one meaning in a layer, each with the files that declare it. */
export function ambiguousNames(files: readonly SourceFile[]): string[] {
  const declared = new Map<string, Declaration[]>();
  for (const { path, text } of files) {
    if (!/^src\/.*\.tsx?$/.test(path)) continue;
    const [layer] = LAYER.exec(path) ?? [path];
    for (const [, exported, kind, name] of text.matchAll(DECLARATION)) {
      if (name === EXPECTED) continue;
      const isType = /^(class|interface|type)$/.test(kind);
      if (isType) add(declared, `${layer} type ${name}`, { path, exported: true });
      if (!/^(interface|type)$/.test(kind))
        add(declared, `${layer} value ${name}`, { path, exported: exported !== undefined });
    }
  }
  return [...declared]
    .filter(([, declarations]) => declarations.length > 1 && declarations.some(({ exported }) => exported))
    .map(
      ([name, declarations]) => `${name.split(" ")[2]}: ${declarations.map(({ path }) => path).join(", ")}`,
    );
}

function add(names: Map<string, Declaration[]>, name: string, declaration: Declaration): void {
  const known = names.get(name) ?? [];
  names.set(name, known.some(({ path }) => path === declaration.path) ? known : [...known, declaration]);
}

/** Names in braces, or everything, from a file. */
const IMPORT = /\b(?:import|export)\s+(?:type\s+)?(\{[^}]*\}|\*)[^"';]*?\bfrom\s*["'](\.[^"']+)["']/g;
/** What comes of this is read by a name that we do not see, as is a file of the kernel, which is compiled apart. */
const WHOLE = /\bimport\(\s*["'](\.[^"']+)["']/g;
const KERNEL = "src/reader/assembly/";

/** Exports of src that no other file imports, and that no package exports. @param manifest package.json */
export function unimportedExports(files: readonly SourceFile[], manifest: string): string[] {
  const doors = [...manifest.matchAll(/"\.\/dist\/(src\/[^"]+)\.js"/g)].map(([, door]) => `${door}.ts *`);
  const imported = new Set(doors);
  for (const { path, text } of files) {
    const from = (specifier: string) => posix.join(posix.dirname(path), specifier);
    for (const [, names, specifier] of text.matchAll(IMPORT))
      for (const name of names.split(/[{},\s]+/)) imported.add(`${from(specifier)} ${name}`);
    for (const [, specifier] of text.matchAll(WHOLE)) imported.add(`${from(specifier)} *`);
  }
  return files
    .filter(
      ({ path }) => /^src\/.*\.tsx?$/.test(path) && !path.startsWith(KERNEL) && !imported.has(`${path} *`),
    )
    .flatMap(({ path, text }) =>
      [...text.matchAll(DECLARATION)]
        .filter(([, exported, , name]) => exported !== undefined && !imported.has(`${path} ${name}`))
        .map(([, , , name]) => `${path}: ${name}`),
    );
}
