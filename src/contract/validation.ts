/**
 * Checks values against the schemas of the contract. A schema is compiled once into a function that returns the first
 * fault as a sentence about a named field. It understands what type.ts can build, and no more; it refuses to compile
 * a schema with a keyword that it does not know.
 */

import { assert } from "../base/assert.ts";
import type { TSchema } from "./type.ts";
import { shownName, type UnknownTerms, unknownFault } from "./unknown-fields.ts";

interface Fault {
  /** The field as the sender wrote it, such as `facts[2].label`; empty for the value as a whole. */
  readonly param: string;
  /** Follows the field's name in a sentence. */
  readonly fault: string;
  /** The field that was probably meant. */
  readonly hint?: string;
}

export type Validator = (value: unknown) => Fault | undefined;

type Check = (value: unknown, path: string) => Fault | undefined;

interface CheckedSchema {
  readonly type?: string;
  readonly properties?: Readonly<Record<string, CheckedSchema>>;
  readonly required?: readonly string[];
  readonly items?: CheckedSchema;
  readonly anyOf?: readonly CheckedSchema[];
  readonly const?: string;
  readonly pattern?: string;
  /** The pattern in words. */
  readonly title?: string;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
}

const KEYWORDS = new Set([
  "type",
  "properties",
  "required",
  "items",
  "anyOf",
  "const",
  "pattern",
  "title",
  "minLength",
  "maxLength",
  "minItems",
  "maxItems",
  "description",
]);

/** Fields that the schema does not have are ignored unless the terms say otherwise. */
interface CheckTerms {
  /** Where the fields are expected, such as "in the query". */
  readonly place?: string;
  readonly unknown?: UnknownTerms;
  /** Refuses U+0000, of which a database can neither hold a text nor be asked for one. Of a body its rules say more. */
  readonly refusesNul?: true;
}

const IGNORED: UnknownTerms = { policy: "ignored" };

export function compileSchema(schema: TSchema, terms: CheckTerms = {}): Validator {
  const check = compile(schema as CheckedSchema, terms);
  return (value) => check(value, "");
}

function compile(schema: CheckedSchema, terms: CheckTerms): Check {
  for (const keyword of Object.keys(schema))
    assert(KEYWORDS.has(keyword), `the schema keyword ${keyword} is known`);
  if (schema.anyOf !== undefined) return anyOf(schema.anyOf, terms);
  switch (schema.type) {
    case "object":
      return object(schema, terms);
    case "array":
      return array(schema, terms);
    case "string":
      return string(schema, terms);
    case "boolean":
      return (value, param) => (typeof value === "boolean" ? undefined : { param, fault: "must be boolean" });
    case "integer":
      return (value, param) => (Number.isInteger(value) ? undefined : { param, fault: "must be integer" });
    case "number":
      return (value, param) => (typeof value === "number" ? undefined : { param, fault: "must be number" });
    default:
      assert(schema.type === "null", "the schema has a known type");
      return (value, param) => (value === null ? undefined : { param, fault: "must be null" });
  }
}

function object(
  { properties = {}, required = [] }: CheckedSchema,
  { place, unknown = IGNORED, ...terms }: CheckTerms,
): Check {
  const isMissing = place === undefined ? "is required" : `is required ${place}`;
  // What belongs elsewhere does so at the outside only.
  const inner = { ...terms, unknown: { policy: unknown.policy } };
  const names = Object.keys(properties);
  const checks = new Map(Object.entries(properties).map(([name, schema]) => [name, compile(schema, inner)]));
  return (value, path) => {
    if (typeof value !== "object" || value === null || Array.isArray(value))
      return { param: path, fault: "must be object" };
    const fields = value as Readonly<Record<string, unknown>>;
    const nameOf = (name: string) => (path === "" ? name : `${path}.${name}`);
    // What was sent, not what may be: that is less, and looking for what is not there is slow.
    let wrong: Fault | undefined;
    for (const name of Object.keys(fields)) {
      const field = fields[name];
      if (field === undefined) continue;
      const check = checks.get(name);
      if (check === undefined) {
        const fault = unknownFault(name, names, fields, unknown);
        // Before what is missing: the unknown name may be that.
        if (fault !== undefined) return { param: nameOf(shownName(name)), ...fault };
      } else wrong ??= check(field, nameOf(name));
    }
    for (const name of required)
      if (fields[name] === undefined) return { param: nameOf(name), fault: isMissing };
    return wrong;
  };
}

function array(
  { items = {}, minItems = 0, maxItems = Number.POSITIVE_INFINITY }: CheckedSchema,
  terms: CheckTerms,
): Check {
  const check = compile(items, terms);
  return (value, param) => {
    if (!Array.isArray(value)) return { param, fault: "must be array" };
    if (value.length < minItems) return { param, fault: `must have at least ${minItems} entry` };
    if (value.length > maxItems) return { param, fault: `must have at most ${maxItems} entries` };
    for (const [i, item] of value.entries()) {
      const fault = check(item, `${param}[${i}]`);
      if (fault !== undefined) return fault;
    }
    return undefined;
  };
}

function string(schema: CheckedSchema, { refusesNul }: CheckTerms): Check {
  const { minLength = 0, maxLength = Number.POSITIVE_INFINITY } = schema;
  const pattern = schema.pattern === undefined ? undefined : new RegExp(schema.pattern, "u");
  assert(pattern === undefined || schema.title !== undefined, "a pattern is told in words");
  return (value, param) => {
    if (typeof value !== "string") return { param, fault: "must be string" };
    if (refusesNul && value.includes("\0")) return { param, fault: "must not contain U+0000" };
    if (schema.const !== undefined && value !== schema.const)
      return { param, fault: `must be ${schema.const}` };
    if (value.length < minLength) return { param, fault: `must have at least ${minLength} character` };
    // Lengths are in code points: counted only where the text might be too long.
    if (value.length > maxLength && [...value].length > maxLength)
      return { param, fault: `must have at most ${maxLength} characters` };
    if (pattern?.test(value) === false) return { param, fault: `must be ${schema.title}` };
    return undefined;
  };
}

function anyOf(schemas: readonly CheckedSchema[], terms: CheckTerms): Check {
  const checks = schemas.map((schema) => compile(schema, terms));
  const names = schemas.map((schema) => schema.const ?? schema.type);
  const fault = `must be ${names.slice(0, -1).join(", ")} or ${names.at(-1)}`;
  return (value, param) =>
    checks.some((check) => check(value, param) === undefined) ? undefined : { param, fault };
}
