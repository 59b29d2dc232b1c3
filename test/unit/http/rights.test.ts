/** What a bound key, a reading key and an account's own key may call. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { Type } from "../../../src/contract/type.ts";
import type { Call } from "../../../src/http/request/call.ts";
import { type NeededRights, requireRights, rightsOf } from "../../../src/http/request/rights.ts";
import { routeOf } from "../../../src/http/request/route.ts";
import type { Caller } from "../../../src/memory/authentication.ts";

const NAMED = Type.Object({ user_id: Type.String() });
const OTHER = Type.Object({ label: Type.String() });

test("an operation needs the rights that its terms say, and one without them needs none", () => {
  for (const terms of [{}, { about: "user" }, { writes: true }] as const)
    assert.equal(rightsOf(terms), undefined);
  const account = { about: "account", writes: false } as const;
  assert.deepEqual(rightsOf({ ...account, query: NAMED }), { ...account, userIn: undefined });
  const user = { about: "user", writes: true } as const;
  assert.deepEqual(rightsOf({ ...user, query: NAMED, body: OTHER }), { ...user, userIn: "query" });
  assert.deepEqual(rightsOf({ ...user, query: OTHER, body: NAMED }), { ...user, userIn: "body" });
  for (const terms of [{ query: OTHER }, { query: NAMED, body: NAMED }, {}])
    assert.throws(() => rightsOf({ ...user, ...terms }), { name: "AssertionError" });
});

test("a route checks the query, the parameters and the body that it names", () => {
  const { query, params, body, rights } = routeOf(
    {
      method: "POST",
      path: "/users/:label",
      access: "key",
      query: NAMED,
      params: OTHER,
      about: "user",
      writes: true,
    },
    () => ({}),
  );
  assert.equal(body?.({}), undefined);
  assert.deepEqual(rights, { about: "user", writes: true, userIn: "query" });
  assert.deepEqual([query?.({ user_id: "ada" }), params?.({ label: "x" })], [undefined, undefined]);
  assert.deepEqual(query?.({}), { param: "user_id", fault: "is required in the query" });
  assert.deepEqual(params?.({}), { param: "label", fault: "is required in the path" });
});

/** What became of a call, or the code of its refusal. */
function sent(
  caller: Pick<Caller, "user" | "access">,
  needed: NeededRights,
  call: { query?: object; body?: unknown },
) {
  const checked = { caller, ...call } as unknown as Call;
  try {
    requireRights(checked, needed);
  } catch (error) {
    return (error as { code: string }).code;
  }
  return { query: checked.query, body: checked.body };
}

const OWN = { user: null, access: "write" } as const;
const READING = { user: null, access: "read" } as const;
const BOUND = { user: "ada", access: "write" } as const;

test("a reading key writes nothing, and an account's own key names whom it likes", () => {
  const writing = { about: "user", writes: true, userIn: "query" } as const;
  assert.equal(sent(READING, writing, { query: {} }), "read_only_key");
  assert.deepEqual(sent(READING, { ...writing, writes: false }, { query: {} }), {
    query: {},
    body: undefined,
  });
  for (const query of [{}, { user_id: "eve" }])
    assert.deepEqual(sent(OWN, writing, { query }), { query, body: undefined });
});

test("a bound key is for its user, named or not, and for nothing of the whole account", () => {
  const inQuery = { about: "user", writes: false, userIn: "query" } as const;
  const inBody = { ...inQuery, userIn: "body" } as const;
  for (const query of [{}, { user_id: "ada" }])
    assert.deepEqual(sent(BOUND, inQuery, { query, body: { user_id: "eve" } }), {
      query: { user_id: "ada" },
      body: { user_id: "eve" },
    });
  assert.equal(sent(BOUND, inQuery, { query: { user_id: "eve" } }), "user_not_allowed");
  assert.deepEqual(sent(BOUND, inBody, { query: {}, body: { label: "x" } }), {
    query: {},
    body: { label: "x", user_id: "ada" },
  });
  assert.equal(sent(BOUND, inBody, { query: {}, body: { user_id: "eve" } }), "user_not_allowed");
  // What is no object is refused later, as it is.
  for (const body of [null, "text", [1], 7])
    assert.deepEqual(sent(BOUND, inBody, { body }), { query: undefined, body });
  const account = { about: "account", writes: false, userIn: undefined } as const;
  assert.equal(sent(BOUND, account, { query: {} }), "user_not_allowed");
  const anyone = { ...account, about: "anyone" } as unknown as NeededRights;
  assert.deepEqual(sent(BOUND, anyone, { query: {}, body: {} }), { query: {}, body: {} });
});
