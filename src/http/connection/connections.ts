/**
 * The open connections of a server: how many there are, how many one address may have, and their orderly end. Trusted
 * proxies have no limit of their own: their connections belong to many clients.
 */

import type { Server } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import type { Metrics } from "../../base/metrics.ts";
import { limitGroupOf } from "../request/client.ts";
import { isAnswered, unusedMs } from "../request/pipelining.ts";
import type { BareAnswers } from "./bare-answers.ts";

/** Also how long a request that is on its way may take to arrive. */
const SWEEP_INTERVAL_MS = 50;

interface ConnectionsOptions {
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

export function listenOn(server: Server, host: string, port: number): Promise<AddressInfo> {
  return new Promise((resolve, reject) => {
    server.once("error", reject).listen({ host, port }, () => resolve(server.address() as AddressInfo));
  });
}

/**
 * The server takes no new connections, and answers that are being made are sent. Other connections (silent, kept alive,
 * or with half a head) are closed, but not while their client may be about to send: that would be an error for it, where
 * the answer to a request would tell it that the connection ends.
 * @returns ends the server, listening or not; after `timeoutMs` it cuts the connections that are left. A connection
 *   without a request is closed when it has not been used for `keptMs`, by default at once
 */
export function gracefulShutdown(server: Server): (timeoutMs: number, keptMs?: number) => Promise<void> {
  const connections = new Set<Socket>();
  server.on("connection", (socket: Socket) => {
    connections.add(socket);
    socket.once("close", () => connections.delete(socket));
  });
  return async (timeoutMs, keptMs = 0) => {
    // Node would close at once what is kept alive.
    if (keptMs > 0) server.closeIdleConnections = () => {};
    const closed = new Promise((resolve) => server.close(resolve));
    const closeAnswered = () => {
      for (const socket of connections)
        if (isAnswered(socket) && unusedMs(socket) >= keptMs) socket.destroy();
    };
    // After the sockets have been read: a request that has arrived is answered, however busy the process is.
    const sweep = setInterval(() => setImmediate(closeAnswered), SWEEP_INTERVAL_MS);
    const cut = setTimeout(() => {
      for (const socket of connections) socket.destroy();
    }, timeoutMs);
    await closed;
    clearInterval(sweep);
    clearTimeout(cut);
  };
}
