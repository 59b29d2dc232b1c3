/**
 * The address, host and protocol that a client used. Behind a trusted proxy they come from X-Forwarded-For, -Host and
 * -Proto: each trusted hop is believed about the one before it, and the first that is not trusted is the client.
 */

import { BlockList, isIP, isIPv6 } from "node:net";
import type { HttpRequest } from "../services.ts";

export interface Client {
  readonly address: string;
  readonly host: string;
  readonly protocol: string;
}

export type ClientReader = (request: Pick<HttpRequest, "headers" | "socket">) => Client;

/** Proxies whose headers count: a number of hops, or these addresses and networks. */
export type TrustProxy = number | readonly string[] | false;

type Trusts = (address: string, hop: number) => boolean;

export function clientReader(trusts: Trusts): ClientReader {
  return ({ headers, socket }) => {
    const peer = socket.remoteAddress ?? "";
    const direct = { address: peer, host: headers.host ?? "", protocol: "http" };
    if (!trusts(peer, 0)) return direct;
    const forwarded = listOf(headers["x-forwarded-for"]).map(addressIn).reverse();
    // Whoever passed on what is no address counts as the client.
    const strange = forwarded.findIndex((hop) => isIP(hop) === 0);
    const hops = [peer, ...(strange < 0 ? forwarded : forwarded.slice(0, strange))];
    const client = hops.findIndex((address, hop) => !trusts(address, hop));
    return {
      address: hops.at(client)!,
      host: listOf(headers["x-forwarded-host"]).at(-1) ?? direct.host,
      protocol: listOf(headers["x-forwarded-proto"]).at(-1) ?? direct.protocol,
    };
  };
}

/**
 * Some proxies add the port of their client, and put quotes around what has a colon. The port is left out: one client
 * uses many ports.
 */
const WITH_PORT = /^"?(?:\[([\da-f:.]+(?:%[^\]]+)?)\]|(\d+\.\d+\.\d+\.\d+))(?::\d+)?"?$/i;

function addressIn(hop: string): string {
  const [, ipv6, ipv4] = WITH_PORT.exec(hop) ?? [];
  return ipv6 ?? ipv4 ?? hop;
}

/**
 * What rate limits count a client by. A host is given a whole /64 of IPv6, so one caller has all of its addresses. IPv4
 * in IPv6 counts as the IPv4 address.
 */
export function limitGroupOf({ address }: Pick<Client, "address">): string {
  if (!isIPv6(address)) return address;
  const words = wordsOf(address);
  const isIPv4 = words.slice(0, 5).every((word) => word === 0) && words[5] === 0xffff;
  if (isIPv4) return [words[6] >> 8, words[6] & 255, words[7] >> 8, words[7] & 255].join(".");
  const network = words.slice(0, 4).map((word) => word.toString(16));
  return `${network.join(":")}::/64`;
}

/** The eight words of an IPv6 address, in any of its spellings. */
function wordsOf(address: string): number[] {
  const [plain] = address.split("%");
  const hexadecimal = plain.replace(/(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})$/, (_, a, b, c, d) =>
    [Number(a) * 256 + Number(b), Number(c) * 256 + Number(d)].map((word) => word.toString(16)).join(":"),
  );
  const [head, tail = []] = hexadecimal
    .split("::")
    .map((part) => (part === "" ? [] : part.split(":").map((word) => Number.parseInt(word, 16))));
  return [...head, ...new Array<number>(8 - head.length - tail.length).fill(0), ...tail];
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
