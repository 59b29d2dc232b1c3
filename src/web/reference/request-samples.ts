/**
 * A call as code: for curl, for TypeScript (with the client where it has the call, else with fetch), and for Python
 * with its standard library. A call that takes a block gets it first: a block belongs to one account, so that none
 * written here could be read. A test runs every one of them against a real service.
 */

import type { CodeSample } from "../shell.ts";
import type { OperationDoc } from "./openapi.ts";

const ADDRESS = "http://127.0.0.1:8787";
/** For each group of calls, the variable that holds its key or token. */
const SECRETS: Readonly<Record<string, string>> = {
  Memory: "SIDEBAND_API_KEY",
  Admin: "SIDEBAND_ADMIN_TOKEN",
};
/** The longest JSON text that is written on one line. */
const LINE_LENGTH = 90;

/** The calls that the client has: the method and its arguments, by their names in the request. Other fields are options. */
const CLIENT_CALLS: Readonly<Record<string, readonly [method: string, ...args: string[]]>> = {
  encode: ["encode", "user_id", "label", "value"],
  encodeBatch: ["encodeBatch", "user_id", "facts"],
  context: ["context", "user_id"],
  decode: ["decode", "user_id", "label"],
  decodeModel: ["decodeModel", "user_id", "label"],
  flush: ["flush", "user_id"],
  read: ["read", "user_id", "block"],
  facts: ["facts", "user_id"],
  forgetFact: ["forget", "user_id", "label"],
  forgetUser: ["forgetUser", "user_id"],
  append: ["append", "user_id", "label", "item"],
  remove: ["remove", "user_id", "label", "item"],
  find: ["find", "user_id", "q"],
  history: ["history", "user_id", "label"],
  restore: ["restore", "user_id", "label", "revision"],
  rename: ["rename", "user_id", "label", "to"],
  changes: ["changes", "user_id"],
  rollback: ["rollback", "user_id", "to"],
  moveProject: ["moveProject", "user_id", "from", "to"],
  users: ["users"],
  projects: ["projects"],
  project: ["project", "project"],
  eraseProject: ["eraseProject", "project"],
  addLabel: ["addLabel", "label"],
  changeLabel: ["changeLabel", "label"],
  removeLabel: ["removeLabel", "label"],
  changeStrict: ["strictLabels", "strict"],
  labelSets: ["labelSets"],
  addLabelSet: ["addLabelSet", "set"],
  createToken: ["token", "user_id"],
  usage: ["usage"],
  usageDays: ["usageByDay"],
  audit: ["audit"],
  channels: ["channels"],
  demoEncode: ["demo.encode", "label", "value"],
  demoContext: ["demo.context"],
  demoFlush: ["demo.flush"],
  demoReset: ["demo.reset"],
};

/** The calls that take a block, each with the call whose answer has it (`fdm_block`). */
const BLOCK_SOURCES: Readonly<Record<string, string>> = { read: "/context", demoRead: "/demo/context" };

/** Where the block of a call's body comes from; undefined for a call that takes none. */
export function blockAddressOf({ id, example }: OperationDoc): string | undefined {
  const path = BLOCK_SOURCES[id];
  if (path === undefined) return undefined;
  const { user_id } = example.body as { readonly user_id?: string };
  return user_id === undefined ? path : `${path}?${new URLSearchParams({ user_id })}`;
}

/** The user of the README's examples, and the one that "Try it" begins with: nobody's facts are changed by trying. */
const README_USER = "ada";
export const TRY_USER = "try-it";

/** The call with another user than the README's. */
export function forTrying(operation: OperationDoc): OperationDoc {
  const example = JSON.parse(JSON.stringify(operation.example), (_, value) =>
    value === README_USER ? TRY_USER : value,
  );
  return { ...operation, example };
}

export function requestSamples(group: string, operation: OperationDoc): CodeSample[] {
  return [
    { language: "sh", text: curlText(group, operation) },
    { language: "ts", text: typescriptText(group, operation) },
    { language: "python", text: pythonText(group, operation) },
  ];
}

/** The address with its parameters filled in. */
export function addressOf({ path, example: { params, query } }: OperationDoc): string {
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => params[name] ?? name);
  const search = new URLSearchParams(query).toString();
  return filled + (search === "" ? "" : `?${search}`);
}

function curlText(group: string, operation: OperationDoc): string {
  const { method, example } = operation;
  const secret = SECRETS[group];
  // With a body curl sends a POST by itself.
  const verb = method === "GET" || (method === "POST" && example.body !== undefined) ? "" : ` -X ${method}`;
  const lines = [`curl -s${verb} "${ADDRESS}${addressOf(operation)}"`];
  if (secret !== undefined) lines.push(`-H "Authorization: Bearer $${secret}"`);
  const source = blockAddressOf(operation);
  if (source !== undefined) {
    // The answer becomes the next body. Only the block's field is renamed: a call ignores fields that it does not know.
    const [call, ...headers] = lines;
    const first = [`curl -s "${ADDRESS}${source}"`, ...headers].join(" \\\n    ");
    const second = [call, ...headers, '-H "Content-Type: application/json"', "-d @-"].join(" \\\n    ");
    return `${first} \\\n  | sed 's/fdm_block/block/' \\\n  | ${second}`;
  }
  if (example.body !== undefined) {
    const body = JSON.stringify(example.body);
    const shown = body.length > LINE_LENGTH ? JSON.stringify(example.body, null, 2) : body;
    lines.push('-H "Content-Type: application/json"', `-d '${shown.replaceAll("'", "'\\''")}'`);
  }
  return lines.join(" \\\n  ");
}

function typescriptText(group: string, operation: OperationDoc): string {
  const { id, method, example, answer } = operation;
  const secret = SECRETS[group];
  const call = CLIENT_CALLS[id];
  const source = blockAddressOf(operation);
  if (call !== undefined) {
    const [called, ...names] = call;
    const { params, query, body } = example;
    const values: Readonly<Record<string, unknown>> = { ...params, ...query, ...(body as object) };
    // A label in the path is one of the account's own, which the types do not know.
    const hasOwnLabel = params.label !== undefined;
    const args = names.map((name) => {
      if (name === "block") return "fdm_block";
      return name === "label" && hasOwnLabel ? `label(${literal(values[name])})` : literal(values[name]);
    });
    const others = Object.entries(values).filter(([name]) => !names.includes(name));
    if (others.length > 0) args.push(literal(Object.fromEntries(others.map(clientOption))));
    const options = secret === undefined ? "" : `apiKey: process.env.${secret}, `;
    const first = source === undefined ? "" : `const { fdm_block } = await memory.context(${args[0]});\n`;
    return `import { ${hasOwnLabel ? "label, " : ""}Sideband } from "sideband";

const memory = new Sideband({ ${options}baseUrl: "${ADDRESS}" });
${first}console.log(await memory.${called}(${args.join(", ")}));`;
  }
  const headers = [
    ...(secret === undefined ? [] : [`    Authorization: \`Bearer \${process.env.${secret}}\`,`]),
    ...(example.body === undefined ? [] : ['    "Content-Type": "application/json",']),
  ];
  const options = [
    ...(method === "GET" ? [] : [`  method: "${method}",`]),
    ...(headers.length === 0 ? [] : ["  headers: {", ...headers, "  },"]),
    ...(example.body === undefined
      ? []
      : [`  body: JSON.stringify(${withBlock(literal(example.body), "fdm_block")}),`]),
  ];
  const second = options.length === 0 ? "" : `, {\n${options.join("\n")}\n}`;
  const first =
    source === undefined
      ? ""
      : `const context = await fetch("${ADDRESS}${source}");\nconst { fdm_block } = await context.json();\n`;
  return `${first}const answer = await fetch("${ADDRESS}${addressOf(operation)}"${second});
console.log(await answer.${answer.length > 0 ? "json" : "text"}());`;
}

/** A field of a request as an option of the client: `dry_run` is dryRun, and a number in a query a number. */
function clientOption([name, value]: [string, unknown]): [string, unknown] {
  const option = name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
  return [option, name === "limit" ? Number(value) : value];
}

function pythonText(group: string, operation: OperationDoc): string {
  const { method, example, answer } = operation;
  const secret = SECRETS[group];
  const hasBody = example.body !== undefined;
  const imports = [
    ...(answer.length > 0 || hasBody ? ["json"] : []),
    ...(secret === undefined ? [] : ["os"]),
  ];
  const authorization =
    secret === undefined ? [] : [`request.add_header("Authorization", "Bearer " + os.environ["${secret}"])`];
  const lines = [`import ${[...imports, "urllib.request"].join(", ")}`, ""];
  const source = blockAddressOf(operation);
  if (source !== undefined) {
    lines.push(`request = urllib.request.Request("${ADDRESS}${source}")`, ...authorization);
    lines.push("with urllib.request.urlopen(request) as answer:");
    lines.push('    block = json.load(answer)["fdm_block"]', "");
  }
  lines.push(
    `request = urllib.request.Request("${ADDRESS}${addressOf(operation)}", method="${method}")`,
    ...authorization,
  );
  if (hasBody) {
    const body = withBlock(pythonLiteral(example.body), "block");
    lines.push('request.add_header("Content-Type", "application/json")');
    lines.push(`request.data = json.dumps(${body}).encode()`);
  }
  lines.push("with urllib.request.urlopen(request) as answer:");
  lines.push(answer.length > 0 ? "    print(json.load(answer))" : "    print(answer.read().decode())");
  return lines.join("\n");
}

/** The code of a body with a variable in place of its block. */
function withBlock(code: string, variable: string): string {
  return code.replace(/"\[MEM\][^"]*"/, variable);
}

/** A value as TypeScript; object keys need no quotes here. */
function literal(value: unknown): string {
  return oneLine(value).replace(/"(\w+)": /g, "$1: ");
}

/** JSON is valid Python except for these words. No example has one of them inside a text. */
function pythonLiteral(value: unknown): string {
  return oneLine(value)
    .replace(/\btrue\b/g, "True")
    .replace(/\bfalse\b/g, "False")
    .replace(/\bnull\b/g, "None");
}

function oneLine(value: unknown): string {
  const text = JSON.stringify(value, null, 1);
  const line = text.replace(/\n\s*/g, " ").replace(/([[]) | ([\]])/g, "$1$2");
  return line.length <= LINE_LENGTH ? line : JSON.stringify(value, null, 2);
}
