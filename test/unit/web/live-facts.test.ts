/** The facts that the memory page keeps as they are now: whose changes are told, and when they are read again. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import type { StoredFact } from "../../../src/contract/answers.ts";
import { type ErrorCode, SidebandError } from "../../../src/sdk/errors.ts";
import type { EventsOptions } from "../../../src/sdk/options.ts";
import { LiveFacts, type LiveState } from "../../../src/web/memory/live-facts.ts";
import { ModuleTimers } from "../../fixtures/module-timers.ts";

const NOW = Date.UTC(2026, 10, 17, 12);
const at = (seconds: number) => new Date(NOW + seconds * 1000).toISOString();

interface FakeService {
  facts: StoredFact[];
  /** Answers a read instead of the facts. */
  answer: (() => Promise<StoredFact[]>) | undefined;
  reads: number;
  /** When the stream of events begins. */
  connected: Promise<void>;
  tell: (() => void) | undefined;
}

/** A service whose facts a test changes, and that tells of it when the test says so. */
function fakeMemory() {
  const service: FakeService = {
    ...{ facts: [], answer: undefined, reads: 0, tell: undefined },
    connected: Promise.resolve(),
  };
  const states: LiveState[] = [];
  const told: string[] = [];
  const isHidden = { value: false };
  const live = new LiveFacts({
    api: {
      facts: async () => {
        service.reads += 1;
        const facts = service.answer === undefined ? service.facts : await service.answer();
        return { user_id: "ada", channel_count: facts.length, facts };
      },
      async *events(_userId?: string, { onConnected }: EventsOptions = {}) {
        await service.connected;
        onConnected?.(true);
        for (;;) {
          await new Promise<void>((resolve) => {
            service.tell = resolve;
          });
          yield { kind: "reset" } as const;
        }
      },
    },
    memory: { userId: "ada", project: undefined },
    onState: (state) => states.push(state),
    announce: (text) => told.push(text),
    isHidden: () => isHidden.value,
  });
  const settle = async () => {
    for (let i = 0; i < 20; i++) await turn();
  };
  return { service, states, told, live, isHidden, settle, state: () => states.at(-1)! };
}

const failure = (code: ErrorCode, status: number) => new SidebandError(code, { code, status });

const fact = (label: string, revision: number, more: Partial<StoredFact> = {}): StoredFact => ({
  label,
  value: `v${revision}`,
  channel: 0,
  revision,
  updated_at: at(0),
  ...more,
});

test("what others change is marked and told, and what was there at the start is not", async () => {
  const { service, told, live, settle, state } = fakeMemory();
  service.facts = [fact("USER.name", 1), fact("USER.os", 2)];
  live.start();
  await settle();
  assert.deepEqual([state().isLive, state().marks.size, told.length], [true, 0, 0]);
  service.facts = [fact("USER.name", 3, { written_by: "codex" }), fact("PREF.tone", 4)];
  service.tell!();
  await settle();
  assert.deepEqual([...state().marks.keys()], ["USER.name", "PREF.tone"]);
  assert.deepEqual(told, ["USER.name was written by codex. PREF.tone was written. USER.os was forgotten."]);
  live.stop();
});

test("what is written after the first read, and before the stream begins, is read", async () => {
  const { service, live, settle, state } = fakeMemory();
  let connect = () => {};
  service.connected = new Promise((resolve) => {
    connect = resolve;
  });
  live.start();
  await settle();
  assert.deepEqual([state().facts, state().isLive], [[], false]);
  service.facts = [fact("USER.name", 1)];
  connect();
  await settle();
  assert.deepEqual([state().facts?.length, state().isLive], [1, true]);
  live.stop();
});

test("what this page writes is neither marked nor told, though its event comes before its answer", async () => {
  const { service, told, live, settle, state } = fakeMemory();
  service.facts = [fact("USER.name", 1), fact("USER.os", 1)];
  live.start();
  await settle();
  await live.write(["USER.name", "USER.os"], async () => {
    service.facts = [fact("USER.name", 2)];
    service.tell!();
    await settle();
    assert.equal(state().facts?.[0].revision, 1, "nothing is read while a write is on its way");
  });
  await settle();
  assert.deepEqual([state().facts?.[0].revision, state().marks.size, told], [2, 0, []]);
  live.stop();
});

test("what this page wrote is its own also when the read after it fails", async () => {
  const { service, told, live, settle, state } = fakeMemory();
  service.facts = [fact("USER.name", 1), fact("USER.os", 1)];
  live.start();
  await settle();
  service.answer = () => Promise.reject(failure("store_unavailable", 503));
  await live.write(["USER.name"], async () => {
    service.facts = [fact("USER.name", 2), fact("USER.os", 3)];
  });
  assert.equal((state().error as SidebandError).status, 503);
  service.answer = undefined;
  live.look();
  await settle();
  assert.deepEqual([...state().marks.keys()], ["USER.os"]);
  assert.deepEqual([told, state().error], [["USER.os was written."], undefined]);
  live.stop();
});

test("what this page wrote is its own also for a read that began before, and where its answer is lost", async () => {
  const { service, told, live, settle, state } = fakeMemory();
  service.facts = [fact("USER.name", 1)];
  live.start();
  await settle();
  let release = () => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  service.answer = async () => {
    service.answer = undefined;
    await held;
    return service.facts;
  };
  service.tell!();
  await settle();
  const writing = live.write(["USER.name"], async () => {
    service.facts = [fact("USER.name", 2)];
    release();
    await settle();
    assert.equal(state().facts?.[0].revision, 1, "what was read meanwhile counts for nothing");
  });
  await writing;
  await settle();
  assert.equal(state().facts?.[0].revision, 2);
  await assert.rejects(
    live.write(["USER.name"], async () => {
      service.facts = [fact("USER.name", 3)];
      throw failure("outcome_unknown", 0);
    }),
  );
  assert.deepEqual([state().facts?.[0].revision, told], [3, []]);
  await assert.rejects(
    live.write(["USER.name"], async () => {
      service.facts = [fact("USER.name", 4)];
      throw failure("revision_mismatch", 412);
    }),
  );
  assert.deepEqual(told, ["USER.name was written."], "a refused write has changed nothing");
  live.stop();
});

test("while nobody looks nothing is read; what has changed meanwhile is read at the next look", async () => {
  const { service, live, isHidden, settle, state } = fakeMemory();
  live.start();
  await settle();
  isHidden.value = true;
  service.facts = [fact("USER.name", 1)];
  service.tell!();
  await settle();
  assert.deepEqual(state().facts, []);
  isHidden.value = false;
  live.look();
  await settle();
  assert.equal(state().facts?.length, 1);
  live.stop();
});

test("a fact that ends is gone without an event, and is told to have ended", async (t) => {
  const timers = new ModuleTimers(t, "src/web/memory/live-facts.ts", NOW);
  const { service, told, live, settle } = fakeMemory();
  service.facts = [fact("TASK.next", 1, { expires_at: at(60) })];
  live.start();
  await settle();
  service.facts = [];
  timers.tick(59_000);
  await settle();
  assert.deepEqual(told, []);
  timers.tick(1_200);
  await settle();
  assert.deepEqual(told, ["TASK.next has ended."]);
  live.stop();
});

test("an end that is further away than a timer reaches is waited for in parts, with a read for each", async (t) => {
  const timers = new ModuleTimers(t, "src/web/memory/live-facts.ts", NOW);
  const timerMsMax = 2 ** 31 - 1;
  const { service, told, live, settle } = fakeMemory();
  service.facts = [fact("TASK.next", 1, { expires_at: at(30 * 86_400) })];
  live.start();
  await settle();
  // Node and browsers take a longer one for 1 ms.
  const longest = Math.max(...timers.asked);
  assert.equal(longest, timerMsMax);
  const before = service.reads;
  timers.tick(timerMsMax - 1);
  await settle();
  assert.equal(service.reads, before);
  timers.tick(1);
  await settle();
  assert.equal(service.reads, before + 1);
  service.facts = [];
  timers.tick(30 * 86_400_000 - timerMsMax - 1);
  await settle();
  assert.deepEqual([service.reads, told], [before + 1, []]);
  timers.tick(200);
  await settle();
  assert.deepEqual(told, ["TASK.next has ended."]);
  live.stop();
});
