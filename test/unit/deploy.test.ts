/** The deployment files name settings that exist and files that are built. */

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { SETTINGS } from "../../src/config.ts";

const root = new URL("../../", import.meta.url);
const read = (path: string) => readFileSync(new URL(path, root), "utf8");
const paths = ["Dockerfile", ...readdirSync(new URL("deploy/", root)).map((name) => `deploy/${name}`)];

test("every setting that a deployment file names is one", () => {
  for (const path of paths) {
    const named = new Set(read(path).match(/SIDEBAND_[A-Z_]+/g));
    assert.ok(named.size > 0, path);
    for (const name of named) assert.ok(name in SETTINGS, `${path}: ${name}`);
  }
});

test("the image's version in the deployment files is the package's", () => {
  const { version } = JSON.parse(read("package.json"));
  const images = paths.flatMap((path) => read(path).match(/\bsideband:\d+\.\d+\.\d+/g) ?? []);
  assert.ok(images.length >= 2);
  assert.deepEqual(new Set(images), new Set([`sideband:${version}`]));
});

test("the image has every folder of the package that the program runs with", () => {
  const { files } = JSON.parse(read("package.json")) as { files: string[] };
  const folders = files.filter((name) => name !== "docs" && !name.includes("."));
  assert.ok(folders.includes("dist") && folders.length >= 3);
  for (const folder of folders.filter((name) => name !== "LICENSE")) {
    assert.ok(read("Dockerfile").includes(`COPY --from=build /app/${folder} ./${folder}`), folder);
  }
});
