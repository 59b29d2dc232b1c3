/**
 * How calls grow with the facts of one person: 100 facts, and nearly 10,000 in 16 places, all under labels that the
 * person has made, on both stores. The two persons take turns, one request at a time. Every answer is checked.
 */

import { ALL_GROUPS } from "../src/base/groups.ts";
import { unknownTo } from "../src/memory/free-labels.ts";
import { AccountLabels } from "../src/memory/labels.ts";
import type { Store } from "../src/memory/ports.ts";
import type { MemoryServices } from "../src/memory/services.ts";
import type { RunningServer } from "./http/running-server.ts";
import { LifeServices } from "./life/services.ts";
import type { BenchOptions } from "./options.ts";

interface Person {
  readonly userId: string;
  /** In the person's own place, and in each of the projects. */
  readonly placeFacts: number;
  readonly projects: number;
}

interface Request {
  readonly method: "GET" | "POST";
  readonly path: string;
  readonly body?: object;
  readonly status: number;
}

const BATCH = 40;
const ROUNDS = 200;
const ROUNDS_SMALL = 3;
const WARM_ROUNDS = 20;
/** A hint costs no more than this. */
const HINT_MS_MAX = 1;
const GROUPS = ["FAMILY", "PEOPLE", "HOME", "HEALTH", "TRAVEL", "MONEY", "NOTE", "RECIPE", "BOOK", "GARDEN"];

const labelAt = (number: number) => `${GROUPS[number % GROUPS.length]}.thing_${wordOf(number)}`;
/** Letters alone: numbers are never taken for slips. */
const wordOf = (number: number) =>
  [...String(number).padStart(4, "0")].map((digit) => "abeiklmorst".at(Number(digit))).join("");

const CALLS: Readonly<Record<string, (person: Person, round: number) => Request>> = {
  encode: ({ userId, placeFacts }, round) => ({
    method: "POST",
    path: "/encode",
    body: { user_id: userId, label: labelAt(round % placeFacts), value: `another value ${round}` },
    status: 200,
  }),
  "encode, a new label": ({ userId }, round) => ({
    method: "POST",
    path: "/encode",
    body: { user_id: userId, label: `NEW.${wordOf(round)}_${userId}`, value: "x", new_label: "certain" },
    status: 200,
  }),
  decode: ({ userId, placeFacts }, round) =>
    read(`/decode?user_id=${userId}&label=${labelAt(round % placeFacts)}`),
  "decode, no fact": ({ userId }) => read(`/decode?user_id=${userId}&label=USER.name`, 404),
  "decode, with a hint": ({ userId, placeFacts }, round) =>
    read(`/decode?user_id=${userId}&label=${labelAt(round % placeFacts).replace("thing", "thinng")}`, 400),
  "context, index alone": ({ userId }) => read(`/context?user_id=${userId}&include=index`),
  facts: ({ userId }) => read(`/facts?user_id=${userId}`),
  channels: () => read("/channels"),
};

export async function benchGrowth({ small, json }: BenchOptions): Promise<boolean> {
  const services = new LifeServices(true);
  const few: Person = { userId: "few", placeFacts: 100, projects: 0 };
  // A place has 1,000 facts at most; those that are written in the rounds have room.
  const many: Person = { userId: "many", placeFacts: 600, projects: small ? 0 : 15 };
  const rows: Record<string, unknown>[] = [];
  try {
    for (const store of ["LMDB", "PostgreSQL"] as const) {
      const { server } = await services.open(store, {});
      for (const person of [few, many]) await fill(server, person);
      const times: Record<string, Record<"few" | "many", number>> = {};
      for (const [what, call] of Object.entries(CALLS)) {
        times[what] = await inTurns(server, { few, many }, call, small ? ROUNDS_SMALL : ROUNDS);
        const { few: fewMs, many: manyMs } = times[what];
        rows.push({ store, what, few_ms: fewMs, many_ms: manyMs, ratio: rounded(manyMs / fewMs) });
      }
      const hint = (who: "few" | "many") =>
        rounded(times["decode, with a hint"][who] - times["decode, no fact"][who]);
      rows.push({ store, what: "hint alone", few_ms: hint("few"), many_ms: hint("many") });
    }
  } finally {
    await services.close();
  }
  const [fewMs, manyMs] = [await hintCpuMs(100), await hintCpuMs(10_000)];
  rows.push({ store: "none", what: "hint, processor time", few_ms: fewMs, many_ms: manyMs });
  const facts = (many.projects + 1) * many.placeFacts;
  if (json) console.log(JSON.stringify({ growth: { facts, rows } }));
  else {
    console.log(
      `growth: ms that a tenth of the requests stays below, a person with 100 facts and one with ${facts}, of which 600 are shown`,
    );
    console.table(rows);
  }
  return small || rows.every(({ what, many_ms }) => what !== "hint alone" || Number(many_ms) <= HINT_MS_MAX);
}

const read = (path: string, status = 200): Request => ({ method: "GET", path, status });
/** The time that a tenth of the requests stays below: other work on the machine distorts it least. */
const quick = (times: readonly number[]) => times.toSorted((a, b) => a - b)[Math.floor(times.length / 10)];
const rounded = (number: number) => Number(number.toFixed(2));

/** Of the function that finds the near label among so many, with a list for a store. */
async function hintCpuMs(count: number): Promise<number> {
  const all = Array.from({ length: count }, (_, i) => labelAt(i)).sort();
  const known = new Map<string, string[]>();
  const store = {
    async readFreeLabels(_account: string, _user: string, { prefix = "", limit = 0 }) {
      // The first rounds find them: what a store reads is not a part of it.
      const found = known.get(prefix) ?? all.filter((label) => label.startsWith(prefix));
      known.set(prefix, found);
      return found.slice(0, limit).map((label) => ({ label }));
    },
  } as unknown as Store;
  const ofAccount = new AccountLabels([]);
  const labels = { of: async () => ofAccount } as unknown as MemoryServices["labels"];
  const ask = async (round: number) => {
    const asked = labelAt(round % count).replace("thing", "thinng");
    const { extra } = await unknownTo(
      { labels, store, groups: ALL_GROUPS },
      { account: "a", userId: "u", places: [""] },
      asked,
    );
    if (extra.hint !== undefined && typeof extra.hint !== "string") throw new Error("a hint is a label");
  };
  for (let round = 0; round < ROUNDS; round++) await ask(round);
  const { user } = process.cpuUsage();
  for (let round = 0; round < ROUNDS; round++) await ask(round);
  return rounded((process.cpuUsage().user - user) / 1000 / ROUNDS);
}

async function inTurns(
  server: RunningServer,
  persons: { readonly few: Person; readonly many: Person },
  call: (person: Person, round: number) => Request,
  rounds: number,
) {
  const times: { few: number[]; many: number[] } = { few: [], many: [] };
  for (let round = 0; round < WARM_ROUNDS + rounds; round++)
    for (const who of ["few", "many"] as const) {
      const request = call(persons[who], round);
      const startMs = performance.now();
      await send(server, request);
      if (round >= WARM_ROUNDS) times[who].push(performance.now() - startMs);
    }
  return { few: rounded(quick(times.few)), many: rounded(quick(times.many)) };
}

async function fill(server: RunningServer, { userId, placeFacts, projects }: Person): Promise<void> {
  for (let place = 0; place <= projects; place++) {
    const where = place === 0 ? {} : { project: `project-${place}` };
    const scope = place === 0 ? "person" : "project";
    for (let from = 0; from < placeFacts; from += BATCH) {
      const facts = Array.from({ length: Math.min(BATCH, placeFacts - from) }, (_, i) => ({
        label: labelAt(place * placeFacts + from + i),
        value: `a value of about forty bytes, number ${from + i}`,
        scope,
      }));
      const body = { user_id: userId, facts, new_label: "certain", ...where };
      await send(server, { method: "POST", path: "/encode/batch", body, status: 200 });
    }
  }
  const { channel_count: count } = await send(server, read(`/facts?user_id=${userId}`));
  if (count !== placeFacts) throw new Error(`${userId} has ${count} facts instead of ${placeFacts}`);
}

async function send({ port, key }: RunningServer, { method, path, body, status }: Request) {
  const answer = await fetch(`http://127.0.0.1:${port}${path}`, {
    method,
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const json = (await answer.json()) as { channel_count: number };
  if (answer.status !== status) throw new Error(`${path} is ${answer.status}: ${JSON.stringify(json)}`);
  return json;
}
