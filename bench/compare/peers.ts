/** The peers, by the names of their files, and those that could not be run here, with the reason. */

import { openInProcess } from "./library-client.ts";
import type { Memory, Peer } from "./memory.ts";
import type { Place } from "./place.ts";

export const PEER_IDS = [
  "sideband-mcp",
  "server-memory",
  "memory-keeper",
  "sideband-service",
  "redis",
  "langgraph",
  "mem0",
  "notes-file",
  "json-file",
] as const;

export type PeerId = (typeof PEER_IDS)[number];

/** The comparison takes what npm or Debian has and what runs without a model. Nothing else was tried. */
export const NOT_RUN: Readonly<Record<string, string>> = {
  supermemory: "a hosted service; its package on npm is a client",
  Letta: "a server that works with a model; its package on npm is a client",
  "basic-memory": "a package of Python",
  Graphiti: "a package of Python that works with a model and a graph database",
  cognee: "a package of Python that works with a model",
};

export async function peerOf(id: PeerId): Promise<Peer> {
  return ((await import(`./peers/${id}.ts`)) as { peer: Peer }).peer;
}

/** A client of a peer: an MCP server of its own, or a process of its own that has opened the library. */
export function openClient(id: PeerId, peer: Peer, place: Place): Promise<Memory> {
  return peer.group === "store" ? openInProcess(place, id) : peer.open(place);
}

/** Starts a peer's server, where it has one, and one client. */
export async function startPeer(id: PeerId, peer: Peer, place: Place): Promise<Memory> {
  await peer.start?.(place);
  return openClient(id, peer, place);
}
