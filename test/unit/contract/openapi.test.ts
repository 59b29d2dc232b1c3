/** The OpenAPI document: it names the labels once, leaves room for others, and every reference leads somewhere. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { LABELS } from "../../../src/base/channel-labels.ts";
import { openApiDocument } from "../../../src/contract/openapi.ts";
import { type Document, groupsOf } from "../../../src/web/reference/openapi.ts";

interface Node {
  readonly [name: string]: unknown;
}

const DOCUMENT = JSON.parse(
  JSON.stringify(openApiDocument({ version: "1", serverUrl: "http://x" })),
) as Document & Node;
const SCHEMAS = DOCUMENT.components.schemas as unknown as Readonly<Record<string, Node>>;

/** Every object within a value, with the name under which it stands. */
function objectsIn(value: unknown, name = ""): [name: string, object: Node][] {
  if (typeof value !== "object" || value === null) return [];
  const inner = Object.entries(value).flatMap(([key, item]) => objectsIn(item, key));
  return [[name, value as Node], ...inner];
}

test("the document names all labels, as examples: a client made of it takes others too", () => {
  const { type, examples, description, ...others } = SCHEMAS.Label;
  assert.deepEqual([type, examples, others], ["string", [...LABELS], {}]);
  assert.match(String(description), /GET \/channels/);
});

test("every label that a request has is the one that the document names, but for one to be added", () => {
  const reference = { $ref: "#/components/schemas/Label" };
  for (const [path, methods] of Object.entries(DOCUMENT.paths)) {
    for (const { operationId, parameters = [], requestBody } of Object.values(methods)) {
      if (["addLabel", "changeLabel", "removeLabel"].includes(operationId)) continue;
      for (const { name, schema } of parameters)
        if (name === "label") assert.deepEqual(schema, reference, path);
      const { schema } = requestBody?.content["application/json"] ?? {};
      for (const [, { properties }] of objectsIn(schema))
        for (const [name, field] of Object.entries(properties ?? {}))
          if (name === "label") assert.deepEqual(field, reference, path);
    }
  }
  const places = objectsIn(DOCUMENT.paths).filter(([, { $ref }]) => $ref === reference.$ref);
  assert.ok(places.length >= 8);
});

test("every reference leads to a schema, and the pages show what it says", () => {
  for (const [, { $ref }] of objectsIn(DOCUMENT))
    if ($ref !== undefined)
      assert.ok(SCHEMAS[String($ref).replace("#/components/schemas/", "")], String($ref));
  const encode = groupsOf(DOCUMENT)
    .flatMap(({ operations }) => operations)
    .find(({ id }) => id === "encode")!;
  const { type, about } = encode.body.find(({ name }) => name === "label")!;
  assert.deepEqual([type, about], ["string", SCHEMAS.Label.description]);
});
