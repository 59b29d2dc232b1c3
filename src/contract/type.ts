/**
 * TypeBox's builders of JSON Schema, as few as are needed here and typed by TypeBox itself. They are written out
 * because loading TypeBox takes a fifth of a second, which every start of the service and of an agent's hook would
 * wait for; test/unit/contract/type.test.ts compares them with the original.
 */

import type { Static, TLiteral, TSchema, TUnion, TUnsafe, Type as TypeBox } from "typebox";

export type { Static, TSchema } from "typebox";

type Schema = Readonly<Record<string, unknown>>;

/** Schemas that stand for a property which may be absent. */
const optional = new WeakSet<Schema>();

const builders = {
  Null: (options?: Schema): Schema => ({ type: "null", ...options }),
  Boolean: (options?: Schema): Schema => ({ type: "boolean", ...options }),
  Integer: (options?: Schema): Schema => ({ type: "integer", ...options }),
  Number: (options?: Schema): Schema => ({ type: "number", ...options }),
  String: (options?: Schema): Schema => ({ type: "string", ...options }),
  Literal: (text: string, options?: Schema): Schema => ({ type: "string", const: text, ...options }),
  Union: (anyOf: readonly Schema[], options?: Schema): Schema => ({ anyOf, ...options }),
  Array: (items: Schema, options?: Schema): Schema => ({ type: "array", items, ...options }),
  Object(properties: Readonly<Record<string, Schema>>, options?: Schema): Schema {
    const required = Object.keys(properties).filter((name) => !optional.has(properties[name]));
    return { type: "object", ...(required.length === 0 ? {} : { required }), properties, ...options };
  },
  Optional(schema: Schema): Schema {
    const copy = { ...schema };
    optional.add(copy);
    return copy;
  },
};

export const Type = builders as unknown as Pick<typeof TypeBox, keyof typeof builders>;

/** The same object, with these of its optional fields always there. */
export function requiring<S extends TSchema, K extends keyof Static<S>>(schema: S, ...names: K[]) {
  const { required } = schema as { readonly required?: readonly K[] };
  type Filled = Static<S> & Required<Pick<Static<S>, K>>;
  return { ...schema, required: [...(required ?? []), ...names] } as unknown as TUnsafe<Filled>;
}

/** One of these texts. */
export function literals<T extends readonly string[]>(texts: readonly [...T], options?: Schema) {
  const anyOf = texts.map((text) => Type.Literal(text));
  return { anyOf, ...options } as unknown as TUnion<{ -readonly [I in keyof T]: TLiteral<T[I]> }>;
}
