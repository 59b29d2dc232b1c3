/**
 * A test runner for Stryker that runs tests of node:test many times in one process, without starting anything for a
 * fault: the code has all faults in it, and a global chooses one. What a fault leaves behind could fail a later test, so a
 * test that has failed runs again without the fault; if it fails again, the process is replaced and the fault judged
 * anew in the next one (Stryker repeats what a process did not answer).
 */

import { readFileSync, writeFileSync } from "node:fs";
import * as nodeModule from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import { failAtOnce } from "../quick-assert.ts";
import { type DeclaredTest, load, runHooksAfter } from "./declared-tests.ts";

/** What Stryker puts into the code reads this global, in threads and processes the variable. */
interface StrykerGlobal {
  activeMutant?: string | undefined;
  currentTestId?: string | undefined;
  mutantCoverage?: unknown;
}
/** Of Node 24; the types are those of Node 20. */
const { registerHooks } = nodeModule as unknown as {
  registerHooks(hooks: { resolve(specifier: string, context: object, next: Resolve): Resolved }): void;
};
type Resolve = (specifier: string, context: object) => Resolved;
interface Resolved {
  readonly url: string;
  readonly shortCircuit?: boolean;
}
const HANGS = Symbol("hangs");
const HANGING_MS = 3_000;
const HANGING_TIMES = 4;
const TICK_MS = 100;
const ACTIVE_VARIABLE = "__STRYKER_ACTIVE_MUTANT__";
const globals = globalThis as { __stryker__?: StrykerGlobal };
globals.__stryker__ ??= {};
const stryker = globals.__stryker__;

interface MutantRun {
  readonly activeMutant: { readonly id: string };
  readonly testFilter?: readonly string[];
}

class InProcessRunner {
  #tests: DeclaredTest[] = [];
  #timesMs: Record<string, number> | undefined;
  #judged = 0;
  /** A fault has left something behind: the next one gets a process of its own. */
  #spent = false;
  #stray: unknown;

  capabilities() {
    return { reloadEnvironment: false };
  }

  async init(): Promise<void> {
    const standIn = new URL("./declared-tests.ts", import.meta.url).href;
    registerHooks({
      resolve: (specifier, context, next) =>
        specifier === "node:test" ? { url: standIn, shortCircuit: true } : next(specifier, context),
    });
    failAtOnce();
    for (const event of ["uncaughtException", "unhandledRejection"] as const)
      process.on(event, (error: unknown) => {
        this.#stray ??= error ?? new Error(event);
      });
    const left = new RegExp(process.env.STRYKER_TESTS_LEFT || "^$");
    for (const path of JSON.parse(process.env.STRYKER_TEST_FILES ?? "[]") as string[])
      this.#tests.push(...(await load(path, pathToFileURL(join(process.cwd(), path)).href)));
    this.#tests = this.#tests.filter(({ name }) => !left.test(name));
  }

  async dryRun() {
    const tests = [];
    for (const test of this.#tests) {
      stryker.currentTestId = test.id;
      const startedMs = performance.now();
      const error = await this.#failureOf(test);
      const result = {
        id: test.id,
        name: test.name,
        fileName: test.file,
        timeSpentMs: performance.now() - startedMs,
      };
      tests.push(
        error === undefined
          ? { ...result, status: 0 }
          : { ...result, status: 1, failureMessage: textOf(error) },
      );
    }
    stryker.currentTestId = undefined;
    const timesMs = tests.map(({ id, timeSpentMs }) => [id, Math.round(timeSpentMs)]);
    writeFileSync(timesFile(), JSON.stringify(Object.fromEntries(timesMs)));
    return { status: "complete", tests, mutantCoverage: stryker.mutantCoverage };
  }

  /** The quick ones first: most faults are noticed by many tests. */
  #inOrder(filter: readonly string[] | undefined): DeclaredTest[] {
    const tests = filter === undefined ? this.#tests : this.#tests.filter(({ id }) => filter.includes(id));
    this.#timesMs ??= JSON.parse(readFileSync(timesFile(), "utf8")) as Record<string, number>;
    const timesMs = this.#timesMs;
    return tests.sort((a, b) => timesMs[a.id] - timesMs[b.id]);
  }

  async mutantRun({ activeMutant: { id }, testFilter }: MutantRun) {
    if (this.#spent) process.exit(1);
    const first = this.#judged++ === 0;
    let nrOfTests = 0;
    for (const test of this.#inOrder(testFilter)) {
      nrOfTests++;
      activate(id);
      const error = await this.#outcomeOf(test);
      activate(undefined);
      if (error === undefined) continue;
      if ((await this.#outcomeOf(test)) !== undefined) {
        if (!first) process.exit(1);
        this.#spent = true;
      }
      if (error === HANGS) return { status: "timeout" };
      return { status: "killed", killedBy: [test.id], failureMessage: textOf(error), nrOfTests };
    }
    return { status: "survived", nrOfTests };
  }

  /** Stryker's own limit is for all tests of a fault together, and for what never lets go of the processor. */
  async #outcomeOf(test: DeclaredTest): Promise<unknown> {
    const ended = new AbortController();
    const limitMs = HANGING_MS + HANGING_TIMES * (this.#timesMs?.[test.id] ?? 0);
    const outcome = await Promise.race([this.#failureOf(test), hanging(limitMs, ended)]);
    ended.abort();
    return outcome;
  }

  dispose(): Promise<void> {
    return runHooksAfter();
  }

  async #failureOf(test: DeclaredTest): Promise<unknown> {
    this.#stray = undefined;
    try {
      await test.run();
      // A rejection that nobody handles is told after the promises of this round.
      await new Promise((resolve) => setImmediate(resolve));
      return this.#stray;
    } catch (error) {
      return error ?? new Error("failed");
    }
  }
}

/** In ticks, each of which comes late on a busy machine: a test that has to wait for the processor does not hang. */
async function hanging(limitMs: number, { signal }: AbortController): Promise<unknown> {
  for (let waitedMs = 0; waitedMs < limitMs; waitedMs += TICK_MS) {
    await setTimeout(TICK_MS, undefined, { signal }).catch(() => undefined);
    if (signal.aborted) return undefined;
  }
  return HANGS;
}

/** What the first run has measured, for all processes. */
function timesFile(): string {
  return join(tmpdir(), "test-times.json");
}

function activate(id: string | undefined): void {
  stryker.activeMutant = id;
  if (id === undefined) delete process.env[ACTIVE_VARIABLE];
  else process.env[ACTIVE_VARIABLE] = id;
}

function textOf(error: unknown): string {
  return error instanceof Error ? `${error.name}: ${error.message}` : String(error);
}

/** What Stryker passes for each node of the code: a path of Babel. */
interface CodePath {
  readonly node: CodeNode & { readonly expression?: CodeNode };
}
interface CodeNode {
  readonly type: string;
  readonly callee?: { readonly name?: string };
}

/** An assertion states what holds anyway: without it, or with another one, nothing differs as long as it does. */
function assertionIn({ node }: CodePath): string | undefined {
  // As a statement, too: Stryker takes whole statements out.
  const { type, callee } = node.type === "ExpressionStatement" ? (node.expression ?? node) : node;
  const isAssertion = type === "CallExpression" && /^assert(Integer)?$/.test(callee?.name ?? "");
  return isAssertion ? "an assertion" : undefined;
}

export const strykerPlugins = [
  { kind: "TestRunner", name: "in-process", factory: () => new InProcessRunner() },
  { kind: "Ignore", name: "assertions", value: { shouldIgnore: assertionIn } },
];
