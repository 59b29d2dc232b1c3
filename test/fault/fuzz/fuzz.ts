/**
 * Traffic without end, from a seed: HTTP, MCP and console, good and malformed, from clients that hang up, dawdle or do
 * not read. Whatever comes, the service goes on: it answers nothing with 500, stalls for nobody, keeps its facts, and
 * has the memory and the open files that it had before. It runs in a process of its own.
 */

import { setTimeout as sleep } from "node:timers/promises";
import { type Random, seededRandom } from "../../../src/base/random.ts";
import { pickByWeight } from "../load/mixture.ts";
import type { Gauges } from "../load/watched-server.ts";
import { CONSOLE_KINDS } from "./console-traffic.ts";
import { ask, type Field, FuzzFault, type Kind, newAgent, openField, Shot } from "./field.ts";
import { HealthWatch, type Stall } from "./health-watch.ts";
import { HTTP_KINDS, post } from "./http-traffic.ts";
import { MCP_KINDS } from "./mcp-traffic.ts";
import { SLOW_KINDS } from "./slow-traffic.ts";
import { SOCKET_KINDS } from "./socket-traffic.ts";

export interface FuzzOptions {
  readonly requests: number;
  readonly seed: number;
  /** The longest that a slow client takes. */
  readonly patienceMs: number;
  /** The longest that /healthz may take, without waiting for a processor. */
  readonly stallMsMax: number;
  readonly print: (line: string) => void;
}

export interface FuzzReport {
  readonly requests: number;
  /** How many requests of each kind, and what came of them. */
  readonly kinds: ReadonlyMap<string, KindCount>;
  /** After a fifth, three fifths and all of the requests, with no connection open. */
  readonly marks: readonly Gauges[];
  readonly stall: Stall;
  readonly fault: string | undefined;
}

export interface KindCount {
  requests: number;
  readonly statuses: Map<string, number>;
}

const QUICK_KINDS = [...HTTP_KINDS, ...MCP_KINDS, ...CONSOLE_KINDS, ...SOCKET_KINDS];
const QUICK_LANES = 24;
const SLOW_LANES = 16;
const MARKS = [0.2, 0.6, 1];
const CHECKS = 200;
const HEAP_WINDOW = 10;
const KNOWN = { user_id: "known", label: "PROJ.constraint", value: "“exact” — 𝕳 Ω \\ \" ' é e\u0301" };

export async function fuzz(options: FuzzOptions): Promise<FuzzReport> {
  const field = await openField(options.patienceMs);
  try {
    return await new Fuzz(field, options).run();
  } finally {
    field.agent.destroy();
    await field.server.end();
  }
}

class Fuzz {
  readonly #field: Field;
  readonly #options: FuzzOptions;
  readonly #kinds = new Map<string, KindCount>();
  readonly #marks: Gauges[] = [];
  readonly #startMs = performance.now();
  /** Each kind comes once before any is chosen by its weight: a short run has the rare ones too. */
  readonly #untried = new Set([...QUICK_KINDS, ...SLOW_KINDS]);
  #recent: Gauges[] = [];
  #sent = 0;
  #shots = 0;
  #checkAt = 0;
  #fault: string | undefined;

  constructor(field: Field, options: FuzzOptions) {
    this.#field = field;
    this.#options = options;
  }

  async run(): Promise<FuzzReport> {
    const known = new Shot("the known fact", 0);
    await ask(this.#field, known, post("/encode", this.#field.key, KNOWN), [200]);
    const watch = new HealthWatch(this.#field.server);
    for (const share of MARKS) {
      await this.#fire(Math.ceil(share * this.#options.requests), watch);
      if (this.#fault === undefined) await this.#try(new Shot("the rest", this.#shots), () => this.#mark());
    }
    await watch.end();
    return {
      requests: this.#sent,
      kinds: this.#kinds,
      marks: this.#marks,
      stall: watch.latest,
      fault: this.#fault,
    };
  }

  /** Sends until so many requests are sent; slow clients are always some, and end soon after. */
  async #fire(until: number, watch: HealthWatch): Promise<void> {
    const goesOn = () => this.#sent < until && this.#fault === undefined;
    const lane = async (kinds: readonly Kind[]) => {
      while (goesOn()) {
        this.#shots += 1;
        const number = this.#shots;
        const random = seededRandom(this.#options.seed + number);
        const kind = kinds.find((one) => this.#untried.has(one)) ?? pickByWeight(kinds, random);
        this.#untried.delete(kind);
        await this.#shoot(kind, number, random);
        if (this.#sent >= this.#checkAt) await this.#check(watch);
      }
    };
    await Promise.all([
      ...Array.from({ length: QUICK_LANES }, () => lane(QUICK_KINDS)),
      ...Array.from({ length: SLOW_LANES }, () => lane(SLOW_KINDS)),
    ]);
  }

  async #shoot(kind: Kind, number: number, random: Random): Promise<void> {
    const shot = new Shot(kind.name, number);
    await this.#try(shot, () => kind.run(this.#field, random, shot));
    this.#sent += shot.requests;
    const count = this.#kinds.get(kind.name) ?? { requests: 0, statuses: new Map<string, number>() };
    this.#kinds.set(kind.name, count);
    count.requests += shot.requests;
    for (const status of shot.statuses) count.statuses.set(status, (count.statuses.get(status) ?? 0) + 1);
  }

  async #try(shot: Shot, run: () => Promise<void>): Promise<void> {
    try {
      await run();
    } catch (error) {
      const { message } = error as Error;
      const sent = JSON.stringify(shot.sent)?.slice(0, 2000);
      this.#fault ??= `seed ${this.#options.seed}, request ${shot.number} (${shot.kind}): ${message}; sent ${sent}`;
    }
  }

  /** Beside the traffic: the known fact, the health, what was logged; and a line of progress. */
  async #check(watch: HealthWatch): Promise<void> {
    const { requests, stallMsMax, print } = this.#options;
    this.#checkAt = this.#sent + requests / CHECKS;
    const shot = new Shot("the check", this.#shots);
    await this.#try(shot, async () => {
      const { user_id, label, value } = KNOWN;
      const path = `/decode?user_id=${user_id}&label=${label}`;
      const request = { method: "GET", path, headers: { authorization: `Bearer ${this.#field.key}` } };
      const reply = await ask(this.#field, shot, { ...request, agent: false }, [200]);
      if (JSON.parse(reply!.text).value !== value) throw new FuzzFault(`the known fact is ${reply!.text}`);
      const { longestOwnMs, fault } = watch.latest;
      if (fault !== undefined) throw new FuzzFault(fault);
      if (longestOwnMs > stallMsMax) throw new FuzzFault(`/healthz took ${Math.round(longestOwnMs)} ms`);
      this.#checkLog();
      this.#recent = [...this.#recent.slice(1 - HEAP_WINDOW), await this.#field.server.gauges()];
      print(this.#progressLine(watch.latest));
    });
  }

  #checkLog(): void {
    const [complaint] = this.#field.server.complaints();
    if (complaint !== undefined) throw new FuzzFault(`the service logged ${complaint.slice(0, 1000)}`);
  }

  #progressLine({ longestMs, longestOwnMs }: Stall): string {
    const { residentBytes, heapBytes, descriptors } = this.#recent.at(-1)!;
    const aSecond = this.#sent / ((performance.now() - this.#startMs) / 1000);
    return (
      `${this.#sent} requests, ${Math.round(aSecond)} a second; resident ${residentBytes >> 20} MiB, ` +
      `heap ${heapBytes >> 20} MiB, ${descriptors} descriptors; longest /healthz ${Math.round(longestMs)} ms, ${Math.round(longestOwnMs)} ms without waiting for a processor`
    );
  }

  /** With nobody there. The heap between two collections of garbage says little: the least of the last ones counts. */
  async #mark(): Promise<void> {
    this.#field.agent.destroy();
    this.#field.agent = newAgent();
    await sleep(100);
    const gauges = await this.#field.server.quietGauges();
    const heapBytes = Math.min(gauges.heapBytes, ...this.#recent.map((recent) => recent.heapBytes));
    this.#marks.push({ ...gauges, heapBytes });
    this.#checkLog();
  }
}
