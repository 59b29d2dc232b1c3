/**
 * The attacker of the benchmark, in a process of its own: connections that send all they have at once, and count what
 * comes back. Speaks through IPC: an attack in, the statuses out.
 */

import { connect } from "node:net";

export interface Attack {
  readonly port: number;
  readonly connections: number;
  /** The local addresses that the connections come from: 127.0.0.2 and on; of one it is 127.0.0.1. */
  readonly addresses: number;
  /** A request as it goes over the wire, and how often each connection sends it. */
  readonly request: string;
  readonly times: number;
  /** When the connections hang up. */
  readonly holdMs: number;
  /** False: nothing of the answers is taken. */
  readonly reads?: boolean;
  /** Then each connection sends one byte more, again and again. */
  readonly dripMs?: number;
}

export interface AttackResult {
  readonly statuses: Readonly<Record<string, number>>;
}

process.on("disconnect", () => process.exit());
process.on("message", async (attack: Attack) => {
  process.send?.(await run(attack));
});

async function run(attack: Attack): Promise<AttackResult> {
  const { port, connections, addresses, request, times, holdMs, reads = true, dripMs } = attack;
  const statuses: Record<string, number> = {};
  const bytes = Buffer.alloc(request.length * times, request, "latin1");
  await Promise.all(
    Array.from({ length: connections }, (_, i) => {
      return new Promise<void>((resolve) => {
        const localAddress = addresses === 1 ? "127.0.0.1" : `127.0.0.${2 + (i % addresses)}`;
        const socket = connect({ port, host: "127.0.0.1", localAddress }).setEncoding("latin1");
        socket.on("data", (chunk: string) => {
          for (const [, status] of chunk.matchAll(/HTTP\/1\.1 (\d{3})/g))
            statuses[status] = (statuses[status] ?? 0) + 1;
        });
        // It may be refused: that is the other's right.
        socket.on("error", () => {});
        const drip = dripMs === undefined ? undefined : setInterval(() => socket.write(" "), dripMs);
        socket.on("close", () => {
          clearInterval(drip);
          resolve();
        });
        if (!reads) socket.pause();
        socket.write(bytes);
        setTimeout(() => socket.destroy(), holdMs);
      });
    }),
  );
  return { statuses };
}
