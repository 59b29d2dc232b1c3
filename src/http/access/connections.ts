/**
 * Open connections: how many there are, and how many one address may have. Trusted proxies have no limit of their own:
 * their connections are many clients'.
 */

import type { Server } from "node:http";
import type { Socket } from "node:net";
import type { Metrics } from "../../base/metrics.ts";
import { limitGroupOf } from "../request/client.ts";
import { rawProblem } from "../request/problem.ts";

export interface ConnectionsOptions {
  readonly perAddressMax: number;
  readonly isProxy: (address: string) => boolean;
  readonly metrics: Metrics;
}

export function limitConnections(server: Server, options: ConnectionsOptions): void {
  const { perAddressMax, isProxy, metrics } = options;
  const byGroup = new Map<string, number>();
  let connections = 0;
  metrics.define({ name: "sideband_connections", help: "Open connections.", type: "gauge" });
  metrics.onCollect(() => metrics.set("sideband_connections", connections));
  server.on("connection", (socket: Socket) => {
    const address = socket.remoteAddress ?? "";
    const group = limitGroupOf({ address });
    const open = byGroup.get(group) ?? 0;
    if (open >= perAddressMax && !isProxy(address)) return refuse(socket);
    byGroup.set(group, open + 1);
    connections += 1;
    socket.once("close", () => {
      connections -= 1;
      const left = byGroup.get(group)! - 1;
      if (left === 0) byGroup.delete(group);
      else byGroup.set(group, left);
    });
  });
}

function refuse(socket: Socket): void {
  const problem = rawProblem("rate_limited", "There are too many connections from this address.");
  socket.on("error", () => {});
  socket.end(problem, () => socket.destroy());
}
