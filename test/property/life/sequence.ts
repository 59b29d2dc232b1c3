/**
 * Runs a sequence of steps on a store and on the model, and compares after every step: the step's own outcome, and all
 * that can be seen. Each sequence has accounts of its own, so that many of them can share a store.
 */

import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import type { Tier } from "../../../src/base/accounts.ts";
import type { Clock } from "../../../src/base/clock.ts";
import { FairTurns } from "../../../src/base/fair-turns.ts";
import { ALL_GROUPS } from "../../../src/base/groups.ts";
import { noStep } from "../../../src/base/steps.ts";
import { codeOf } from "../../../src/blockwork/fact-code.ts";
import { PLAIN_CODEBOOK } from "../../../src/codec/codebook.ts";
import type { Caller } from "../../../src/memory/authentication.ts";
import { IdempotencyGate } from "../../../src/memory/idempotency.ts";
import { Labels } from "../../../src/memory/labels.ts";
import type { Store } from "../../../src/memory/ports.ts";
import type { KeyRecord } from "../../../src/memory/records.ts";
import type { MemoryServices } from "../../../src/memory/services.ts";
import { SharedProjects } from "../../../src/memory/shared-projects.ts";
import { sharedReads } from "../../../src/memory/shared-reads.ts";
import { exportLines, importLines } from "../../../src/memory/transfer.ts";
import { keyRecord } from "../../conformance/store-under-test.ts";
import { actual } from "./actual.ts";
import { compareAccount, outcomeOf } from "./comparison.ts";
import { expected, resolve } from "./expected.ts";
import { LifeModel } from "./model.ts";
import { LABELS, PROJECTS, QUOTAS, START_MS, type Step, stepsOf, TEAMS, USERS } from "./steps.ts";
import type { World } from "./world.ts";

export interface Sequence {
  readonly historyMax: number;
  readonly steps: readonly Step[];
}

/** A difference between the store and the model, and the step after which it was seen. */
export class Difference extends Error {
  readonly index: number;
  constructor(index: number, cause: unknown) {
    super(cause instanceof Error ? cause.message : String(cause), { cause });
    this.index = index;
  }
}

/** Steps that must not change anything of another user. The others are looked at again after the next step of another kind. */
const ONE_USER: readonly Step["kind"][] = ["encode", "batch", "append", "remove", "restore", "rename"];
const SECRET = new Uint8Array(32);
/** No step is about blocks. */
const NO_BLOCKS = { codeInBackground() {}, drop() {}, forget() {} };

export class SequenceRun {
  readonly model: LifeModel;
  readonly #world: World;
  readonly #name: string;
  #moves = 0;
  #compared = 0;
  #services!: MemoryServices;

  /** @param name the sequence's own, for its accounts */
  private constructor(world: World, name: string, historyMax: number) {
    this.#world = world;
    this.#name = name;
    this.model = new LifeModel({ nowMs: START_MS, historyMax, limits: QUOTAS });
  }

  static async start(world: World, name: string, historyMax: number): Promise<SequenceRun> {
    const run = new SequenceRun(world, name, historyMax);
    await run.#open();
    for (const account of QUOTAS.keys()) await world.store.addKey(run.#keyOf(account));
    return run;
  }

  /** Begins, or goes on, with the store as the world has it. */
  async #open(again = false): Promise<void> {
    this.#serve(await this.#world.open(this.model.historyMax, again));
  }

  /** One step on both; throws where they differ. */
  async step(step: Step): Promise<void> {
    const resolved = resolve(this.model, step);
    const wanted = await outcomeOf(() => expected(this.model, resolved));
    const found = await outcomeOf(async () => {
      if ("account" in resolved) return actual(this.#services, this.#callerOf(resolved.account), resolved);
      await this.#worldStep(resolved);
    });
    assert.deepEqual(found, wanted, "the outcome");
    await this.compare(step);
  }

  /**
   * Compares what is kept, and what is shown of the step's user, project and label; else of each in turn. The clock
   * touches nothing: of the accounts, too, one is looked at in turn. Without a step, facts are listed in all projects.
   */
  async compare(step?: Step): Promise<void> {
    this.#setClock();
    this.#compared += 1;
    for (const account of QUOTAS.keys()) {
      if (step !== undefined && "account" in step && step.account !== account) continue;
      if (step?.kind === "clock" && account !== this.#compared % QUOTAS.length) continue;
      const inTurn = {
        user: USERS[this.#compared % USERS.length],
        project: PROJECTS[this.#compared % PROJECTS.length],
      };
      const { user, project } = step !== undefined && "user" in step ? step : inTurn;
      const named = LABELS.find((label) => JSON.stringify(step)?.includes(`"${label}"`));
      const label = named ?? LABELS[this.#compared % LABELS.length];
      const isWrite = step !== undefined && ONE_USER.includes(step.kind);
      const projects = step === undefined ? PROJECTS : new Set([project, inTurn.project]);
      const shown = { account, user, project, label, projects, users: isWrite ? [user] : USERS };
      await compareAccount(this.#services, this.#callerOf(account), this.model, shown);
    }
  }

  #setClock(): void {
    const { clock } = this.#world;
    clock.advance(this.model.nowMs - clock.now());
  }

  async #worldStep(step: Exclude<Step, { account: number }>): Promise<void> {
    const { store } = this.#world;
    this.#setClock();
    if (step.kind === "sweep") await store.sweep(this.model.nowMs);
    else if (step.kind === "compact") await this.#world.compact();
    else if (step.kind === "restart") await this.#open(true);
    else if (step.kind === "move") await this.#move();
    else if (step.kind === "save codes") await this.#saveCodes(store);
  }

  /** Export, import under new names, and on with the other store. */
  async #move(): Promise<void> {
    const names = [...QUOTAS.keys()].map((account) => this.#accountOf(account));
    const from = await this.#world.exchange();
    this.#moves += 1;
    const { nowMs } = this.model;
    for (const [account, name] of names.entries()) {
      const key = this.#keyOf(account);
      const lines = async function* () {
        for await (const line of exportLines(from, { nowMs, account: name })) {
          if (line.kind === "key") yield JSON.stringify({ ...line, key });
          else yield JSON.stringify({ ...line, account: key.account });
        }
      };
      await importLines(this.#world.store, lines(), { nowMs, atStep: noStep, withKeys: true });
    }
    await this.#world.store.sweep(nowMs);
    this.#serve(this.#world.store);
  }

  /** Code bits change nothing that can be seen. */
  async #saveCodes(store: Store): Promise<void> {
    for (const account of QUOTAS.keys()) {
      for (const user of [...USERS, ...TEAMS]) {
        const name = this.#accountOf(account);
        const life = await store.readLife(name, user, { nowMs: this.model.nowMs });
        const facts = await this.#services.labels.withChannels(name, life?.facts ?? []);
        const codes = facts.map((fact) => ({
          ...fact,
          code: codeOf(PLAIN_CODEBOOK, fact),
        }));
        if (codes.length > 0) await store.saveCodes(name, user, codes);
      }
    }
  }

  #serve(store: Store): void {
    this.#setClock();
    this.#services = servicesOf(store, this.#world.clock, this.model.historyMax);
  }

  #accountOf(account: number): string {
    return `${this.#name}-${account}-${this.#moves}`;
  }

  #callerOf(account: number): Caller {
    return callerOf(this.#accountOf(account), QUOTAS[account]);
  }

  #keyOf(account: number): KeyRecord {
    const name = this.#accountOf(account);
    const hash = createHash("sha256").update(name).digest("hex");
    return keyRecord(name, name, { tier: tierOf(QUOTAS[account]), hash, createdAtMs: START_MS });
  }
}

/** What the operations that are tried need of the services of memory. */
export function servicesOf(store: Store, clock: Clock, historyMax: number): MemoryServices {
  const labels = new Labels(store);
  const idempotency = new IdempotencyGate([SECRET]);
  const turns = new FairTurns();
  return {
    store: sharedReads(store),
    projects: new SharedProjects(store),
    labels,
    blocks: NO_BLOCKS,
    idempotency,
    turns,
    clock,
    historyMax,
    groups: ALL_GROUPS,
  } as unknown as MemoryServices;
}

export function callerOf(account: string, limit: number | null): Caller {
  return {
    account,
    keyId: account,
    tier: tierOf(limit),
    limit,
    expiresAtMs: null,
    user: null,
    access: "write",
  };
}

function tierOf(limit: number | null): Tier {
  return limit === null ? "unlimited" : "free";
}

/** Throws a Difference. */
export async function runSequence(
  world: World,
  name: string,
  { historyMax, steps }: Sequence,
): Promise<void> {
  const run = await SequenceRun.start(world, name, historyMax);
  for (const [index, step] of steps.entries()) {
    try {
      await run.step(step);
    } catch (error) {
      throw new Difference(index, error);
    }
  }
  try {
    await run.compare();
  } catch (error) {
    throw new Difference(steps.length - 1, error);
  }
}

/** The fewest of the steps that still make a difference, by leaving out one after the other. */
export async function shrink(
  world: World,
  name: string,
  sequence: Sequence,
): Promise<Sequence & { error: Error }> {
  let tries = 0;
  const attempt = async (steps: readonly Step[]): Promise<Difference | undefined> => {
    tries += 1;
    try {
      await runSequence(world, `${name}s${tries}`, { ...sequence, steps });
      return undefined;
    } catch (error) {
      return error as Difference;
    }
  };
  let error = await attempt(sequence.steps);
  if (error === undefined) return { ...sequence, error: new Error("it does not happen again") };
  let steps = sequence.steps.slice(0, error.index + 1);
  for (let i = steps.length - 1; i >= 0; i--) {
    const fewer = steps.filter((_, at) => at !== i);
    const found = await attempt(fewer);
    if (found === undefined) continue;
    error = found;
    steps = fewer.slice(0, found.index + 1);
    i = Math.min(i, steps.length);
  }
  return { ...sequence, steps, error };
}

/** Runs the sequence of a seed. The error of a difference has the seed and the fewest steps that show it. */
export async function runOrShrink(world: World, name: string, seed: number): Promise<number> {
  const sequence = stepsOf(seed);
  try {
    await runSequence(world, name, sequence);
  } catch (error) {
    const { steps, error: difference } = await shrink(world, name, sequence);
    const shown = steps.map((step) => `  ${JSON.stringify(step)}`).join("\n");
    throw new Error(
      `seed ${seed}, history ${sequence.historyMax}: ${difference.message}\nafter these steps:\n${shown}`,
      { cause: error },
    );
  }
  return sequence.steps.length;
}
