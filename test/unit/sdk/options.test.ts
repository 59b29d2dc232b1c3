/** Every call of the client refuses an option that it does not have, and one of another kind; nothing is sent. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { Sideband } from "../../../src/sdk/index.ts";

const client = () => new Sideband({ fetch: () => assert.fail("something was sent") });

/** What stands before the options, where a call takes something else than texts. */
const GIVEN: Readonly<Record<string, readonly unknown[]>> = {
  events: ["ada"],
  encodeBatch: ["ada", [{ label: "USER.name", value: "Ada" }]],
  restore: ["ada", "USER.name", 7],
  addLabel: ["FAMILY.wife", { description: "Her name" }],
  changeLabel: ["FAMILY.wife", {}],
  strictLabels: [true],
  token: ["ada"],
};
/** Options in the middle. */
const TERMS = [
  ["addLabel", "FAMILY.wife"],
  ["changeLabel", "FAMILY.wife"],
] as const;

type Calls = Record<string, (...given: unknown[]) => unknown>;

function callsOf(owner: object): string[] {
  const names = new Set<string>();
  for (let at = Object.getPrototypeOf(owner); at !== Object.prototype; at = Object.getPrototypeOf(at))
    for (const name of Object.getOwnPropertyNames(at)) names.add(name);
  const inner = ["constructor", "get", "call", "knownContext"];
  return [...names].filter((name) => !inner.includes(name));
}

async function refused(run: () => unknown, message: RegExp, what: string): Promise<void> {
  const done = async () => {
    const came = run();
    // A stream begins when it is read.
    if (typeof came === "object" && came !== null && Symbol.asyncIterator in came)
      for await (const _ of came as AsyncIterable<unknown>) assert.fail("something came");
    return came;
  };
  await assert.rejects(done, { name: "TypeError", message }, what);
}

test("every call of the client and of its demo refuses an option that it does not have, and one of another kind", async () => {
  const memory = client();
  let count = 0;
  for (const owner of [memory, memory.demo]) {
    for (const name of callsOf(owner)) {
      const method = (owner as unknown as Calls)[name];
      const given = GIVEN[name] ?? Array.from({ length: method.length }, () => "ada");
      for (const [wrong, message] of [
        [{ colour: "red" }, /^there is no option colour here$/],
        [{ timeOutMs: 5 }, /^there is no option timeOutMs here: did you mean timeoutMs\?$/],
        [{ timeoutMs: "5" }, /^timeoutMs is a number, not "5"$/],
        [{ retries: Number.NaN }, /^retries is a whole number from 0 on, not NaN$/],
        [{ retries: 1.5 }, /^retries is a whole number from 0 on, not 1\.5$/],
        [{ signal: "x" }, /^signal is an AbortSignal, not a text$/],
        ["now", /^options are an object, not now$/],
        [null, /^options are an object, not null$/],
      ] as const) {
        await refused(
          () => method.apply(owner, [...given, wrong]),
          message,
          `${name} ${JSON.stringify(wrong)}`,
        );
        count += 1;
      }
    }
  }
  assert.ok(count > 250, String(count));
  for (const [name, label] of TERMS) {
    const call = (terms: unknown) => (memory as unknown as Calls)[name](label, terms);
    await refused(() => call({ description: "x", oneof: ["a"] }), /did you mean oneOf\?$/, name);
    // It would be sent as null, which takes the limit away.
    await refused(() => call({ description: "x", ttlS: Number.NaN }), /^ttlS is a whole number/, name);
    await refused(
      () => call({ description: "x", ttlS: 0 }),
      /^ttlS is a whole number from 1 on.*, not 0$/,
      name,
    );
    await refused(() => call({ description: "x", oneOf: ["a", 7] }), /^oneOf is a list of texts/, name);
  }
});

test("a fact of a batch, and the constructor, refuse it too", async () => {
  const fact = { label: "USER.name", value: "Ada" } as const;
  for (const wrong of [{ ttl: 60 }, { ttlS: "60" }, { if_revision: 3 }, { pinned: "no" }])
    await refused(
      () => client().encodeBatch("ada", [{ ...fact, ...wrong } as never]),
      /ttl|if_revision|pinned/,
      JSON.stringify(wrong),
    );
  for (const wrong of [
    { apikey: "x" },
    { timeoutMs: "5" },
    { retries: -1 },
    { fetch: "x" },
    { onWarning: 7 },
  ])
    assert.throws(() => new Sideband(wrong as never), { name: "TypeError" }, JSON.stringify(wrong));
  // @ts-expect-error: there is no such option
  assert.throws(() => new Sideband({ retrys: 3 }), /did you mean retries\?$/);
  // @ts-expect-error: a number is no text
  await refused(() => client().usage({ timeoutMs: "5" }), /timeoutMs/, "types");
  // @ts-expect-error: there is no such option
  await refused(() => client().forgetUser("ada", { projet: "loom" }), /did you mean project\?$/, "types");
});
