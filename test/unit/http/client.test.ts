/** The client behind proxies: only what a trusted proxy says counts. */

import assert from "node:assert/strict";
import type { IncomingMessage } from "node:http";
import { test } from "node:test";
import { clientReader, limitGroupOf, type TrustProxy, trustsOf } from "../../../src/http/request/client.ts";

function clientOf(
  trusted: TrustProxy,
  remoteAddress: string,
  headers: Record<string, string | string[]> = {},
) {
  const request = { socket: { remoteAddress }, headers: { host: "inside", ...headers } };
  return clientReader(trustsOf(trusted))(request as unknown as IncomingMessage);
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

test("a connection that has ended has no address, and a request may have no host", () => {
  const request = { socket: {}, headers: {} } as unknown as IncomingMessage;
  const nothing = { address: "", host: "", protocol: "http" };
  assert.deepEqual(clientReader(trustsOf(false))(request), nothing);
  assert.deepEqual(clientReader(trustsOf(1))(request), nothing);
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

test("single addresses are believed, and their neighbours are not", () => {
  const trusted = ["127.0.0.1", "fd00::7"];
  for (const [peer, address] of [
    ["127.0.0.1", "1.1.1.1"],
    ["127.0.0.2", "127.0.0.2"],
    ["fd00::7", "1.1.1.1"],
    ["fd00::8", "fd00::8"],
  ]) {
    assert.equal(clientOf(trusted, peer, { "x-forwarded-for": "1.1.1.1" }).address, address);
  }
});

test("a header that came several times is one list, and an empty part of it is none", () => {
  const headers = { "x-forwarded-for": ["1.1.1.1,", " 2.2.2.2 ,, "], "x-forwarded-host": "memory.example, " };
  assert.equal(clientOf(2, "10.0.0.1", headers).address, "1.1.1.1");
  assert.equal(clientOf(1, "10.0.0.1", headers).host, "memory.example");
});

test("networks are believed hop by hop, IPv4 in IPv6 too", () => {
  const trusted = ["10.0.0.0/8", "fd00::/8", "127.0.0.1"];
  const seen = clientOf(trusted, "::ffff:10.0.0.1", FORWARDED);
  assert.deepEqual(seen, { address: "2.2.2.2", host: "memory.example", protocol: "https" });
  assert.equal(clientOf(trusted, "fd00::1", { "x-forwarded-for": "fd00::2" }).address, "fd00::2");
});

test("an address with a port, in brackets or in quotes is that address, of a proxy too", () => {
  for (const [hop, address] of [
    ["1.2.3.4:5678", "1.2.3.4"],
    ['"1.2.3.4:5678"', "1.2.3.4"],
    ['"1.2.3.4"', "1.2.3.4"],
    ["192.168.100.200:80", "192.168.100.200"],
    ["2001:db8::1", "2001:db8::1"],
    ["[2001:db8::1]", "2001:db8::1"],
    ["[2001:db8::1]:443", "2001:db8::1"],
    ['"[2001:DB8::1]:443"', "2001:DB8::1"],
    ["[::ffff:1.2.3.4]:443", "::ffff:1.2.3.4"],
    ["[fe80::1%eth0]:443", "fe80::1%eth0"],
  ]) {
    assert.equal(clientOf(1, "10.0.0.1", { "x-forwarded-for": hop }).address, address, hop);
  }
  const hops = { "x-forwarded-for": "2.2.2.2:1, 10.0.0.5:2, [fd00::1]:3" };
  assert.equal(clientOf(["10.0.0.0/8", "fd00::/8"], "10.0.0.1", hops).address, "2.2.2.2");
});

test("what is no address counts as the one who passed it on", () => {
  for (const hop of [
    ...["unknown", "example.org:443", "not an address", "1.2.3.4.5", "-", "1.2.3.400:1"],
    ...["for=1.2.3.4", "1.2.3.4:80x", "x[2001:db8::1]", "[2001:db8::1]x", "[2001:db8::1]:x", "[x::1]"],
  ]) {
    const headers = { "x-forwarded-for": `${hop}, 10.0.0.5` };
    assert.equal(clientOf(1, "10.0.0.1", { "x-forwarded-for": hop }).address, "10.0.0.1", hop);
    assert.equal(clientOf(["10.0.0.0/8"], "10.0.0.1", headers).address, "10.0.0.5", hop);
  }
});

test("a rate limit counts an IPv6 address by its /64, and IPv4 in IPv6 as the IPv4 address", () => {
  for (const [address, group] of [
    ["1.2.3.4", "1.2.3.4"],
    ["::ffff:1.2.3.4", "1.2.3.4"],
    ["::FFFF:102:304", "1.2.3.4"],
    ["::ffff:192.168.100.200", "192.168.100.200"],
    ["0:0:0:0:0:ffff:255.0.0.1", "255.0.0.1"],
    ["2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"],
    ["2001:0DB8:0001:0002::9", "2001:db8:1:2::/64"],
    ["2001:db8::1", "2001:db8:0:0::/64"],
    ["2001:db8::3:4:5:6:7", "2001:db8:0:3::/64"],
    ["2001:db8:0:0:1::", "2001:db8:0:0::/64"],
    ["2001:db8:0:1::ffff:1.2.3.4", "2001:db8:0:1::/64"],
    ["64:ff9b::1.2.3.4", "64:ff9b:0:0::/64"],
    ["fe80::1%eth0", "fe80:0:0:0::/64"],
    ["::1", "0:0:0:0::/64"],
    ["::", "0:0:0:0::/64"],
    ["not an address", "not an address"],
    ["", ""],
  ]) {
    assert.equal(limitGroupOf({ address }), group, address);
  }
});
