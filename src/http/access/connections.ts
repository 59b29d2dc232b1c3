/**
 * Open connections: how many there are, and how many one address may have. Trusted proxies have no limit of their own:
 * their connections are many clients'.
 */

import type { Server } from "node:http";
import type { Socket } from "node:net";
import type { Metrics } from "../../base/metrics.ts";
import { rawProblem } from "../request/problem.ts";

export interface ConnectionsOptions {
  readonly perAddressMax: number;
  readonly isProxy: (address: string) => boolean;
  readonly metrics: Metrics;
}

export function limitConnections(server: Server, options: ConnectionsOptions): void {
  const { perAddressMax, isProxy, metrics } = options;
  const byAddress = new Map<string, number>();
  let connections = 0;
  metrics.define({ name: "sideband_connections", help: "Open connections.", type: "gauge" });
  metrics.onCollect(() => metrics.set("sideband_connections", connections));
  server.on("connection", (socket: Socket) => {
    const address = socket.remoteAddress ?? "";
    const open = byAddress.get(address) ?? 0;
    if (open >= perAddressMax && !isProxy(address)) return refuse(socket);
    byAddress.set(address, open + 1);
    connections += 1;
    socket.once("close", () => {
      connections -= 1;
      const left = byAddress.get(address)! - 1;
      if (left === 0) byAddress.delete(address);
      else byAddress.set(address, left);
    });
  });
}

function refuse(socket: Socket): void {
  const problem = rawProblem("rate_limited", "There are too many connections from this address.");
  socket.on("error", () => {});
  socket.end(problem, () => socket.destroy());
}
