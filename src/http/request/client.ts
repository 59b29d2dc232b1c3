/**
 * The address, host and protocol that a client used. Behind a trusted proxy they come from X-Forwarded-For, -Host and
 * -Proto: each trusted hop is believed about the one before it, and the first that is not trusted is the client.
 */

import type { IncomingMessage } from "node:http";
import { BlockList, isIPv6 } from "node:net";

export interface Client {
  readonly address: string;
  readonly host: string;
  readonly protocol: string;
}

export type ClientReader = (request: IncomingMessage) => Client;

/** Proxies whose headers count: a number of hops, or these addresses and networks. */
export type TrustProxy = number | readonly string[] | false;

export type Trusts = (address: string, hop: number) => boolean;

export function clientReader(trusts: Trusts): ClientReader {
  return ({ headers, socket }) => {
    const peer = socket.remoteAddress ?? "";
    const direct = { address: peer, host: headers.host ?? "", protocol: "http" };
    if (!trusts(peer, 0)) return direct;
    const hops = [peer, ...listOf(headers["x-forwarded-for"]).reverse()];
    const client = hops.findIndex((address, hop) => !trusts(address, hop));
    return {
      address: hops.at(client)!,
      host: listOf(headers["x-forwarded-host"]).at(-1) ?? direct.host,
      protocol: listOf(headers["x-forwarded-proto"]).at(-1) ?? direct.protocol,
    };
  };
}

/** Whether the headers of an address count, that many hops away. */
export function trustsOf(trusted: TrustProxy): Trusts {
  if (trusted === false) return () => false;
  if (typeof trusted === "number") return (_address, hop) => hop < trusted;
  const networks = new BlockList();
  for (const text of trusted) {
    const [address, bits] = text.split("/");
    const family = isIPv6(address) ? "ipv6" : "ipv4";
    if (bits === undefined) networks.addAddress(address, family);
    else networks.addSubnet(address, Number(bits), family);
  }
  return (address) => networks.check(address, isIPv6(address) ? "ipv6" : "ipv4");
}

function listOf(header: string | string[] | undefined): string[] {
  const text = Array.isArray(header) ? header.join(",") : (header ?? "");
  return text
    .split(",")
    .map((part) => part.trim())
    .filter((part) => part !== "");
}
