/**
 * What a fact's life costs: encodes that replace a value with 8 earlier values kept and with none, on both stores; an
 * index without a block beside /facts; the disk for facts with a history and without; and, with --before FOLDER, decode
 * and a cached context beside those of another commit, built in that folder.
 *
 * Two services take turns. The bars are on processor time, that of the database included: other work on the machine
 * distorts it less than the clock, and least of all in the turns that took the least of it.
 */

import { type ChildProcess, fork } from "node:child_process";
import { fileURLToPath } from "node:url";
import { HISTORY_DEFAULT } from "../src/base/limits.ts";
import type { LoadJob, LoadResult } from "./http/load.ts";
import { ask, cpuSeconds, untilQuiet } from "./http/running-server.ts";
import { type LifeService, LifeServices } from "./life/services.ts";
import { measureSizes, type Sizes } from "./life/sizes.ts";
import { median } from "./median.ts";
import type { BenchOptions } from "./options.ts";

interface LifeRatio {
  readonly what: string;
  /** Processor time that the reference needs for a request, to our own: of each the quarter of the turns with the least. */
  readonly cpuRatio: number;
  /** Requests a second, to those of the reference. */
  readonly rateRatio: number;
  readonly perSecond: number;
  readonly bar: number;
}

/** A service, and what it is asked in each turn. */
interface Side {
  readonly service: LifeService;
  readonly request: (turn: number) => string;
  /** Each request names another user. */
  readonly modulus?: number;
}

const CONNECTIONS = 64;
const ANSWERS_MIN = 10 * CONNECTIONS;
const TURN_MS = 400;
const TURN_SMALL_MS = 150;
const TURNS = 21;
const WARM_TURNS = 2;
const HISTORY_BAR = 0.9;
const BEFORE_BAR = 0.97;
const INDEX_BAR = 0.8;

export async function benchLife(options: BenchOptions): Promise<boolean> {
  // It inherits the loader for TypeScript from this process (execArgv).
  const load = fork(fileURLToPath(new URL("./http/load.ts", import.meta.url)));
  const services = new LifeServices(options.small);
  const interrupted = () => process.exit(130);
  process.once("SIGINT", interrupted).once("SIGTERM", interrupted);
  try {
    const ratios: LifeRatio[] = [];
    const compare = async (what: string, bar: number, own: Side, reference: Side) => {
      const ratio = { what, bar, ...(await turns(load, own, reference, options.small)) };
      ratios.push(ratio);
      if (!options.json) console.log(ratioLine(ratio));
    };
    if (!options.json)
      console.log("life: 64 connections, in turns; ratios by processor time, and by the clock");
    for (const store of ["LMDB", "PostgreSQL"] as const) {
      const kept = await services.open(store, { historyMax: HISTORY_DEFAULT });
      const none = await services.open(store, { historyMax: 0 });
      const [own, reference] = [kept, none].map((service) => encodes(service, services.users));
      await compare(`encode on ${store}, 8 values kept, to none`, HISTORY_BAR, own, reference);
      await services.check(kept, HISTORY_DEFAULT);
      await services.check(none, 0);
      await services.stop(kept, none);
    }
    const service = await services.open("LMDB", { historyMax: HISTORY_DEFAULT });
    const [index, facts] = ["/context?user_id=ada&include=index", "/facts?user_id=ada"];
    await compare(
      "context, include=index, to /facts",
      INDEX_BAR,
      reads(service, index),
      reads(service, facts),
    );
    await services.stop(service);
    if (options.before !== undefined) {
      // Both are new and have the same facts: what was asked before makes a service slower.
      const before = await services.open("LMDB", { before: options.before });
      const now = await services.open("LMDB", {});
      for (const path of ["/decode?user_id=ada&label=USER.name", "/context?user_id=ada"]) {
        const what = `${path.slice(1, path.indexOf("?"))}, to the commit before`;
        await compare(what, BEFORE_BAR, reads(now, path), reads(before, path));
      }
      await services.stop(before, now);
    }
    const sizes = await measureSizes(services, options.small ? 500 : 100_000);
    if (options.json) console.log(JSON.stringify({ life: { ratios, sizes } }));
    else for (const size of sizes) console.log(sizeLine(size));
    return options.small || ratios.every(({ cpuRatio, bar }) => cpuRatio >= bar);
  } finally {
    load.kill();
    await services.close();
    process.off("SIGINT", interrupted).off("SIGTERM", interrupted);
  }
}

async function turns(load: ChildProcess, own: Side, reference: Side, small: boolean) {
  let from = 0;
  const shoot = async ({ service, request, modulus }: Side, turn: number) => {
    await untilQuiet(service.server.process, small);
    const { port, process } = service.server;
    const cpuBeforeS = cpuSeconds(process) + service.databaseCpuS();
    const job: LoadJob = {
      port,
      connections: CONNECTIONS,
      durationMs: small ? TURN_SMALL_MS : TURN_MS,
      request: request(turn),
      from,
      answersMin: small ? 0 : ANSWERS_MIN,
      ...(modulus === undefined ? {} : { modulus }),
    };
    const { answers, seconds, others, next } = await ask<LoadResult>(load, job);
    if (others > 0) throw new Error(`${others} answers were not 200`);
    from = next;
    return {
      answers,
      rate: answers / seconds,
      cpuS: cpuSeconds(process) + service.databaseCpuS() - cpuBeforeS,
    };
  };
  const shots: { own: Awaited<ReturnType<typeof shoot>>; reference: Awaited<ReturnType<typeof shoot>> }[] =
    [];
  const warm = small ? 1 : WARM_TURNS;
  for (let turn = 0; turn < warm + (small ? 1 : TURNS); turn++) {
    const first = await shoot(turn % 2 === 0 ? own : reference, turn);
    const second = await shoot(turn % 2 === 0 ? reference : own, turn);
    if (turn < warm) continue;
    shots.push(turn % 2 === 0 ? { own: first, reference: second } : { own: second, reference: first });
  }
  const costOf = (side: "own" | "reference") =>
    leastQuarter(shots.map((shot): number => costOfAnswer(shot[side])));
  return {
    cpuRatio: costOf("reference") / costOf("own"),
    rateRatio: median(shots.map((shot) => shot.own.rate / shot.reference.rate)),
    perSecond: Math.round(median(shots.map((shot) => shot.own.rate))),
  };
}

const costOfAnswer = ({ answers, cpuS }: { answers: number; cpuS: number }) => cpuS / answers;

/** Other work on the machine makes a turn dearer, never cheaper. */
function leastQuarter(costs: readonly number[]): number {
  const least = [...costs].sort((a, b) => a - b).slice(0, Math.ceil(costs.length / 4));
  return least.reduce((sum, cost) => sum + cost, 0) / least.length;
}

function headOf(line: string, key: string): string {
  return `${line} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${key}\r\n`;
}

function reads(service: LifeService, path: string): Side {
  return { service, request: () => `${headOf(`GET ${path}`, service.server.key)}\r\n` };
}

/** Each turn writes another value, so that every encode replaces one. */
function encodes(service: LifeService, modulus: number): Side {
  const head = headOf("POST /encode", service.server.key);
  const request = (turn: number) => {
    const body = `{"user_id":"user-#","label":"USER.name","value":"a value of 40 bytes in turn ${String(turn).padStart(12, "0")}"}`;
    const length = body.replace("#", "123456789").length;
    return `${head}Content-Type: application/json\r\nContent-Length: ${length}\r\n\r\n${body}`;
  };
  return { service, request, modulus };
}

function ratioLine({ what, cpuRatio, rateRatio, perSecond, bar }: LifeRatio): string {
  const verdict = cpuRatio >= bar ? "holds" : "MISSED";
  return `  ${what.padEnd(44)} ${cpuRatio.toFixed(2)} (bar ${bar}: ${verdict}), by the clock ${rateRatio.toFixed(2)}, ${perSecond}/s`;
}

function sizeLine({ store, facts, once, replaced, withoutHistory }: Sizes): string {
  const per = (bytes: number) =>
    `${(bytes / 2 ** 20).toFixed(1)} MiB (${Math.round(bytes / facts)} bytes a fact)`;
  return `  ${store}: ${facts} facts take ${per(once)}; each replaced 8 times ${per(replaced)} with their history, ${per(withoutHistory)} without`;
}
