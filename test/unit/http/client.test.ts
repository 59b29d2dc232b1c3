/** The client behind proxies: only what a trusted proxy says counts. */

import assert from "node:assert/strict";
import type { IncomingMessage } from "node:http";
import { test } from "node:test";
import { clientReader, type TrustProxy } from "../../../src/http/request/client.ts";

function clientOf(trusted: TrustProxy, remoteAddress: string, headers: Record<string, string> = {}) {
  const request = { socket: { remoteAddress }, headers: { host: "inside", ...headers } };
  return clientReader(trusted)(request as unknown as IncomingMessage);
}

const FORWARDED = {
  "x-forwarded-for": "1.1.1.1, 2.2.2.2, 10.0.0.5",
  "x-forwarded-host": "memory.example",
  "x-forwarded-proto": "https",
};

test("without a trusted proxy the headers of the client mean nothing", () => {
  const direct = { address: "9.9.9.9", host: "inside", protocol: "http" };
  assert.deepEqual(clientOf(false, "9.9.9.9", FORWARDED), direct);
  assert.deepEqual(clientOf(0, "9.9.9.9", FORWARDED), direct);
  assert.deepEqual(clientOf(["10.0.0.0/8"], "9.9.9.9", FORWARDED), direct);
});

test("of several hosts and protocols that one counts which the last proxy has added", () => {
  const forged = { "x-forwarded-host": "evil.example, memory.example", "x-forwarded-proto": "https, http" };
  const { host, protocol } = clientOf(1, "10.0.0.1", forged);
  assert.deepEqual([host, protocol], ["memory.example", "http"]);
});

test("a number of hops is believed, and no more of them than that", () => {
  assert.equal(clientOf(1, "10.0.0.1", FORWARDED).address, "10.0.0.5");
  assert.equal(clientOf(2, "10.0.0.1", FORWARDED).address, "2.2.2.2");
  assert.equal(clientOf(9, "10.0.0.1", FORWARDED).address, "1.1.1.1");
  assert.equal(clientOf(1, "10.0.0.1").address, "10.0.0.1");
});

test("networks are believed hop by hop, IPv4 in IPv6 too", () => {
  const trusted = ["10.0.0.0/8", "fd00::/8", "127.0.0.1"];
  const seen = clientOf(trusted, "::ffff:10.0.0.1", FORWARDED);
  assert.deepEqual(seen, { address: "2.2.2.2", host: "memory.example", protocol: "https" });
  assert.equal(clientOf(trusted, "fd00::1", { "x-forwarded-for": "fd00::2" }).address, "fd00::2");
  assert.equal(
    clientOf(trusted, "127.0.0.1", { "x-forwarded-for": "not an address" }).address,
    "not an address",
  );
});
