/**
 * Several processes on one port. The primary answers no requests: it starts the workers, replaces one that
 * dies, keeps the rate limits (so that they hold for all workers together) and adds up the figures.
 */

import cluster, { type Worker } from "node:cluster";
import { type MetricDefinition, type MetricSnapshot, renderMetrics } from "../base/metrics.ts";
import type { Config } from "../config.ts";
import type { Core } from "./core.ts";
import { type Companions, type LimiterName, limiters } from "./service.ts";

type ToPrimary =
  | { kind: "limit"; id: number; name: LimiterName; caller: string }
  | { kind: "gather"; id: number }
  | { kind: "figures"; round: number; snapshot: MetricSnapshot; definitions: MetricDefinition[] };

type ToWorker =
  | { kind: "waited"; id: number; waitS: number }
  | { kind: "gathered"; id: number; text: string }
  | { kind: "report"; round: number }
  | { kind: "lead" };

type Figures = Extract<ToPrimary, { kind: "figures" }>;

const RESTART_DELAY_MS = 500;
const GATHER_TIMEOUT_MS = 2_000;
/** So many early deaths in a row mean that workers cannot start at all. */
const EARLY_DEATHS_MAX = 5;

export async function runPrimary(
  config: Config,
  announce: (url: string) => void,
  ended: Promise<void>,
): Promise<void> {
  const kept = limiters(config);
  const gather = gatherer();
  let announced = false;
  let stopping = false;
  let earlyDeaths = 0;

  const start = (leads: boolean) => {
    const worker = cluster.fork();
    if (leads) worker.once("online", () => send(worker, { kind: "lead" }));
    worker.on("message", (message: ToPrimary) => {
      if (message.kind === "limit") {
        const waitS = kept[message.name].take(message.caller);
        send(worker, { kind: "waited", id: message.id, waitS });
      } else if (message.kind === "gather") {
        void gather.ask().then((text) => send(worker, { kind: "gathered", id: message.id, text }));
      } else gather.take(message);
    });
    worker.on("listening", ({ address, port }) => {
      earlyDeaths = 0;
      if (announced) return;
      announced = true;
      const host = address === null || address === "0.0.0.0" || address === "::" ? "localhost" : address;
      announce(`http://${host.includes(":") ? `[${host}]` : host}:${port}`);
    });
    worker.on("exit", () => {
      if (stopping) return;
      earlyDeaths += 1;
      if (earlyDeaths < EARLY_DEATHS_MAX) setTimeout(() => stopping || start(leads), RESTART_DELAY_MS);
      else if (Object.keys(cluster.workers ?? {}).length === 0) failed(new Error("the workers do not start"));
    });
  };
  let failed: (error: Error) => void = () => {};
  const failure = new Promise<never>((_, reject) => {
    failed = reject;
  });
  for (let i = 0; i < config.workers; i++) start(i === 0);
  await Promise.race([ended, failure]);
  stopping = true;
  const workers = Object.values(cluster.workers ?? {}).filter((worker) => worker !== undefined);
  const exits = workers.map((worker) => new Promise((resolve) => worker.once("exit", resolve)));
  for (const worker of workers) worker.process.kill("SIGTERM");
  await Promise.all(exits);
}

/** The worker's side: limits and figures are asked of the primary. */
export function joinPrimary(): Companions {
  const waiting = new Map<number, (message: ToWorker) => void>();
  let lastId = 0;
  let core: Core | undefined;
  let leads = false;
  process.on("message", (message: ToWorker) => {
    if (message.kind === "lead") {
      leads = true;
      return;
    }
    if (message.kind === "report") {
      const { metrics } = core ?? {};
      const snapshot = metrics?.snapshot() ?? {};
      process.send?.({
        kind: "figures",
        round: message.round,
        snapshot,
        definitions: metrics?.definitions ?? [],
      });
      return;
    }
    waiting.get(message.id)?.(message);
    waiting.delete(message.id);
  });
  const ask = (message: Omit<Extract<ToPrimary, { id: number }>, "id"> & Record<string, unknown>) =>
    new Promise<ToWorker>((resolve) => {
      lastId += 1;
      waiting.set(lastId, resolve);
      process.send?.({ ...message, id: lastId });
    });
  return {
    leads: () => leads,
    limit: (name) => async (caller) => {
      const answer = await ask({ kind: "limit", name, caller });
      return answer.kind === "waited" ? answer.waitS : 0;
    },
    renderMetrics: async () => {
      const answer = await ask({ kind: "gather" });
      return answer.kind === "gathered" ? answer.text : "";
    },
    attach: (opened) => {
      core = opened;
    },
  };
}

function send(worker: Worker, message: ToWorker): void {
  if (worker.isConnected()) worker.send(message);
}

/** Asks all workers for their figures; those that do not answer in time are left out. */
function gatherer() {
  let round = 0;
  let reports: Figures[] = [];
  let wanted = 0;
  let complete = () => {};
  let asking: Promise<string> | undefined;
  const run = async () => {
    const workers = Object.values(cluster.workers ?? {}).filter((worker) => worker !== undefined);
    round += 1;
    reports = [];
    wanted = workers.length;
    await new Promise<void>((resolve) => {
      complete = resolve;
      setTimeout(resolve, GATHER_TIMEOUT_MS).unref();
      for (const worker of workers) send(worker, { kind: "report", round });
    });
    return renderMetrics(
      reports[0]?.definitions ?? [],
      reports.map(({ snapshot }) => snapshot),
    );
  };
  return {
    ask(): Promise<string> {
      asking ??= run().finally(() => {
        asking = undefined;
      });
      return asking;
    },
    take(report: Figures): void {
      if (report.round !== round) return;
      reports.push(report);
      if (reports.length === wanted) complete();
    },
  };
}
