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
  "notes-whole",
  "json-file",
] as const;

export type PeerId = (typeof PEER_IDS)[number];

/** The machine of the comparison does not reach the index of Python. */
function noPython(name: string): string {
  return `pip install ${name} found no version (no index of Python packages within reach)`;
}

/** The comparison takes what npm or Debian has and what runs without a model. What stopped each of the others. */
export const NOT_RUN: Readonly<Record<string, string>> = {
  supermemory: "a hosted service: supermemory 4.25.4 of npm is its client, and asks for an API key",
  Letta: `a server in Python that works with a model: @letta-ai/letta-client 1.12.1 of npm is its client; ${noPython("letta")}`,
  "basic-memory": `a package of Python: ${noPython("basic-memory")}`,
  Graphiti: `a package of Python that works with a model and a graph database: ${noPython("graphiti-core")}`,
  cognee: `a package of Python that works with a model: ${noPython("cognee")}`,
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
  await peer.prepare?.(place);
  await peer.start?.(place);
  return openClient(id, peer, place);
}
