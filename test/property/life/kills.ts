/**
 * A process is killed in the middle of a sequence. What is in its folder then must be what the model has before the step
 * that was in flight, or after it, and the rest of the sequence goes on from there.
 */

import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { seededRandom } from "../../../src/base/random.ts";
import { bundledProgram } from "../../fixtures/bundled-program.ts";
import { outcomeOf } from "./comparison.ts";
import { expected, resolve } from "./expected.ts";
import type { LifeModel } from "./model.ts";
import { newModel, type Sequence, SequenceRun } from "./sequence.ts";
import { type Step, stepsOf } from "./steps.ts";
import { openFolder, StoreWorld } from "./world.ts";

/**
 * Without moves, since an import is many writes, and without revisions under an Idempotency-Key: the model knows the
 * numbers only of what it has seen in the store.
 */
export function killableSteps(seed: number): Sequence {
  const { historyMax, steps } = stepsOf(seed);
  const namesRevision = (step: Step) => step.kind === "restore" || JSON.stringify(step).includes("condition");
  const isKillable = (step: Step) =>
    step.kind !== "move" && !("key" in step && step.key !== undefined && namesRevision(step));
  return { historyMax, steps: steps.filter(isKillable) };
}

/** Whether the step in flight was made, was not, or cannot be told. Throws where the folder has something else. */
export async function killRound(seed: number): Promise<"before" | "after" | "between steps"> {
  const folder = mkdtempSync(join(tmpdir(), "sideband-life-kill-"));
  try {
    const { historyMax, steps } = killableSteps(seed);
    const { begun, done } = await runAndKill(folder, seed, steps.length);
    const model = newModel(historyMax);
    for (const step of steps.slice(0, done + 1)) await applied(model, step);
    const inFlight = begun > done ? steps[begun] : undefined;
    const later = model.copy();
    if (inFlight !== undefined) await applied(later, inFlight);
    const world = new StoreWorld([(limit, clock) => openFolder(folder, limit, clock)], (store) =>
      store.compact(),
    );
    try {
      const [run, found] = await matching(world, model, later, inFlight, seed);
      // Nothing that can be seen tells whether these were done. They are done again, and then they were.
      const isUnseen = inFlight?.kind === "sweep" || inFlight?.kind === "compact";
      for (const step of steps.slice(isUnseen ? begun : begun + 1)) await run.step(step);
      return found;
    } finally {
      await world.end();
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
}

async function matching(
  world: StoreWorld<Awaited<ReturnType<typeof openFolder>>>,
  model: LifeModel,
  later: LifeModel,
  inFlight: Step | undefined,
  seed: number,
) {
  const errors: unknown[] = [];
  for (const [candidate, found] of [
    [later, inFlight === undefined ? "between steps" : "after"],
    [model, "before"],
  ] as const) {
    const run = new SequenceRun(world, "q", candidate);
    await run.open();
    try {
      await run.compare();
      return [run, found] as const;
    } catch (error) {
      errors.push(error);
    }
  }
  throw new AggregateError(errors, `seed ${seed}: neither before nor after ${JSON.stringify(inFlight)}`);
}

async function applied(model: LifeModel, step: Step): Promise<void> {
  await outcomeOf(() => expected(model, resolve(model, step)));
}

/** Kills the process a moment after a step began. */
async function runAndKill(folder: string, seed: number, count: number) {
  const random = seededRandom(seed);
  const at = random.below(count);
  const program = await bundledProgram(new URL("kill-child.ts", import.meta.url));
  const child: ChildProcess = fork(program, [folder, String(seed)], { execArgv: [] });
  // What it has told is read to the end, also after its death.
  const ended = Promise.all([once(child, "exit"), once(child, "disconnect")]);
  let begun = -1;
  let done = -1;
  child.on("message", (message: { begun?: number; done?: number }) => {
    begun = message.begun ?? begun;
    done = message.done ?? done;
    if (begun === at && done < at) setTimeout(() => child.kill("SIGKILL"), random.below(4));
  });
  const [[status, signal]] = await ended;
  if (signal !== "SIGKILL") throw new Error(`seed ${seed}: the process ended with ${status ?? signal}`);
  return { begun, done };
}
