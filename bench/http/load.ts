/**
 * The load of the HTTP benchmark, in a process of its own: keep-alive connections that each send one request,
 * wait for the whole answer and send the next. Speaks through IPC: a job in, figures out. It parses only the status
 * and the length of an answer, so that it is never the bottleneck.
 */

import { connect } from "node:net";

export interface LoadJob {
  readonly port: number;
  readonly connections: number;
  readonly durationMs: number;
  /** It takes longer until there are so many answers: on a busy machine the opening of connections would count most. */
  readonly answersMin?: number;
  /** A whole request as it goes over the wire; `#` is replaced by a number of nine digits. */
  readonly request: string;
  /** The first number, without a modulus; each comes once. */
  readonly from: number;
  /** Numbers are scattered over [0, modulus) instead. */
  readonly modulus?: number;
  /** Each number is multiplied by it. */
  readonly step?: number;
  /**
   * Requests a second of all connections together, evenly spaced. Without it a connection sends as soon as its last
   * request is answered.
   */
  readonly ratePerSecond?: number;
}

export interface LoadResult {
  readonly answers: number;
  readonly seconds: number;
  /** Answers whose status was not 200. */
  readonly others: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly next: number;
}

/** A prime near 2^22 divided by the golden ratio: neighbours end up far apart, and products stay exact. */
const SCATTER = 2_592_277;

process.on("disconnect", () => process.exit());
process.on("message", async (job: LoadJob) => {
  process.send?.(await run(job));
});

async function run(job: LoadJob): Promise<LoadResult> {
  const numbered = job.request.includes("#");
  const latencies: number[] = [];
  let others = 0;
  let number = job.from;
  const started = performance.now();
  const until = started + job.durationMs;
  await Promise.all(
    Array.from({ length: job.connections }, (_, index) => {
      return new Promise<void>((resolve, reject) => {
        const socket = connect(job.port, "127.0.0.1");
        socket.setNoDelay(true);
        let sentAt = 0;
        let pending = "";
        const send = () => {
          sentAt = performance.now();
          number += 1;
          const scattered = job.modulus === undefined ? number : (number * SCATTER) % job.modulus;
          const shown = scattered * (job.step ?? 1);
          socket.write(
            numbered ? job.request.replaceAll("#", String(shown).padStart(9, "0")) : job.request,
            "latin1",
          );
        };
        const firstAfterMs = job.ratePerSecond === undefined ? 0 : (1000 * index) / job.ratePerSecond;
        socket.on("connect", () => (firstAfterMs === 0 ? send() : setTimeout(send, firstAfterMs)));
        socket.on("error", reject);
        socket.on("close", () => resolve());
        socket.on("data", (chunk) => {
          pending = pending === "" ? chunk.toString("latin1") : pending + chunk.toString("latin1");
          const head = pending.indexOf("\r\n\r\n");
          if (head < 0) return;
          const length = /content-length: (\d+)/i.exec(pending);
          // A stream, such as that of /mcp, ends with an empty chunk.
          if (
            length === null
              ? !pending.endsWith("\r\n0\r\n\r\n")
              : pending.length < head + 4 + Number(length[1])
          )
            return;
          if (!pending.startsWith("HTTP/1.1 200")) others += 1;
          pending = "";
          const now = performance.now();
          latencies.push(now - sentAt);
          if (now >= until && latencies.length >= (job.answersMin ?? 0)) socket.end();
          else if (job.ratePerSecond === undefined) send();
          else setTimeout(send, sentAt + (1000 * job.connections) / job.ratePerSecond - now);
        });
      });
    }),
  );
  const seconds = (performance.now() - started) / 1000;
  latencies.sort((a, b) => a - b);
  const at = (share: number) =>
    latencies[Math.min(latencies.length - 1, Math.floor(latencies.length * share))] ?? 0;
  return { answers: latencies.length, seconds, others, p50Ms: at(0.5), p99Ms: at(0.99), next: number };
}
