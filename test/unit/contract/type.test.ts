/** The builders of schemas against TypeBox's own. */

import assert from "node:assert/strict";
import { test } from "node:test";
import * as typebox from "typebox";
import { Type } from "../../../src/contract/type.ts";

/** Every builder with and without options, and within each other. */
function samples(builders: typeof Type): unknown[] {
  const options = { description: "what it is" };
  const text = builders.String({ minLength: 1, maxLength: 9 });
  return [
    builders.Null(),
    builders.Null(options),
    builders.Boolean(options),
    builders.Integer({ minimum: 0 }),
    builders.String(),
    text,
    builders.Literal("ok"),
    builders.Literal("ok", options),
    builders.Union([builders.Literal("a"), builders.Null()], options),
    builders.Array(builders.Object({ text }), { minItems: 1, maxItems: 40 }),
    builders.Object({}),
    builders.Object({ text: builders.Optional(text) }),
    builders.Object({ text, other: builders.Optional(builders.Integer()), third: text }, options),
  ];
}

test("every builder makes what TypeBox makes, in the same order", () => {
  assert.equal(JSON.stringify(samples(Type)), JSON.stringify(samples(typebox.Type)));
});

test("a schema that is optional in one place is required in another", () => {
  const text = Type.String();
  const optional = Type.Object({ text: Type.Optional(text) }) as unknown as { required?: string[] };
  const required = Type.Object({ text }) as unknown as { required?: string[] };
  assert.deepEqual([optional.required, required.required], [undefined, ["text"]]);
});
