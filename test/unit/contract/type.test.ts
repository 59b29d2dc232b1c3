/** The builders of schemas against TypeBox's own. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { buildSync } from "esbuild";
import { literals, requiring, Type } from "../../../src/contract/type.ts";

/** TypeBox's builders in one piece: its hundreds of modules take a second of processor time to load. */
async function typeboxBuilders(): Promise<typeof Type> {
  const { outputFiles } = buildSync({
    stdin: {
      contents: 'export { Type } from "typebox";',
      resolveDir: fileURLToPath(new URL(".", import.meta.url)),
    },
    bundle: true,
    write: false,
    format: "esm",
  });
  return (await import(`data:text/javascript,${encodeURIComponent(outputFiles[0].text)}`)).Type;
}

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

test("every builder makes what TypeBox makes, in the same order", async () => {
  assert.equal(JSON.stringify(samples(Type)), JSON.stringify(samples(await typeboxBuilders())));
});

test("a schema that is optional in one place is required in another", () => {
  const text = Type.String();
  const optional = Type.Object({ text: Type.Optional(text) }) as unknown as { required?: string[] };
  const required = Type.Object({ text }) as unknown as { required?: string[] };
  assert.deepEqual([optional.required, required.required], [undefined, ["text"]]);
});

test("literals are a union of them, and optional fields can be required", () => {
  const union = Type.Union([Type.Literal("a"), Type.Literal("b")], { description: "one of two" });
  assert.deepEqual(literals(["a", "b"], { description: "one of two" }), union);
  const object = Type.Object({ text: Type.String(), other: Type.Optional(Type.Integer()) });
  assert.deepEqual(requiring(object, "other"), { ...object, required: ["text", "other"] });
});
