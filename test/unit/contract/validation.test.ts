/** Validation: each rule of a schema is enforced, and the first fault names its field. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { OPERATIONS } from "../../../src/contract/operations.ts";
import { type TSchema, Type } from "../../../src/contract/type.ts";
import { compileSchema } from "../../../src/contract/validation.ts";

const SCHEMA = Type.Object({
  name: Type.String({ minLength: 1, maxLength: 3 }),
  tier: Type.Optional(Type.Union([Type.Literal("free"), Type.Literal("pro"), Type.Null()])),
  list: Type.Optional(
    Type.Array(Type.Object({ id: Type.Integer(), on: Type.Optional(Type.Boolean()) }), {
      minItems: 1,
      maxItems: 2,
    }),
  ),
  day: Type.Optional(Type.String({ pattern: "^\\d{4}$", title: "four digits" })),
});

test("a value that keeps every rule passes, with more fields than the schema names", () => {
  const validate = compileSchema(SCHEMA);
  for (const value of [
    { name: "a" },
    { name: "🜁🜁🜁", tier: null, more: 1 },
    { name: "abc", tier: "pro", list: [{ id: 1, on: false }, { id: 2 }], day: "2026" },
  ])
    assert.equal(validate(value), undefined, JSON.stringify(value));
});

test("the first fault is told with the name of its field", () => {
  const validate = compileSchema(SCHEMA);
  for (const [value, param, fault] of [
    [undefined, "", "must be object"],
    [null, "", "must be object"],
    [[], "", "must be object"],
    ["x", "", "must be object"],
    [{}, "name", "is required"],
    [{ name: 7 }, "name", "must be string"],
    [{ name: "" }, "name", "must have at least 1 character"],
    [{ name: "abcd" }, "name", "must have at most 3 characters"],
    [{ name: "🜁🜁🜁🜁" }, "name", "must have at most 3 characters"],
    [{ name: "a", tier: "gold" }, "tier", "must be free, pro or null"],
    [{ name: "a", list: {} }, "list", "must be array"],
    [{ name: "a", list: [] }, "list", "must have at least 1 entry"],
    [{ name: "a", list: [{ id: 1 }, { id: 1 }, { id: 1 }] }, "list", "must have at most 2 entries"],
    [{ name: "a", list: [{ id: 1 }, {}] }, "list[1].id", "is required"],
    [{ name: "a", list: [{ id: 1.5 }] }, "list[0].id", "must be integer"],
    [{ name: "a", list: [{ id: 1, on: 0 }] }, "list[0].on", "must be boolean"],
    [{ name: "a", day: "20261" }, "day", "must be four digits"],
  ] as const)
    assert.deepEqual(validate(value), { param, fault }, JSON.stringify(value));
});

test("a field that is missing is told with the place where it is expected", () => {
  const validate = compileSchema(SCHEMA, { place: "in the query" });
  assert.deepEqual(validate({}), { param: "name", fault: "is required in the query" });
});

test("a pattern that is not told in words does not compile", () => {
  assert.throws(() => compileSchema(Type.String({ pattern: "^a$" })), /in words/);
});

test("a schema with a rule that is not enforced does not compile", () => {
  const schema = { type: "string", format: "email" } as unknown as TSchema;
  assert.throws(() => compileSchema(schema), /format/);
});

test("everything that the operations take compiles", () => {
  for (const operation of Object.values(OPERATIONS)) {
    const { query, params, body } = operation as { query?: TSchema; params?: TSchema; body?: TSchema };
    for (const schema of [query, params, body]) if (schema !== undefined) compileSchema(schema);
  }
});
