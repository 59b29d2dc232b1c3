/**
 * The orderly end of a server: it takes no new connections, and answers that are being made are sent. A connection
 * without one (silent, kept alive, or with half a head) is closed at once.
 */

import type { Server } from "node:http";
import type { Socket } from "node:net";
import { isAnswered } from "../request/turns.ts";

/** Also how long a request that is on its way may take to arrive. */
const SWEEP_INTERVAL_MS = 50;

/** @returns ends the server, listening or not; after `timeoutMs` it cuts the connections that are left */
export function orderlyEnd(server: Server): (timeoutMs: number) => Promise<void> {
  const connections = new Set<Socket>();
  server.on("connection", (socket: Socket) => {
    connections.add(socket);
    socket.once("close", () => connections.delete(socket));
  });
  return async (timeoutMs) => {
    const closed = new Promise((resolve) => server.close(resolve));
    const closeAnswered = () => {
      for (const socket of connections) if (isAnswered(socket)) socket.destroy();
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
