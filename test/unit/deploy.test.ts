/** The deployment files name settings that exist and files that are built, and publish nothing of the operator's. */

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";
import type { Operation } from "../../src/contract/operation.ts";
import { OPERATIONS } from "../../src/contract/operations.ts";
import { SETTINGS } from "../../src/settings.ts";

const root = new URL("../../", import.meta.url);
const read = (path: string) => readFileSync(new URL(path, root), "utf8");
const paths = ["Dockerfile", ...readdirSync(new URL("deploy/", root)).map((name) => `deploy/${name}`)];

/** What the files for one machine are filled in with; the service does not see it. */
const OF_COMPOSE = ["SIDEBAND_DOMAIN", "SIDEBAND_BACKUPS", "SIDEBAND_NODE"];

test("every setting that a deployment file names is one", () => {
  for (const path of paths) {
    const named = new Set(read(path).match(/SIDEBAND_[A-Z_]+/g));
    assert.ok(named.size > 0 || ["deploy/Caddyfile", "deploy/grafana-dashboard.json"].includes(path), path);
    for (const name of named) assert.ok(name in SETTINGS || OF_COMPOSE.includes(name), `${path}: ${name}`);
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
  const folders = files.filter((name) => !/^(deploy|docs|examples|LICENSE)$|^!|\./.test(name));
  assert.ok(folders.includes("dist") && folders.length >= 3);
  for (const folder of folders) {
    assert.ok(read("Dockerfile").includes(`COPY --from=build /app/${folder} ./${folder}`), folder);
  }
});

/** Addresses by whether they are the operator's own. Every path also exists under /v1. */
function addresses(ofOperator: boolean): string[] {
  const operations: Operation[] = Object.values(OPERATIONS);
  const isOperators = ({ path, access }: Operation) => access === "admin" || path === "/metrics";
  const own = ofOperator ? ["/console", "/console/session"] : ["/", "/playground", "/docs", "/mcp"];
  const paths = operations
    .filter((operation) => isOperators(operation) === ofOperator)
    .map(({ path }) => path);
  assert.ok(paths.length > 1);
  return [...paths, ...own].flatMap((path) => [path, `/v1${path}`]);
}

test("the proxy of the compose file publishes everything but the operator's own", () => {
  const [, published] = /^\{\$SITE_ADDRESS:http:\/\/\} \{\n(.*?)^\}/ms.exec(read("deploy/Caddyfile"))!;
  const patterns = /^\t@operator path (.*)$/m.exec(published)![1].split(" ");
  assert.match(published, /^\trespond @operator ".*" 404$/m);
  const isRefused = (path: string) =>
    patterns.some((pattern) =>
      pattern.endsWith("/*") ? path.startsWith(pattern.slice(0, -1)) : path === pattern,
    );
  for (const path of addresses(true)) assert.ok(isRefused(path), path);
  for (const path of addresses(false)) assert.ok(!isRefused(path), path);
});

test("the compose file opens the proxy's port with the operator's own on its machine only", () => {
  const compose = read("deploy/compose.yaml");
  assert.match(compose, /- \.\/Caddyfile:\/etc\/caddy\/Caddyfile:ro/);
  const ports = [...compose.matchAll(/^ {6}- "(.*:\d+)"$/gm)].map(([, port]) => port);
  const unless = ports.map((port) => port.replace(/\$\{\w+:-(\d+)\}/, "$1"));
  assert.deepEqual(unless, ["8080:80", "8443:443", "127.0.0.1:8081:8081"]);
});

test("the Ingress leads to the operator's own nowhere, and everything else to the nodes", () => {
  const manifest = read("deploy/kubernetes.yaml");
  const rules = [...manifest.matchAll(/\{ path: (\S+), pathType: Prefix, .* name: ([\w-]+), port/g)];
  assert.ok(rules.length > 1);
  const backendOf = (path: string) => {
    const fitting = rules.filter(
      ([, prefix]) => prefix === "/" || path === prefix || path.startsWith(`${prefix}/`),
    );
    return fitting.sort(([, a], [, b]) => b.length - a.length)[0][2];
  };
  for (const path of addresses(true)) assert.equal(backendOf(path), "sideband-nobody", path);
  for (const path of addresses(false)) assert.equal(backendOf(path), "sideband", path);
  const [, nobody] = /^ {2}name: sideband-nobody\nspec:\n(.*?)^---$/ms.exec(manifest)!;
  assert.doesNotMatch(nobody, /selector/);
});

test("nodes start on a database that was migrated before them, and never migrate it themselves", () => {
  const compose = read("deploy/compose.yaml");
  const [, nodes, migrate] = /^x-node: &node\n(.*?)^services:.*^ {2}migrate:\n(.*?)^ {2}proxy:/ms.exec(
    compose,
  )!;
  assert.match(migrate, /command: \["node", "bin\/sideband\.js", "db", "migrate"\]/);
  assert.match(nodes, /SIDEBAND_MIGRATE: "off"/);
  assert.match(nodes, /migrate:\n {6}condition: service_completed_successfully/);
  const manifest = read("deploy/kubernetes.yaml");
  const [, before, node] = /initContainers:\n(.*?)^ {6}containers:\n(.*?)^---/ms.exec(manifest)!;
  assert.match(before, /command: \["node", "bin\/sideband\.js", "db", "migrate"\]/);
  assert.match(node, /\{ name: SIDEBAND_MIGRATE, value: "off" \}/);
});

test("the proxy knows every node of the compose file, and looks at /readyz", () => {
  const nodes = read("deploy/compose.yaml").match(/^ {2}sideband-\d+(?=: \*node$)/gm) ?? [];
  const known = nodes.map((name) => `${name.trim()}:8787`).join(" ");
  assert.equal(nodes.length, 3);
  const upstreams = [...read("deploy/Caddyfile").matchAll(/reverse_proxy (?:@whole )?\{\$NODES:([^}]*)\}/g)];
  assert.deepEqual(
    upstreams.map(([, listed]) => listed),
    [known, known],
  );
  assert.match(read("deploy/Caddyfile"), /^\thealth_uri \/readyz$/m);
});
