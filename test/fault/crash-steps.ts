/**
 * Kills, or stops, the owner of a data folder at one named step, under load, and checks what is left: all that was
 * acknowledged and nothing else. While it is stopped another process tries to take the folder.
 */

import assert from "node:assert/strict";
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { Metrics } from "../../src/base/metrics.ts";
import { STEPS, type Step } from "../../src/base/steps.ts";
import { OwnerClient } from "../../src/door-client/owner-client.ts";
import { LmdbStore } from "../../src/store/lmdb/lmdb-store.ts";
import { viewOf } from "../fixtures/views.ts";
import { until } from "../fixtures/waiting.ts";
import {
  type CrashServer,
  checkFacts,
  makeKey,
  serveHere,
  startChild,
  startServer,
  Writers,
} from "./crash-server.ts";

/** There is one data format: an upgrade is tried with a step made for it (test/unit/store/lmdb-upgrade). */
export const SERVED_STEPS: readonly Step[] = STEPS.filter((step) => !step.startsWith("upgrade:"));

/** Facts in the folder before each trial, so that copying takes several pages. */
const USERS = 700;

export interface Template {
  /** A data folder with facts and a key. */
  readonly folder: string;
  readonly backup: string;
  readonly key: string;
  remove(): void;
}

export async function makeTemplate(): Promise<Template> {
  const home = mkdtempSync(join(tmpdir(), "sideband-crash-"));
  const folder = join(home, "data");
  const backup = join(home, "backup");
  const server = (await startServer(folder))!;
  const key = await makeKey(folder);
  const client = OwnerClient.of(folder);
  await client.upload("/operator/import", Readable.from(importText("old", USERS)));
  await client.work("/operator/backup", { folder: backup, without_master_key: false }, () => {});
  await server.end();
  return { folder, backup, key, remove: () => rmSync(home, { recursive: true }) };
}

/** Kills or stops at `step`; throws where anything is not as it must be. */
export async function tryStep(template: Template, step: Step, stopMs?: number): Promise<void> {
  const home = mkdtempSync(join(tmpdir(), "sideband-crash-"));
  const signal = stopMs === undefined ? "SIGKILL" : "SIGSTOP";
  try {
    if (step.startsWith("start:")) await tryStart(join(home, "data"), step, signal, stopMs);
    else if (step.startsWith("restore:"))
      await tryRestore(template, join(home, "data"), step, signal, stopMs);
    else await tryUnderLoad(template, home, step, signal, stopMs);
  } catch (error) {
    throw new Error(`${signal} at "${step}": ${(error as Error).message}`, { cause: error });
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}

type Signal = "SIGKILL" | "SIGSTOP";

async function tryStart(folder: string, step: Step, signal: Signal, stopMs?: number): Promise<void> {
  if (stopMs === undefined) {
    assert.equal(await startServer(folder, { step, signal, nth: 1 }), undefined, "it was killed");
  } else {
    const starting = startServer(folder, { step, signal, nth: 1 });
    const server = await goOnAfter(folder, starting, stopMs);
    await server!.end();
  }
  const server = (await startServer(folder))!;
  const printed = server.lines.join("\n").includes("sb_live_");
  assert.equal(printed, stopMs === undefined && step !== "start: first key stored", "the first key");
  await checkWorks(server, folder);
}

/** A child that stops itself at the start says nothing: it is found by its lock. */
async function goOnAfter(
  folder: string,
  starting: Promise<CrashServer | undefined>,
  stopMs: number,
): Promise<CrashServer | undefined> {
  await until(() => existsSync(join(folder, "owner.json")));
  await pause(stopMs);
  await assert.rejects(openStore(folder), /is in use by process/);
  const { pid } = JSON.parse(readFileSync(join(folder, "owner.json"), "utf8"));
  return resumed(pid, starting);
}

async function tryRestore(
  { backup, key }: Template,
  folder: string,
  step: Step,
  signal: Signal,
  stopMs?: number,
): Promise<void> {
  const { child, ended } = await startChild([
    "restore",
    folder,
    JSON.stringify({ step, signal, nth: 1 }),
    backup,
  ]);
  if (stopMs === undefined) assert.equal(await ended, "SIGKILL");
  else {
    await until(() => existsSync(join(folder, "owner.lock")));
    await pause(stopMs);
    await assert.rejects(openStore(folder), /is in use|no sideband.json names it/);
    assert.equal(await resumed(child.pid!, ended), 0);
  }
  if (!existsSync(join(folder, "sideband.json"))) {
    // Not a data folder yet: never taken for one, and never half of one.
    if (step !== "restore: begun") await assert.rejects(openStore(folder), /no sideband.json names it/);
    return;
  }
  const store = await openStore(folder);
  await checkOldFacts(store, USERS);
  assert.ok((await store.listKeys()).length >= 1 && key !== "");
  await store.close();
}

async function tryUnderLoad(
  template: Template,
  home: string,
  step: Step,
  signal: Signal,
  stopMs?: number,
): Promise<void> {
  const folder = join(home, "data");
  const target = join(home, "backup");
  cpSync(template.folder, folder, { recursive: true });
  rmSync(join(folder, "door.sock"), { force: true });
  const server = (await startServer(folder))!;
  const writers = new Writers(server.url, template.key);
  await until(() => writers.acknowledged > 20);
  server.arm({ step, signal, nth: step.startsWith("group:") || step === "copy: page written" ? 2 : 1 });
  const work = trigger(step, folder, target).catch((error: Error) => error);
  let last: Pick<CrashServer, "url" | "end"> = server;
  if (stopMs === undefined) {
    assert.equal(await server.ended, "SIGKILL");
    await writers.stop();
    await work;
    last = await serveHere(folder);
  } else {
    await pause(stopMs);
    await assert.rejects(openStore(folder), /is in use by process/);
    const outcome = await resumed(server.child.pid!, work);
    assert.ok(!(outcome instanceof Error), String(outcome));
    await writers.stop();
  }
  await checkFacts(last.url, template.key, writers.expected);
  if (step.startsWith("import:")) await checkImported(last.url, template.key);
  await checkWorks(last, folder);
  const store = await openStore(folder);
  await checkOldFacts(store, USERS);
  await store.close();
  await checkBackup(step, target, stopMs === undefined);
}

async function trigger(step: Step, folder: string, target: string): Promise<unknown> {
  const client = OwnerClient.of(folder);
  if (step.startsWith("compaction:") || step.startsWith("copy:"))
    return client.work("/operator/compact", {}, () => {});
  if (step.startsWith("backup:"))
    return client.work("/operator/backup", { folder: target, without_master_key: false }, () => {});
  if (step.startsWith("import:"))
    return client.upload("/operator/import", Readable.from(importText("new", 600)));
  return undefined;
}

/** A backup is a whole data folder, or it is none. */
async function checkBackup(step: Step, target: string, killed: boolean): Promise<void> {
  if (!step.startsWith("backup:")) return;
  if (killed && step !== "backup: named") {
    await assert.rejects(openStore(target), /no sideband.json names it/);
    return;
  }
  const store = await openStore(target);
  await checkOldFacts(store, USERS);
  await store.close();
}

/** The service answers, writes, and no record is damaged; one store is left in the folder. */
async function checkWorks(server: Pick<CrashServer, "end">, folder: string): Promise<void> {
  const client = OwnerClient.of(folder);
  const fact = { user_id: "after", label: "USER.name", value: "works" };
  await client.json("POST", "/encode", fact, { account: "acme" });
  const { findings } = await client.work<{ findings: unknown[] }>(
    "/operator/verify",
    { account: "none" },
    () => {},
  );
  assert.deepEqual(findings, []);
  await server.end();
  const store = await openStore(folder);
  const damaged: string[] = [];
  for await (const record of store.findDamage()) damaged.push(record);
  assert.deepEqual(damaged, []);
  assert.equal(store.readFact(viewOf("after"), "USER.name")?.value, "works");
  await store.close();
}

async function checkOldFacts(store: LmdbStore, users: number): Promise<void> {
  for (let i = 0; i < users; i++) {
    assert.equal(store.readFact(viewOf(`old-${i}`), "USER.name")?.value, `value of old-${i}`);
  }
}

/** What was imported is there user by user, from the first line on. */
async function checkImported(url: string, key: string): Promise<void> {
  const expected = new Map([
    ["new-0", { settled: new Map([["USER.name", "value of new-0"]]), inFlight: undefined }],
  ]);
  await checkFacts(url, key, expected);
}

function* importText(prefix: string, users: number): Generator<string> {
  for (let i = 0; i < users; i++) {
    const user = `${prefix}-${i}`;
    const facts = [
      { label: "USER.name", value: `value of ${user}`, revision: 1, updated_at: "2026-11-01T00:00:00.000Z" },
    ];
    yield `${JSON.stringify({ kind: "user", account: "acme", user_id: user, facts })}\n`;
  }
}

const openStore = (folder: string) =>
  LmdbStore.open({ folder, create: true, queueMax: 1000, metrics: new Metrics() });

/** Lets a stopped process go on. On a busy machine it may stop only now: it is told again until the work is done. */
async function resumed<T>(pid: number, work: Promise<T>): Promise<T> {
  const goOn = () => process.kill(pid, "SIGCONT");
  goOn();
  const timer = setInterval(goOn, 500);
  return work.finally(() => clearInterval(timer));
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** The steps, several at a time; the first failure ends it. */
export async function trySteps(
  template: Template,
  options: { steps: readonly Step[]; atOnce: number; stopMs?: number; done?: (step: Step) => void },
): Promise<void> {
  const waiting = [...options.steps];
  const lane = async () => {
    for (let step = waiting.shift(); step !== undefined; step = waiting.shift()) {
      await tryStep(template, step, options.stopMs).catch((error) => {
        waiting.length = 0;
        throw error;
      });
      options.done?.(step);
    }
  };
  await Promise.all(Array.from({ length: options.atOnce }, lane));
}
