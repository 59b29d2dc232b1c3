/**
 * Every operation of the table is called with U+0000 in each parameter of its path and query, in its cursor, and in each text
 * of its body. A database can neither hold such a text nor be asked for one: it is refused before a store is asked. A new
 * operation is called by itself.
 */

import assert from "node:assert/strict";
import { test } from "node:test";
import type { Operation } from "../../src/contract/operation.ts";
import { OPERATION_EXAMPLES } from "../../src/contract/operation-examples.generated.ts";
import { OPERATIONS, type OperationId } from "../../src/contract/operations.ts";
import type { TSchema } from "../../src/contract/type.ts";
import { type Answer, sharedRunning, startPortless } from "./running-service.ts";

const running = sharedRunning(startPortless);

interface Sent {
  readonly params: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, string>>;
  readonly body: unknown;
}

const ALL = Object.entries(OPERATIONS) as [OperationId, Operation][];
const NULS = ["\0", "ada\0"];
const CURSORS = NULS.map((text) => Buffer.from(text).toString("base64url"));

function exampleOf(id: OperationId): Sent {
  const { params = {}, query = {}, body } = OPERATION_EXAMPLES[id];
  return { params, query, body };
}

async function call({ method, path, access }: Operation, { params, query, body }: Sent): Promise<Answer> {
  const address = path.replace(/:(\w+)/g, (_, name) => encodeURIComponent(params[name] ?? ""));
  const search = Object.keys(query).length === 0 ? "" : `?${new URLSearchParams(query)}`;
  const key = { key: running.key, any: running.key, admin: "admin-token-for-tests", demo: null, open: null };
  return running.call(method, address + search, {
    key: key[access],
    ...(body === undefined ? {} : { body }),
  });
}

function namesOf(schema: TSchema | undefined): string[] {
  return Object.keys((schema as { properties?: object } | undefined)?.properties ?? {});
}

function assertNamed({ status, json, text }: Answer, name: string, about: string): void {
  assert.deepEqual([status, json?.code, json?.param], [400, "invalid_request", name], `${about}: ${text}`);
}

test("no parameter of a path or a query takes U+0000, and the refusal names it", async () => {
  let count = 0;
  for (const [id, operation] of ALL) {
    const example = exampleOf(id);
    for (const where of ["params", "query"] as const)
      for (const name of namesOf(operation[where]))
        for (const text of NULS) {
          const sent = { ...example, [where]: { ...example[where], [name]: text } };
          assertNamed(await call(operation, sent), name, `${id} ${name}`);
          count += 1;
        }
  }
  assert.ok(count > 100, `${count} calls`);
});

test("a cursor that holds U+0000 is none", async () => {
  const paged = ALL.filter(([, { query }]) => namesOf(query).includes("cursor"));
  assert.ok(paged.length >= 5);
  for (const [id, operation] of paged)
    for (const cursor of CURSORS) {
      const example = exampleOf(id);
      const sent = { ...example, query: { ...example.query, cursor } };
      assertNamed(await call(operation, sent), "cursor", id);
    }
});

interface TextSchema {
  readonly type?: string;
  readonly const?: string;
  readonly anyOf?: readonly TextSchema[];
  readonly items?: TextSchema;
  readonly properties?: Readonly<Record<string, TextSchema>>;
}

/** A value with U+0000 in one of the texts that its schema has, for each of them. */
function* withNul(schema: TextSchema, value: unknown): Generator<unknown> {
  const { type, anyOf = [], items, properties = {} } = schema;
  for (const one of anyOf) yield* withNul(one, value);
  if (type === "string" && schema.const === undefined)
    yield* ["\0", `${typeof value === "string" ? value : "a"}\0`];
  if (items !== undefined)
    for (const item of withNul(items, Array.isArray(value) ? value[0] : undefined)) yield [item];
  const fields = (value ?? {}) as Readonly<Record<string, unknown>>;
  for (const [name, field] of Object.entries(properties))
    for (const changed of withNul(field, fields[name])) yield { ...fields, [name]: changed };
}

test("no text of a body takes U+0000", async () => {
  let count = 0;
  for (const [id, operation] of ALL) {
    if (operation.body === undefined) continue;
    const example = exampleOf(id);
    for (const body of withNul(operation.body as TextSchema, example.body)) {
      const { status, text } = await call(operation, { ...example, body });
      assert.ok(status >= 400 && status < 500, `${id} ${JSON.stringify(body)}: ${text}`);
      count += 1;
    }
  }
  assert.ok(count > 150, `${count} calls`);
});
