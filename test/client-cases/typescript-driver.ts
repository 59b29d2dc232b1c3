/** The TypeScript client, in this process. */

import { mock } from "node:test";
import { isOutage, Sideband, SidebandError, type SidebandOptions } from "../../src/sdk/index.ts";
import type { CaseCall } from "./case.ts";
import type { ClientDriver, Ending, Opening, Outcome } from "./driver.ts";

const ERROR_FIELDS = [
  ...["message", "code", "status", "requestId", "param", "hint"],
  ...["upgradeUrl", "retryAfterMs", "present", "items"],
] as const;
const PAUSE_MS_MAX = 2_000;

export class TypeScriptDriver implements ClientDriver {
  readonly client = "js";
  #client: Sideband | undefined;
  #warnings: string[] = [];
  #pausesMs: number[] = [];
  #restore: () => void = () => {};
  #moveMs: (ms: number) => void = () => {};

  async open({ client, environment, random, stillClock, recordsPauses }: Opening): Promise<Outcome> {
    this.#warnings = [];
    this.#pausesMs = [];
    const before = ourVariables();
    setOurVariables(environment);
    const randomMock = mock.method(Math, "random", () => random);
    const restores = [() => randomMock.mock.restore()];
    if (stillClock) {
      let nowMs = Date.now();
      const { mock: clock } = mock.method(Date, "now", () => nowMs);
      restores.push(() => clock.restore());
      this.#moveMs = (ms) => {
        nowMs += ms;
      };
    }
    if (recordsPauses) {
      const later = setTimeout;
      const recorded = (run: () => void, ms: number) => {
        // Node's fetch and the test itself have timers, too.
        const isPause = ms <= PAUSE_MS_MAX && new Error().stack?.includes("/src/sdk/") === true;
        if (!isPause) return later(run, ms);
        this.#pausesMs.push(ms);
        return later(run, 0);
      };
      const { mock: timer } = mock.method(globalThis, "setTimeout", recorded as typeof setTimeout);
      restores.push(() => timer.restore());
    }
    this.#restore = () => {
      for (const restore of restores) restore();
      setOurVariables(before);
    };
    return this.#outcome(async () => {
      const options = passed(client) as SidebandOptions;
      this.#client = new Sideband({ onWarning: (line) => void this.#warnings.push(line), ...options });
    });
  }

  calls(together: readonly CaseCall[]): Promise<readonly Outcome[]> {
    return Promise.all(
      together.map(({ call, args = [], options = {}, take }) =>
        this.#outcome(async () => {
          const path = call.split(".");
          const owner = path
            .slice(0, -1)
            .reduce<unknown>((object, name) => fieldOf(object, name), this.#client);
          const method = fieldOf(owner, path.at(-1)!) as (...args: unknown[]) => Promise<unknown>;
          const result = method.apply(owner, [...(passed(args) as unknown[]), passed(options)]);
          return Symbol.asyncIterator in result ? taken(result as AsyncIterable<unknown>, take) : result;
        }),
      ),
    );
  }

  async moveClock(ms: number): Promise<void> {
    this.#moveMs(ms);
  }

  async close(): Promise<Ending> {
    this.#restore();
    return { warnings: this.#warnings, pausesMs: this.#pausesMs };
  }

  async #outcome(run: () => Promise<unknown>): Promise<Outcome> {
    const startMs = performance.now();
    try {
      const result = shown(await run());
      return { result, tookMs: performance.now() - startMs };
    } catch (error) {
      return { error: errorFields(error), tookMs: performance.now() - startMs };
    }
  }
}

async function taken(stream: AsyncIterable<unknown>, count = Number.POSITIVE_INFINITY): Promise<unknown[]> {
  const items: unknown[] = [];
  for await (const item of stream) {
    items.push(item);
    if (items.length === count) break;
  }
  return items;
}

function ourVariables(): Record<string, string | undefined> {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => name.startsWith("SIDEBAND_")));
}

function setOurVariables(variables: Readonly<Record<string, string | undefined>>): void {
  for (const name of Object.keys(ourVariables())) delete process.env[name];
  Object.assign(process.env, variables);
}

function fieldOf(object: unknown, name: string): unknown {
  return (object as Record<string, unknown>)[name];
}

/** An argument with the markers of a case in it. */
function passed(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  if ("$date" in value) return new Date(String(value.$date));
  if ("$number" in value) return Number(value.$number);
  if (Array.isArray(value)) return value.map(passed);
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, passed(inner)]));
}

/** A result as JSON, with errors in it as their fields. */
function shown(value: unknown): unknown {
  const text = JSON.stringify(value, (_, inner) => (inner instanceof Error ? errorFields(inner) : inner));
  return text === undefined ? undefined : JSON.parse(text);
}

function errorFields(error: unknown): Record<string, unknown> {
  if (!(error instanceof SidebandError)) {
    const isWrongCall = error instanceof TypeError || error instanceof RangeError;
    return { wrongCall: isWrongCall, message: error instanceof Error ? error.message : String(error) };
  }
  const fields = ERROR_FIELDS.map(
    (name) => [name, name === "message" ? error.message : error[name]] as const,
  );
  return { ...Object.fromEntries(fields), isOutage: isOutage(error) };
}
