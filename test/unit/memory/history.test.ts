/** What a change has replaced, and what a rollback refuses and lists; test/property/life has all else of histories. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { encodeFacts, type FactInput, type WriteInput } from "../../../src/memory/encode.ts";
import { type ForgetInput, forgetFact } from "../../../src/memory/facts.ts";
import { type FactEvent, type RollbackInput, rollBack, userChanges } from "../../../src/memory/history.ts";
import type { MemoryServices } from "../../../src/memory/services.ts";
import { ACCOUNT, caller, memoryServices } from "./memory-services.ts";

const userId = "ada";
const label = "USER.name";

/** Calls about one user. */
function callsOf(services: MemoryServices) {
  return {
    write: async (value: string, { project, writtenBy, ...fact }: Partial<FactInput & WriteInput> = {}) => {
      const facts = [{ label, value, ...fact }];
      const input = { userId, project, writtenBy, facts, operation: "encode" } as const;
      return (await encodeFacts(services, caller, input)).facts[0].revision;
    },
    forget: (options: Partial<ForgetInput> = {}) =>
      forgetFact(services, ACCOUNT, { userId, label, keepHistory: true, ...options }),
    changes: async (options: { project?: string; sinceMs?: number } = {}) =>
      (await userChanges(services, ACCOUNT, { userId, limit: 100, ...options })).events,
    rollBack: (toMs: number, options: Partial<RollbackInput> = {}) =>
      rollBack(services, caller, { userId, toMs, ...options }),
  };
}

test("a change has the value that it replaced, of its own place, and none after an end", async (context) => {
  const { services, clock } = await memoryServices(context);
  const { write, forget, changes } = callsOf(services);
  const step = async (act: () => Promise<unknown>) => {
    await act();
    clock.advance(1000);
  };
  await step(() => write("one"));
  await step(() => write("two"));
  await step(() => write("loom", { project: "loom", scope: "project" }));
  await step(() => forget());
  await step(() => write("three", { ttlS: 2 }));
  clock.advance(2000);
  await step(() => write("four"));
  const sinceMs = clock.now();
  await write("five");
  const shown = (events: readonly FactEvent[]) => events.map(({ kind, value, was }) => [kind, value, was]);
  assert.deepEqual(shown(await changes()), [
    ["written", "five", "four"],
    ["written", "four", undefined],
    ["expired", "three", undefined],
    ["written", "three", undefined],
    ["forgotten", "two", undefined],
    ["written", "loom", undefined],
    ["written", "two", "one"],
    ["written", "one", undefined],
  ]);
  assert.deepEqual(shown(await changes({ sinceMs })), [["written", "five", "four"]]);
});

test("nobody is put back to the future, and a rollback says who asks for it in the form of any write", async (context) => {
  const { services, clock } = await memoryServices(context);
  const { write, rollBack } = callsOf(services);
  clock.advance(1000);
  await write("Ada");
  const invalid = (param: string) => ({ code: "invalid_request", extra: { param } });
  await assert.rejects(rollBack(1001), invalid("to"));
  assert.deepEqual((await rollBack(1000)).changes, []);
  await assert.rejects(rollBack(0, { writtenBy: "a\u0000b" }), invalid("written_by"));
  await assert.rejects(rollBack(0, { sessionId: "a\u0000b" }), invalid("session_id"));
  await assert.rejects(rollBack(0, { userId: "" }), invalid("user_id"));
});

test("a rollback lists its changes by place and channel", async (context) => {
  const { services, clock } = await memoryServices(context);
  const { write, forget, rollBack } = callsOf(services);
  const places = [{}, { project: "loom", scope: "project" }, { project: "attic", scope: "project" }] as const;
  for (const place of places) {
    await write("Ada", place);
    await write("poet", { label: "USER.role", ...place });
  }
  await write("London", { label: "USER.location" });
  clock.advance(1000);
  await forget({ label: "USER.location" });
  for (const place of places) {
    await forget(place);
    await write("engineer", { label: "USER.role", ...place });
  }
  assert.deepEqual(
    (await rollBack(500, { dryRun: true })).changes.map((change) => `${change.place} ${change.label}`),
    [
      " USER.name",
      " USER.role",
      " USER.location",
      ...["attic", "loom"].flatMap((place) => [`${place} USER.name`, `${place} USER.role`]),
    ],
  );
});
