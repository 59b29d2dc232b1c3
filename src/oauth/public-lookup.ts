/**
 * Resolves names for requests to addresses that strangers name: only to public addresses. It is given to the connection
 * itself, so what was checked is what is connected to, and a name that changes its address in between gains nothing.
 */

import { type LookupAddress, type LookupOptions, lookup } from "node:dns";
import { BlockList, isIP, type LookupFunction } from "node:net";

const PRIVATE = new BlockList();
for (const network of [
  ...[
    "0.0.0.0/8",
    "10.0.0.0/8",
    "100.64.0.0/10",
    "127.0.0.0/8",
    "169.254.0.0/16",
    "172.16.0.0/12",
    "192.0.0.0/24",
  ],
  ...[
    "192.0.2.0/24",
    "192.88.99.0/24",
    "192.168.0.0/16",
    "198.18.0.0/15",
    "198.51.100.0/24",
    "203.0.113.0/24",
  ],
  ...["224.0.0.0/4", "240.0.0.0/4"],
]) {
  const [address, bits] = network.split("/");
  PRIVATE.addSubnet(address, Number(bits), "ipv4");
}

/** Of IPv6 only what is given to networks; of that neither documentation nor what leads into IPv4. */
const GLOBAL = new BlockList();
GLOBAL.addSubnet("2000::", 3, "ipv6");
const INSIDE_GLOBAL = new BlockList();
for (const [address, bits] of [
  ["2001::", 23],
  ["2001:db8::", 32],
  ["2002::", 16],
  ["3fff::", 20],
] as const)
  INSIDE_GLOBAL.addSubnet(address, bits, "ipv6");

export function isPublicAddress(address: string): boolean {
  const family = isIP(address);
  if (family === 4) return !PRIVATE.check(address, "ipv4");
  return family === 6 && GLOBAL.check(address, "ipv6") && !INSIDE_GLOBAL.check(address, "ipv6");
}

type Resolve = (
  hostname: string,
  options: LookupOptions,
  callback: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void,
) => void;

const resolveAll: Resolve = (hostname, options, callback) =>
  lookup(hostname, { ...options, all: true }, (error, addresses) => callback(error, addresses ?? []));

/** A name with any address that is not public is refused as a whole. */
export function publicLookup(resolve: Resolve = resolveAll): LookupFunction {
  return (hostname, options, callback) => {
    resolve(hostname, options, (error, addresses) => {
      if (error !== null) return callback(error, "", 0);
      const isPublic = addresses.length > 0 && addresses.every(({ address }) => isPublicAddress(address));
      if (!isPublic) return callback(new Error("the name leads to an address that is not public"), "", 0);
      if (options.all === true) return callback(null, addresses);
      callback(null, addresses[0].address, addresses[0].family);
    });
  };
}
