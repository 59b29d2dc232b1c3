/**
 * Open connections: how many there are, and how many one address may have. Trusted proxies have no limit of their own:
 * their connections belong to many clients.
 */

import type { Server } from "node:http";
import type { Socket } from "node:net";
import type { Metrics } from "../../base/metrics.ts";
import { limitGroupOf } from "../request/client.ts";
import type { BareAnswers } from "./bare-answers.ts";

export interface ConnectionsOptions {
  readonly perAddressMax: number;
  readonly isProxy: (address: string) => boolean;
  readonly metrics: Metrics;
  readonly answers: BareAnswers;
}

export function limitConnections(server: Server, options: ConnectionsOptions): void {
  const { perAddressMax, isProxy, metrics, answers } = options;
  const byGroup = new Map<string, number>();
  let connections = 0;
  metrics.define({ name: "sideband_connections", help: "Open connections.", type: "gauge" });
  metrics.onCollect(() => metrics.set("sideband_connections", connections));
  server.on("connection", (socket: Socket) => {
    const address = socket.remoteAddress ?? "";
    const group = limitGroupOf({ address });
    const open = byGroup.get(group) ?? 0;
    if (open >= perAddressMax && !isProxy(address)) return answers.tooManyConnections(socket);
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
