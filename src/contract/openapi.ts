/** The OpenAPI 3.1 document, made of the table of operations and the table of errors. */

import { LABELS } from "../base/channel-labels.ts";
import { ERRORS } from "../base/error-codes.ts";
import { IDEMPOTENCY_KEY_LENGTH_MAX } from "../base/limits.ts";
import type { Operation, OperationExample } from "./operation.ts";
import { OPERATION_EXAMPLES } from "./operation-examples.generated.ts";
import { errorsOf, OPERATIONS, type OperationId } from "./operations.ts";
import { Label } from "./schemas.ts";
import type { TSchema } from "./type.ts";

type Json = Record<string, unknown>;

/** A new operation has none until `npm run examples` has called it. */
function exampleOf(id: OperationId): Partial<OperationExample> {
  return OPERATION_EXAMPLES[id] ?? {};
}

export function openApiDocument(info: { version: string; serverUrl: string }): Json {
  const paths: Record<string, Json> = {};
  for (const [id, operation] of Object.entries(OPERATIONS) as [OperationId, Operation][]) {
    const path = operation.path.replace(/:(\w+)/g, "{$1}");
    paths[path] = { ...paths[path], [operation.method.toLowerCase()]: describe(id, operation) };
  }
  return {
    openapi: "3.1.0",
    info: {
      title: "Sideband",
      version: info.version,
      summary: "Persistent fact memory for AI agents",
      description:
        "Facts are written by label onto 40 channels per user and handed back one by one, or together, as many as fit, as one sealed block of 512 tokens. Every path also exists under /v1.",
    },
    servers: [{ url: info.serverUrl }],
    paths: withLabelNamed(paths),
    components: {
      securitySchemes: {
        key: { type: "http", scheme: "bearer", description: "An API key, `sb_live_…`, or a token, `sbt_…`." },
        keyInQuery: { type: "apiKey", in: "query", name: "api_key", description: "For GET only." },
        admin: { type: "http", scheme: "bearer", description: "The operator's admin token." },
      },
      // As examples, not as an enum: a label that is added later must not break a generated client.
      schemas: { Label: { ...Label, examples: LABELS }, Problem: problemSchema() },
    },
  };
}

/** The label's schema stands once, with all labels, and is referred to everywhere else. */
function withLabelNamed(paths: Json): Json {
  const reference = { $ref: "#/components/schemas/Label" };
  return JSON.parse(JSON.stringify(paths, (_, value) => (value === Label ? reference : value)));
}

function describe(id: OperationId, operation: Operation): Json {
  const { access, answer, text, status = 200 } = operation;
  const example = exampleOf(id);
  const content = {
    [text ?? "application/json"]: { ...(answer && { schema: answer }), example: example.answer },
  };
  return {
    operationId: id,
    summary: operation.summary,
    tags: [{ key: "Memory", demo: "Demo", open: "Service", any: "Service", admin: "Admin" }[access]],
    security: securityOf(operation),
    parameters: parametersOf(operation, example),
    ...(operation.body === undefined
      ? {}
      : {
          requestBody: {
            required: true,
            content: { "application/json": { schema: operation.body, example: example.body } },
          },
        }),
    responses: { [status]: { description: "Success", content }, ...errorResponses(operation) },
  };
}

function securityOf({ access, method }: Operation): Json[] {
  if (access === "admin") return [{ admin: [] }];
  if (access !== "key") return [];
  return method === "GET" ? [{ key: [] }, { keyInQuery: [] }] : [{ key: [] }];
}

const IDEMPOTENCY_KEY = headerOf("Idempotency-Key", "Replays the first 2xx answer for 24 hours.", {
  maxLength: IDEMPOTENCY_KEY_LENGTH_MAX,
});
const CONDITIONS = [
  headerOf(
    "If-Match",
    'The revision that the fact must have now, in quotes: `"17"`, as in the ETag of encode and decode. Otherwise 412, and nothing is written.',
  ),
  headerOf("If-None-Match", "`*`: there must be no such fact. Otherwise 412, and nothing is written."),
];

function headerOf(name: string, description: string, more: Json = {}): Json {
  return { name, in: "header", required: false, schema: { type: "string", ...more, description } };
}

function parametersOf(
  { query, params, idempotent, conditional }: Operation,
  example: Partial<OperationExample>,
): Json[] {
  const values: Readonly<Record<string, string>> = { ...example.params, ...example.query };
  const list = (schema: TSchema | undefined, where: string) => {
    const { properties = {}, required = [] } = (schema ?? {}) as {
      properties?: Record<string, Json>;
      required?: string[];
    };
    return Object.entries(properties).map(([name, property]) => ({
      name,
      in: where,
      required: required.includes(name),
      schema: name === "use_model" ? { type: "boolean", description: property.description } : property,
      ...(values[name] === undefined ? {} : { example: name === "use_model" ? true : values[name] }),
    }));
  };
  const headers = [...(idempotent ? [IDEMPOTENCY_KEY] : []), ...(conditional ? CONDITIONS : [])];
  return [...list(params, "path"), ...list(query, "query"), ...headers];
}

/** Codes that share a status share a response. */
function errorResponses(operation: Operation): Json {
  const responses: Record<string, { description: string; content: Json }> = {};
  for (const code of errorsOf(operation)) {
    const { status, meaning } = ERRORS[code];
    const line = `\`${code}\`: ${meaning}`;
    const before = responses[status];
    responses[status] = {
      description: before === undefined ? line : `${before.description}\n\n${line}`,
      content: { "application/problem+json": { schema: { $ref: "#/components/schemas/Problem" } } },
    };
  }
  return responses;
}

function problemSchema(): Json {
  const string = { type: "string" };
  return {
    type: "object",
    description: "RFC 9457",
    required: ["type", "title", "status", "detail", "code", "request_id"],
    properties: {
      type: string,
      title: string,
      status: { type: "integer" },
      detail: string,
      code: { type: "string", enum: Object.keys(ERRORS) },
      request_id: string,
      param: string,
      hint: string,
      upgrade_url: string,
      present: { type: ["object", "null"], description: "With `revision_mismatch`: the fact that is there." },
      items: { type: "array", items: string, description: "Of a list: the items that it has." },
    },
  };
}
