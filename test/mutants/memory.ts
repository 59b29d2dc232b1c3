/** Faults in the rules of the service: keys, time, blocks, events. */

import type { Mutant } from "./mutant.ts";

/** The unit tests of a module of src/memory. */
const tests = (...modules: string[]) => modules.map((name) => `test/unit/memory/${name}.test.ts`);

export const MEMORY_MUTANTS: readonly Mutant[] = [
  {
    name: "expired-key-cached",
    fault: "A key that was looked up once keeps working after its expiry.",
    file: "src/memory/authentication.ts",
    find: "const nowMs = this.#refuseExpired(caller);",
    replace: "const nowMs = this.#clock.now();",
    tests: tests("authentication"),
    quick: true,
  },
  {
    name: "idempotency-slot-shared",
    fault: "The in-flight slot of an Idempotency-Key is shared between API keys.",
    file: "src/memory/idempotency.ts",
    find: "const slot = `${keyId} ${key}`;",
    replace: "const slot = key;",
    tests: tests("encode", "idempotency"),
  },
  {
    name: "one-block-key-for-all",
    fault: "All accounts share one block key.",
    file: "src/memory/key-ring.ts",
    find: "deriveBlockKey(material, id, account)",
    replace: 'deriveBlockKey(material, id, "")',
    tests: tests("key-ring"),
  },
  {
    name: "block-in-flight-without-stamp",
    fault: "A block that is being built is shared with a request that came after a change.",
    file: "src/memory/blocks.ts",
    find: "const name = `${slot}\\0${stamp}\\0${place}",
    replace: "const name = `${slot}\\0${place}",
    tests: tests("blocks"),
  },
  {
    name: "demo-forgets-newer-facts",
    fault: "The reset of the demo takes facts along that another process has just written.",
    file: "src/memory/demo.ts",
    find: "value: null, ifRevision: revision }",
    replace: "value: null }",
    tests: tests("demo"),
  },
  {
    name: "stream-outlives-its-key",
    fault: "A stream goes on after its key has expired.",
    file: "src/memory/authentication.ts",
    find: "callerEndMs({ ...(await this.#keyById(keyId)), token }),",
    replace: "callerEndMs({ ...(await this.#keyById(keyId)), expiresAtMs: null, token }),",
    tests: tests("authentication"),
  },
  {
    name: "day-of-the-machine",
    fault: "Use is counted on the day of the machine's time zone.",
    file: "src/memory/quota.ts",
    find: "day.getUTCDate()",
    replace: "day.getDate()",
    tests: tests("quota"),
  },
  {
    name: "month-of-the-machine",
    fault: "Use is counted in the month of the machine's time zone.",
    file: "src/memory/quota.ts",
    find: "now.getUTCMonth()",
    replace: "now.getMonth()",
    tests: tests("quota"),
  },
  {
    name: "demo-reset-noted-too-soon",
    fault: "A reset of the demo that failed counts as done, and the facts of the last interval stay.",
    file: "src/memory/demo.ts",
    find: "        await this.#forgetBefore(DEMO_USER, startMs);\n        this.#resetForMs = startMs;\n",
    replace: "        this.#resetForMs = startMs;\n        await this.#forgetBefore(DEMO_USER, startMs);\n",
    tests: tests("demo"),
  },
  {
    name: "bound-key-hears-all",
    fault: "A bound key hears what happens to all users of its account.",
    file: "src/http/routes/events.ts",
    find: "        caller.account,\n        userId,\n",
    replace: "        caller.account,\n        undefined,\n",
    tests: ["test/http/events.test.ts"],
  },
  {
    name: "listener-of-another-user",
    fault: "Who listens to one user hears of all.",
    file: "src/memory/events.ts",
    find: "[message.event.userId, undefined]",
    replace: "listeners.keys()",
    tests: tests("events"),
  },
  {
    name: "missed-events-told-twice",
    fault: "Who comes back to a node that is behind hears some events twice.",
    file: "src/memory/events.ts",
    find: "listener.last = missed?.at(-1)?.number ?? 0;",
    replace: "",
    tests: tests("events"),
  },
];
