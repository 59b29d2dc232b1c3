/** Which addresses a metadata document may be fetched from. */

import assert from "node:assert/strict";
import type { LookupAddress } from "node:dns";
import { test } from "node:test";
import { isPublicAddress, publicLookup } from "../../../src/oauth/public-lookup.ts";

test("networks of one's own, of a machine, of a cloud's metadata and of nobody are not public, in any spelling", () => {
  for (const address of [
    ...[
      "127.0.0.1",
      "127.8.8.8",
      "0.0.0.0",
      "10.0.0.1",
      "172.16.0.1",
      "172.31.255.255",
      "192.168.1.1",
      "169.254.169.254",
    ],
    ...["100.64.0.1", "192.0.2.1", "198.18.0.1", "224.0.0.1", "255.255.255.255"],
    ...["::1", "::", "fe80::1", "fc00::1", "fd00:ec2::254", "ff02::1", "::ffff:127.0.0.1", "::ffff:8.8.8.8"],
    ...["64:ff9b::7f00:1", "2002:7f00:1::", "2001:db8::1", "2001::1", "::7f00:1", "", "x", "1.2.3"],
  ])
    assert.equal(isPublicAddress(address), false, address);
  for (const address of ["8.8.8.8", "172.32.0.1", "160.79.104.10", "2606:4700::1111", "2a00:1450:4001::1"])
    assert.equal(isPublicAddress(address), true, address);
});

test("a name is refused as a whole where one of its addresses is not public", async () => {
  const look = (addresses: LookupAddress[], all: boolean) =>
    new Promise<unknown>((resolve) => {
      const lookup = publicLookup((_name, _options, callback) => callback(null, addresses));
      lookup("app.example", { all }, (error, found, family) => resolve(error?.message ?? [found, family]));
    });
  const open = { address: "8.8.8.8", family: 4 };
  assert.deepEqual(await look([open], false), ["8.8.8.8", 4]);
  assert.deepEqual(await look([open], true), [[open], undefined]);
  for (const addresses of [[], [{ address: "127.0.0.1", family: 4 }], [open, { address: "::1", family: 6 }]])
    assert.match(String(await look(addresses, true)), /not public/);
});
