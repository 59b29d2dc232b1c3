/** The files for one machine: the unit's hardening stays, one node has the volume, and nothing of the operator's is published. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), "utf8");
const unit = read("deploy/sideband.service");
const compose = read("deploy/one-machine.yaml");
const caddy = read("deploy/one-machine.Caddyfile");

test("the unit has no capabilities, writes to its folders only, and is started again after a failure", () => {
  const settings = new Map(
    unit.split("\n").flatMap((line) => {
      const [, name, value] = /^(\w+)=(.*)$/.exec(line) ?? [];
      return name === undefined ? [] : [[name, value] as const];
    }),
  );
  const expected = {
    CapabilityBoundingSet: "",
    NoNewPrivileges: "true",
    ProtectSystem: "strict",
    ProtectHome: "true",
    PrivateTmp: "true",
    PrivateDevices: "true",
    RestrictAddressFamilies: "AF_INET AF_INET6 AF_UNIX",
    ReadWritePaths: "/var/backups/sideband",
    StateDirectory: "sideband",
    UMask: "0077",
    Restart: "on-failure",
    User: "sideband",
  };
  for (const [name, value] of Object.entries(expected)) assert.equal(settings.get(name), value, name);
  assert.ok(!settings.has("MemoryDenyWriteExecute"), "V8 writes machine code");
  assert.match(
    unit,
    /SIDEBAND_DATA=\/var\/lib\/sideband\/data SIDEBAND_BACKUP_DIR=\/var\/backups\/sideband /,
  );
});

test("one container has the volume, with a read-only root and no capabilities", () => {
  const [, node] = /^ {2}sideband:\n(.*?)^ {2}proxy:/ms.exec(compose)!;
  assert.match(node, /^ {4}read_only: true\n {4}tmpfs: \[\/tmp\]\n {4}cap_drop: \[ALL\]$/m);
  assert.equal(compose.match(/- data:\/data/g)?.length, 1);
  assert.doesNotMatch(compose, /replicas/);
  assert.doesNotMatch(node, /ports:/, "only the proxy is reached from outside");
});

test("the proxy of one machine publishes what the proxy of several publishes, and the rest on its machine only", () => {
  const operators = /^\t@operator path (.*)$/m;
  assert.equal(operators.exec(caddy)?.[1], operators.exec(read("deploy/Caddyfile"))?.[1]);
  const ports = [...compose.matchAll(/^ {6}- "(.*:\d+)"$/gm)].map(([, port]) => port);
  assert.deepEqual(ports, ["80:80", "443:443", "127.0.0.1:8081:8081"]);
});
