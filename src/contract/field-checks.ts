/**
 * The checks of what is sent to an operation, made of its schemas: in its path, its query and its body. What it does not
 * know is refused, except where others decide what is sent: the operations of the published interface ignore it, as that
 * says, but for a slip of a field that they know and that was not sent; where anyone reads without a key, whoever watches the service adds what
 * they like.
 */

import { type TSchema, Type } from "./type.ts";
import type { UnknownFields } from "./unknown-fields.ts";
import { compileSchema, type Validator } from "./validation.ts";

/** What the table of operations, and every other route, says of itself. */
interface CheckedRequest {
  readonly method: string;
  readonly access: string;
  readonly published?: true | undefined;
  readonly idempotent?: true | undefined;
  readonly conditional?: true | undefined;
  readonly query?: TSchema;
  readonly params?: TSchema;
  readonly body?: TSchema;
  readonly bodyBytesMax?: number | "stream" | undefined;
}

interface FieldChecks {
  readonly query: Validator;
  readonly params: Validator | undefined;
  readonly body: Validator | undefined;
}

const FREE_TO_ALL = new Set(["open", "any", "page", "origin", "preflight"]);
/** Where the key may be in the query of a GET. */
const WITH_KEY = new Set(["key", "any", "mcp"]);

function policyOf({ method, access, published }: CheckedRequest): UnknownFields {
  if (published === true) return "slips";
  return FREE_TO_ALL.has(access) && (method === "GET" || access === "page") ? "ignored" : "refused";
}

export function fieldChecks(request: CheckedRequest): FieldChecks {
  const { method, access, query, params, body, conditional, idempotent } = request;
  const policy = policyOf(request);
  const key = method === "GET" && WITH_KEY.has(access) ? { api_key: Type.Optional(Type.String()) } : {};
  const headers: [string, string][] = [
    ...(conditional ? [["if_revision", 'in the header If-Match: "17"']] : []),
    ...(idempotent ? [["idempotency_key", "in the header Idempotency-Key"]] : []),
  ] as [string, string][];
  const unknown = (...others: (readonly [TSchema | undefined, string])[]) => {
    const named = others.flatMap(([schema, place]) => namesOf(schema).map((name) => [name, place] as const));
    return { policy, elsewhere: new Map([...named, ...headers]) };
  };
  return {
    query: compileSchema(extended(query, key), {
      place: "in the query",
      refusesNul: true,
      unknown: unknown([body, "in the body"], [params, "in the path"]),
    }),
    params: params && compileSchema(params, { place: "in the path", refusesNul: true }),
    body: bodyCheck(request, {
      place: "in the body",
      unknown: unknown([query, "in the query"], [params, "in the path"]),
    }),
  };
}

/** Without a schema there may be no body, or an empty one. */
function bodyCheck(
  { method, body, bodyBytesMax }: CheckedRequest,
  terms: Parameters<typeof compileSchema>[1] & { readonly unknown: { readonly policy: UnknownFields } },
): Validator | undefined {
  if (body !== undefined) return compileSchema(body, terms);
  if (method === "GET" || bodyBytesMax === "stream" || terms.unknown.policy !== "refused") return undefined;
  const check = compileSchema(Type.Object({}), terms);
  return (value) => (value === undefined ? undefined : check(value));
}

function extended(schema: TSchema | undefined, more: Record<string, TSchema>): TSchema {
  const { required, properties } = (schema ?? Type.Object({})) as { required?: string[]; properties: object };
  return {
    type: "object",
    ...(required && { required }),
    properties: { ...properties, ...more },
  } as unknown as TSchema;
}

function namesOf(schema: TSchema | undefined): string[] {
  return Object.keys((schema as { properties?: object } | undefined)?.properties ?? {});
}
