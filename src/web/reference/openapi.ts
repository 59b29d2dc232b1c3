/** The parts of an OpenAPI 3.1 document that the reference shows, flattened into rows. */

interface SchemaDoc {
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly properties?: Readonly<Record<string, SchemaDoc>>;
  readonly required?: readonly string[];
  readonly items?: SchemaDoc;
  readonly anyOf?: readonly SchemaDoc[];
  readonly const?: unknown;
  readonly minLength?: number;
  readonly maxLength?: number;
}

interface Content {
  readonly schema?: SchemaDoc;
  readonly example?: unknown;
}

interface DocumentOperation {
  readonly operationId: string;
  readonly summary: string;
  readonly tags: readonly string[];
  readonly parameters?: readonly {
    readonly name: string;
    readonly in: string;
    readonly required?: boolean;
    readonly schema: SchemaDoc;
    readonly example?: unknown;
  }[];
  readonly requestBody?: { readonly content: Readonly<Record<string, Content>> };
  readonly responses: Readonly<
    Record<
      string,
      {
        readonly description: string;
        readonly content?: Readonly<Record<string, Content>>;
      }
    >
  >;
}

export interface Document {
  readonly info: { readonly version: string; readonly description: string };
  readonly components: { readonly schemas: Readonly<Record<string, SchemaDoc>> };
  readonly paths: Readonly<Record<string, Readonly<Record<string, DocumentOperation>>>>;
}

export interface Field {
  readonly name: string;
  readonly type: string;
  readonly required: boolean;
  readonly about: string;
}

export interface OperationDoc {
  readonly id: string;
  readonly method: string;
  readonly path: string;
  readonly summary: string;
  readonly parameters: readonly (Field & { readonly place: string })[];
  readonly body: readonly Field[];
  readonly answer: readonly Field[];
  readonly errors: readonly { readonly status: string; readonly code: string; readonly meaning: string }[];
  readonly example: ExampleDoc;
}

/** A request and its answer, as the document has them. */
interface ExampleDoc {
  /** Values of the parameters in the path and in the query. */
  readonly params: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, string>>;
  readonly body: unknown;
  readonly status: string;
  readonly answer: unknown;
}

const GROUPS: readonly (readonly [name: string, about: string])[] = [
  ["Memory", "With an API key: Authorization: Bearer sb_live_…, or ?api_key= for GET."],
  ["Demo", "Without a key, on one public state that is reset regularly."],
  ["Service", "Without a key."],
  ["Admin", "With the operator's admin token."],
];

export function groupsOf(document: Document): { name: string; about: string; operations: OperationDoc[] }[] {
  const all = Object.entries(resolved(document)).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      group: operation.tags[0],
      text: describe(method.toUpperCase(), path, operation),
    })),
  );
  return GROUPS.map(([name, about]) => ({
    name,
    about,
    operations: all.filter(({ group }) => group === name).map(({ text }) => text),
  })).filter(({ operations }) => operations.length > 0);
}

/** The paths with each reference replaced by the schema that it names. */
function resolved({ paths, components }: Document): Document["paths"] {
  const schemaOf = (reference: string) => components.schemas[reference.split("/").at(-1)!];
  return JSON.parse(JSON.stringify(paths), (_, value) =>
    typeof value?.$ref === "string" ? schemaOf(value.$ref) : value,
  );
}

function describe(method: string, path: string, operation: DocumentOperation): OperationDoc {
  const { operationId, summary, parameters = [], requestBody, responses } = operation;
  const [status = "", success] = Object.entries(responses).find(([code]) => code.startsWith("2")) ?? [];
  const valuesIn = (place: string) =>
    Object.fromEntries(
      parameters
        .filter((parameter) => parameter.in === place && parameter.example !== undefined)
        .map(({ name, example }) => [name, String(example)]),
    );
  return {
    id: operationId,
    method,
    path,
    summary,
    parameters: parameters.map(({ name, in: place, required = false, schema }) => ({
      name,
      place,
      required,
      type: typeOf(schema),
      about: schema.description ?? "",
    })),
    body: fieldsOf(requestBody?.content["application/json"]?.schema),
    answer: fieldsOf(success?.content?.["application/json"]?.schema),
    errors: Object.entries(responses)
      .filter(([status]) => Number(status) >= 400)
      .flatMap(([status, { description }]) =>
        description.split("\n\n").map((line) => {
          const [, code = "", meaning = line] = /^`(\w+)`: (.*)$/s.exec(line) ?? [];
          return { status, code, meaning };
        }),
      ),
    example: {
      params: valuesIn("path"),
      query: valuesIn("query"),
      body: requestBody?.content["application/json"]?.example,
      status,
      answer: Object.values(success?.content ?? {})[0]?.example,
    },
  };
}

/** The fields of an object. Fields of inner objects and lists have a path: `facts[].label`. */
function fieldsOf(schema: SchemaDoc | undefined, prefix = ""): Field[] {
  return Object.entries(schema?.properties ?? {}).flatMap(([name, field]) => {
    const path = prefix + name;
    const row = {
      name: path,
      type: typeOf(field),
      required: schema?.required?.includes(name) ?? false,
      about: field.description ?? "",
    };
    const inner =
      field.items === undefined ? fieldsOf(field, `${path}.`) : fieldsOf(field.items, `${path}[].`);
    return [row, ...inner];
  });
}

export function typeOf({ type, anyOf, items, const: fixed }: SchemaDoc): string {
  if (fixed !== undefined) return JSON.stringify(fixed);
  if (anyOf !== undefined) return anyOf.map(typeOf).join(" or ");
  if (items !== undefined) return `list of ${typeOf(items)}s`;
  return typeof type === "string" ? type : (type?.join(" or ") ?? "anything");
}
