/** The clients of all languages pass the same table of cases. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, suite, test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { closedPort } from "../unit/sdk/scripted-server.ts";
import {
  CASE_FILES,
  type CaseCall,
  type CaseStep,
  type ClientCase,
  difference,
  partDifference,
} from "./case.ts";
import type { ClientDriver, Opening, Outcome } from "./driver.ts";
import { noPython, PythonDriver } from "./python-driver.ts";
import { StandInServer } from "./stand-in-server.ts";
import { TypeScriptDriver } from "./typescript-driver.ts";

const { version: VERSION } = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8"));
const STILL: Omit<Opening, "client"> = {
  environment: {},
  random: 0,
  stillClock: false,
  recordsPauses: false,
};
const SEEN_MS_MAX = 30_000;
/** The calls that wait 2 s unless told otherwise, and what they are told where a step says nothing of time. */
const HELPERS = ["inject", "beforeCompaction"];
const PATIENCE_MS = 20_000;
const missing = noPython();
const python = missing === undefined ? new PythonDriver() : undefined;
const DRIVERS = { TypeScript: () => new TypeScriptDriver(), Python: () => python };
after(() => python?.end());

/** The cases of a language come one after the other, because they set what is the process's own; much of them is waiting. */
suite("client cases", { concurrency: 2 }, () => {
  // The first call of a process takes the longest, and some cases have little time.
  before(async () => {
    const first = { name: "first", answers: [{ body: {} }], steps: [{ call: "usage" }] };
    await runCase(new TypeScriptDriver(), first);
    if (python !== undefined) await runCase(python, first);
  });

  for (const [language, driverOf] of Object.entries(DRIVERS))
    suite(language, { concurrency: false }, () => testCases(language, driverOf));
});

function testCases(language: string, driverOf: () => ClientDriver | undefined): void {
  for (const [file, cases] of Object.entries(CASE_FILES))
    for (const one of cases)
      test(`${language}, ${file}: ${one.name}`, (t) => {
        const driver = driverOf();
        if (driver === undefined) t.skip(missing);
        else return runCase(driver, one);
      });
}

async function runCase(driver: ClientDriver, one: ClientCase): Promise<void> {
  if (one.refused !== undefined) return refuseClients(driver, one.refused);
  const server = new StandInServer();
  const url = (one.address === "closed" ? await closedPort() : await server.start()) + (one.addressEnd ?? "");
  server.answers = [...(one.answers ?? [])];
  const address = one.address === "environment" ? {} : { baseUrl: url };
  try {
    const opened = await driver.open({
      client: { ...address, ...one.client },
      environment: {
        ...(one.address === "environment" ? { SIDEBAND_API_URL: url } : {}),
        ...one.environment,
      },
      random: one.random ?? 0,
      stillClock: one.stillClock ?? false,
      recordsPauses: one.pausesMs !== undefined,
    });
    assert.equal(opened.error, undefined, JSON.stringify(opened.error));
    for (const [i, step] of (one.steps ?? []).entries()) await runStep(driver, server, step, `step ${i + 1}`);
  } finally {
    const { warnings, pausesMs } = await driver.close();
    if (one.address !== "closed") await server.end();
    if (one.warnings !== undefined) same(difference(warnings, one.warnings, "warnings"));
    if (one.pausesMs !== undefined) same(difference(pausesMs, one.pausesMs, "pauses"));
  }
  for (const { headers } of server.seen)
    assert.equal(headers["sideband-client"], `${driver.client}/${VERSION}`);
  if (one.requests === undefined) return;
  assert.equal(server.seen.length, one.requests.length, "requests");
  for (const [i, expected] of one.requests.entries()) {
    const { headers = {}, ...rest } = expected as { headers?: Record<string, unknown> };
    const { headers: seenHeaders, ...seen } = server.seen[i];
    same(difference(seen, { query: {}, ...rest }, `request ${i + 1}`));
    same(partDifference(seenHeaders, headers, `headers of request ${i + 1}`));
  }
}

async function refuseClients(driver: ClientDriver, { clients, error }: NonNullable<ClientCase["refused"]>) {
  for (const client of clients) {
    const opened = await driver.open({ ...STILL, client });
    await driver.close();
    const place = JSON.stringify(client);
    assert.ok(opened.error !== undefined, `${place} is not refused`);
    same(partDifference(opened.error, error, place));
  }
}

/** A busy machine may take by itself the 2 s that helpers wait. */
function patiently(call: CaseCall): CaseCall {
  if (!HELPERS.includes(call.call)) return call;
  return { ...call, options: { timeoutMs: PATIENCE_MS, ...call.options } };
}

async function runStep(driver: ClientDriver, server: StandInServer, step: CaseStep, place: string) {
  const { each, times = 1, together, call, args, options, take } = step;
  const single = { call, args, options, take } as CaseCall;
  const rounds: (readonly CaseCall[])[] =
    each?.map((one) => [one]) ?? Array.from({ length: times }, () => together ?? [single]);
  for (const [i, calls] of rounds.entries()) {
    const where = `${place}${rounds.length > 1 ? `, ${each?.[i].call ?? "time"} ${i + 1}` : ""}`;
    if (step.answers !== undefined) server.answers = [...step.answers];
    const sentBefore = server.seen.length;
    if (step.moveMs !== undefined) await driver.moveClock(step.moveMs);
    const patient = step.tookMs === undefined ? calls.map(patiently) : calls;
    for (const outcome of await driver.calls(patient)) checkOutcome(outcome, step, where);
    await untilSeen(server, sentBefore + (step.sent ?? 0));
    const seen = server.seen.slice(sentBefore);
    if (step.sent !== undefined) assert.equal(seen.length, step.sent, `${where}: requests`);
    if (step.sameHeader !== undefined) {
      const values = new Set(seen.map(({ headers }) => headers[step.sameHeader!]));
      assert.ok(values.size === 1 && !values.has(undefined), `${where}: ${[...values].join(", ")}`);
    }
  }
}

/** On a busy machine a request that its client no longer waits for may still be on its way. */
async function untilSeen({ seen }: StandInServer, count: number): Promise<void> {
  const untilMs = performance.now() + SEEN_MS_MAX;
  // Not by the global timer: a case may list what is waited for with that.
  while (seen.length < count && performance.now() < untilMs) await pause(10);
}

function checkOutcome({ result, error, tookMs }: Outcome, step: CaseStep, place: string): void {
  if (step.error === undefined) assert.equal(error, undefined, `${place}: ${JSON.stringify(error)}`);
  else {
    assert.ok(error !== undefined, `${place}: no error, but ${JSON.stringify(result)}`);
    same(partDifference(error, step.error, `${place}: error`));
  }
  if (step.result !== undefined) same(difference(result, step.result, `${place}: result`));
  if (step.tookMs !== undefined) same(difference(tookMs, { $between: step.tookMs }, `${place}: time`));
}

function same(found: string | undefined): void {
  assert.ok(found === undefined, found);
}
