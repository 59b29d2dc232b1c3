/**
 * The answers of the service written out, from their schemas: as interfaces for what npm publishes, which then needs no
 * other package, and as TypedDicts for the Python client, which is one file. src/contract/answers.ts names them.
 */

import { readFileSync } from "node:fs";
import * as audit from "../src/contract/audit-schemas.ts";
import * as erasure from "../src/contract/erasure-schemas.ts";
import * as keys from "../src/contract/key-schemas.ts";
import * as labels from "../src/contract/label-schemas.ts";
import * as life from "../src/contract/life-schemas.ts";
import * as project from "../src/contract/project-schemas.ts";
import * as wire from "../src/contract/schemas.ts";

interface Schema {
  readonly type?: "string" | "integer" | "number" | "boolean" | "null" | "array" | "object";
  readonly const?: string;
  readonly anyOf?: readonly Schema[];
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly description?: string;
}

const NAMED = /^export type (\w+) = Static<typeof (wire|labels|life|keys|erasure|project|audit)\.(\w+)>;$/gm;
const modules = { wire, labels, life, keys, erasure, project, audit } as unknown as Record<
  string,
  Record<string, Schema>
>;
const source = readFileSync(new URL("../src/contract/answers.ts", import.meta.url), "utf8");
const answers = [...source.matchAll(NAMED)].map(([, name, module, schema]): [string, Schema] => [
  name,
  modules[module][schema],
]);

/** The name of a part that has one. An optional part is a copy: what it is made of is the same. */
function nameOf({ anyOf, properties, required }: Schema): string | undefined {
  const isSame = (schema: Schema) =>
    anyOf === undefined
      ? schema.properties === properties && `${schema.required}` === `${required}`
      : schema.anyOf === anyOf;
  return anyOf === undefined && properties === undefined
    ? undefined
    : answers.find(([, schema]) => isSame(schema))?.[0];
}

/** @param declarations those that the compiler has made of src/contract/answers.ts */
export function writtenOut(declarations: string): string {
  const types = declarations
    .replace(/^\/\*\*[\s\S]*?\*\/\n(?=import )/, "")
    .replace(/^import .*\n/gm, "")
    .replaceAll(NAMED, (_, name: string, module: string, schema: string) =>
      typescriptOf(name, modules[module][schema]),
    );
  if (/Static<|import/.test(types))
    throw new Error(`answers.d.ts has a type that no schema is for:\n${types}`);
  return types;
}

function typescriptOf(name: string, schema: Schema): string {
  const { properties } = schema;
  if (properties === undefined) return `export type ${name} = ${typescriptType(schema, true)};`;
  const [baseName, base] = baseOf(name, schema) ?? [];
  const fields = Object.entries(properties).flatMap(([field, part]) => {
    const line = `    ${field}${isRequired(schema, field) ? "" : "?"}: ${typescriptType(part)};`;
    const inherited = base?.properties?.[field];
    if (base !== undefined && inherited !== undefined)
      return isRequired(schema, field) === isRequired(base, field) ? [] : [line];
    // An editor shows what is said of a named type, and of a field that is declared again.
    const isSaid = part.description === undefined || (part.anyOf !== undefined && nameOf(part) !== undefined);
    return isSaid ? [line] : [`    /** ${part.description} */`, line];
  });
  const head = `export interface ${name}${base === undefined ? "" : ` extends ${baseName}`} {`;
  return [head, ...fields, "}"].join("\n");
}

/** The largest answer before this one whose fields are all in it, and no less certain. */
function baseOf(name: string, schema: Schema): [string, Schema] | undefined {
  const isInside = ({ properties, required = [] }: Schema) =>
    properties !== undefined &&
    Object.entries(properties).every(([field, part]) => schema.properties![field] === part) &&
    required.every((field) => isRequired(schema, field));
  const sizeOf = ([, { properties, required = [] }]: [string, Schema]) =>
    Object.keys(properties!).length + required.length;
  return answers
    .slice(
      0,
      answers.findIndex(([other]) => other === name),
    )
    .filter(([, other]) => isInside(other))
    .sort((a, b) => sizeOf(b) - sizeOf(a))[0];
}

function isRequired({ required = [] }: Schema, field: string): boolean {
  return required.includes(field);
}

function typescriptType(schema: Schema, isNamed = false): string {
  const name = isNamed ? undefined : nameOf(schema);
  if (name !== undefined) return name;
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.anyOf !== undefined) return schema.anyOf.map((part) => typescriptType(part)).join(" | ");
  if (schema.type === "array") return `${typescriptType(schema.items!)}[]`;
  if (schema.type === "integer") return "number";
  if (schema.type === "object") throw new Error(`an object without a name: ${JSON.stringify(schema)}`);
  return schema.type!;
}

/** @param client its text: what it does not name is left out */
export function pythonAnswers(client: string): string {
  const types = answers.map(([name, schema]) => ({ name, text: pythonOf(name, schema) }));
  const isNamedIn = (text: string, name: string) => new RegExp(`\\b${name}\\b`).test(text);
  const used = new Set(types.filter(({ name }) => isNamedIn(client, name)));
  // The set grows while it is read.
  for (const { text } of used) for (const type of types) if (isNamedIn(text, type.name)) used.add(type);
  return types
    .filter((type) => used.has(type))
    .map(({ text }) => text)
    .join("\n\n\n");
}

function pythonOf(name: string, schema: Schema): string {
  const { properties, required = [] } = schema;
  if (properties === undefined) return `${name} = ${pythonType(schema, true)}`;
  const fields = Object.entries(properties).map(([field, part]) => [field, pythonType(part)] as const);
  const always = fields.filter(([field]) => required.includes(field));
  const rest = fields.filter(([field]) => !required.includes(field));
  // `from` is a word of the language: a class cannot name it.
  const entries = always.map(([field, type]) => `"${field}": ${type}`).join(", ");
  const typeOf = (called: string) => `${called} = TypedDict("${called}", {${entries}})`;
  if (rest.length === 0)
    return properties.from === undefined ? pythonClass(name, "TypedDict", always) : typeOf(name);
  if (always.length === 0) return pythonClass(name, "TypedDict, total=False", rest);
  // NotRequired came with Python 3.11: what may be absent is a class of its own.
  const restClass = pythonClass(`_${name}Rest`, "TypedDict, total=False", rest);
  if (properties.from === undefined) return `${restClass}\n\n\n${pythonClass(name, `_${name}Rest`, always)}`;
  return `${restClass}\n\n\n${typeOf(`_${name}Always`)}\n\n\nclass ${name}(_${name}Always, _${name}Rest):\n    pass`;
}

function pythonClass(name: string, base: string, fields: readonly (readonly [string, string])[]): string {
  return [`class ${name}(${base}):`, ...fields.map(([field, type]) => `    ${field}: ${type}`)].join("\n");
}

function pythonType(schema: Schema, isNamed = false): string {
  const name = isNamed ? undefined : nameOf(schema);
  if (name !== undefined) return name;
  if (schema.const !== undefined) return `Literal["${schema.const}"]`;
  if (schema.anyOf !== undefined) return pythonUnion(schema.anyOf);
  if (schema.type === "array") return `List[${pythonType(schema.items!)}]`;
  const types = { string: "str", integer: "int", number: "float", boolean: "bool", null: "None" };
  return types[schema.type as keyof typeof types];
}

function pythonUnion(parts: readonly Schema[]): string {
  if (parts.every((part) => part.const !== undefined))
    return `Literal[${parts.map((part) => `"${part.const}"`).join(", ")}]`;
  return `Optional[${parts
    .filter(({ type }) => type !== "null")
    .map((part) => pythonType(part))
    .join(", ")}]`;
}
