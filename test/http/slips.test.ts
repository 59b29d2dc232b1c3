/**
 * What was sent is never ignored silently: every operation of the table is called with a slip in each of its parameters and
 * fields, with one that nobody knows, and with what belongs elsewhere. Nothing is done, and the answer names the name.
 */

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Operation } from "../../src/contract/operation.ts";
import { OPERATION_EXAMPLES } from "../../src/contract/operation-examples.generated.ts";
import { OPERATIONS, type OperationId } from "../../src/contract/operations.ts";
import { type Answer, type Running, startPortless } from "./running-service.ts";

let running: Running;
before(async () => {
  running = await startPortless();
  for (const [label, value, project] of [
    ["USER.name", "Ada Lovelace"],
    ["PREF.tools", "ripgrep; jq"],
    ["PROJ.repo", "loom.git", "loom"],
  ] as const)
    await running.call("POST", "/encode", { body: { user_id: "ada", label, value, project } });
});
after(() => running?.end());

const ADMIN = "admin-token-for-tests";
const ENTRIES = Object.entries(OPERATIONS) as [OperationId, Operation][];
/** Where anyone reads without a key, whoever watches the service adds what they like. */
const isFree = ({ access, method }: Operation) => method === "GET" && (access === "open" || access === "any");

interface Sent {
  readonly query: Record<string, string>;
  readonly body: Record<string, unknown> | undefined;
  readonly headers?: Record<string, string>;
}

function exampleOf(id: OperationId): Sent {
  const { query = {}, body } = OPERATION_EXAMPLES[id];
  return { query: { ...query }, body: body as Record<string, unknown> | undefined };
}

function send(id: OperationId, { query, body, headers }: Sent): Promise<Answer> {
  const { method, path, access } = OPERATIONS[id] as Operation;
  const { params = {} } = OPERATION_EXAMPLES[id];
  const search = new URLSearchParams(query).toString();
  const address = path.replace(/:(\w+)/g, (_, name) => params[name] ?? "x");
  return running.call(method, search === "" ? address : `${address}?${search}`, {
    ...(access === "admin" ? { key: ADMIN } : {}),
    ...(body === undefined ? {} : { body }),
    ...(headers && { headers }),
  });
}

const namesOf = (schema: unknown) =>
  Object.keys((schema as { properties?: object } | undefined)?.properties ?? {});

/** Two neighbours swapped, or the last letter twice. */
function slipOf(name: string): string {
  const at = [...name].findIndex((letter, i) => i > 0 && letter !== name[i + 1]);
  return at < 0 || at + 1 >= name.length
    ? name + name.at(-1)
    : name.slice(0, at) + name[at + 1] + name[at] + name.slice(at + 2);
}

async function refused(id: OperationId, sent: Sent, param: string, hint?: string): Promise<void> {
  const { status, json, text } = await send(id, sent);
  const what = `${id} ${JSON.stringify(sent)}: ${text}`;
  assert.equal(status, 400, what);
  assert.deepEqual([json.code, json.param], ["invalid_request", param], what);
  if (hint !== undefined) assert.equal(json.hint, hint, what);
}

/** A slip in each field of the objects of a list; how many there were. */
async function refusedInside(id: OperationId, { body }: Sent, list: string): Promise<number> {
  const { properties = {} } = ((OPERATIONS[id] as Operation).body ?? {}) as { properties?: object };
  const { items } = ((properties as Record<string, unknown>)[list] ?? {}) as { items?: unknown };
  for (const name of namesOf(items)) {
    const [first, ...rest] = body![list] as Record<string, unknown>[];
    const { [name]: value = "x", ...others } = first;
    const slip = slipOf(name);
    const sent = { query: {}, body: { ...body, [list]: [{ ...others, [slip]: value }, ...rest] } };
    await refused(id, sent, `${list}[0].${slip}`, name.length > 2 ? name : undefined);
  }
  return namesOf(items).length;
}

test("every operation names a slip in each parameter and field that it knows", async () => {
  let count = 0;
  for (const [id, operation] of ENTRIES.filter(([, one]) => !isFree(one))) {
    for (const where of ["query", "body"] as const) {
      for (const name of namesOf(operation[where])) {
        const sent = exampleOf(id);
        const fields: Record<string, unknown> = { ...sent[where] };
        const slip = slipOf(name);
        fields[slip] = fields[name] ?? "x";
        delete fields[name];
        // What is one or two letters long is near to too much, and the published interface ignores what it does not know.
        const isNamed = name.length > 2;
        if (!isNamed && operation.published) continue;
        await refused(id, { ...sent, [where]: fields } as Sent, slip, isNamed ? name : undefined);
        count += 1;
        count += await refusedInside(id, sent, name);
      }
    }
  }
  assert.ok(count > 150, `${count}`);
});

test("every operation of ours refuses a parameter and a field that nobody knows, and one without fields a body", async () => {
  const ours = ENTRIES.filter(([, one]) => !isFree(one) && !one.published);
  for (const [id, { method }] of ours) {
    const sent = exampleOf(id);
    await refused(id, { ...sent, query: { ...sent.query, colour: "red" } }, "colour");
    if (method !== "GET") await refused(id, { ...sent, body: { ...sent.body, colour: "red" } }, "colour");
  }
  assert.ok(ours.length > 40);
});

test("the published interface ignores what it does not know", async () => {
  const published = ENTRIES.filter(([, one]) => one.published);
  for (const [id, { method }] of published) {
    const sent = exampleOf(id);
    const plain = await send(id, sent);
    const more = { ...sent, query: { ...sent.query, colour: "red" } };
    assert.equal((await send(id, more)).status, plain.status, id);
    if (method === "GET") continue;
    const body = { ...sent.body, colour: "red", metadata: { a: 1 } };
    assert.equal((await send(id, { ...sent, body })).status, plain.status, id);
  }
  assert.equal(published.length, 12);
});

test("a condition that an operation does not take is refused, and one at the wrong place names the right one", async () => {
  const isWrite = ({ writes, access, method }: Operation) =>
    writes === true || (access === "admin" && method !== "GET");
  for (const [id, operation] of ENTRIES.filter(([, one]) => isWrite(one))) {
    const sent = exampleOf(id);
    // Who repeats a call with such a key believes that it is done once.
    if (!operation.idempotent && !operation.published)
      await refused(id, { ...sent, headers: { "idempotency-key": "k-1" } }, "Idempotency-Key");
    if (operation.conditional) {
      const where = operation.body === undefined ? "query" : "body";
      const fields = { ...sent[where], if_revision: where === "body" ? 3 : "3" };
      await refused(id, { ...sent, [where]: fields } as Sent, "if_revision");
    } else await refused(id, { ...sent, headers: { "if-match": '"3"' } }, "If-Match");
  }
});

test("slips of the past erase nothing, and their answers say what was meant", async () => {
  const facts = async () => (await running.call("GET", "/facts?user_id=ada&project=loom")).text;
  const before = await facts();
  for (const [method, path, body, param, hint] of [
    ["DELETE", "/users?user_id=ada&projet=loom", undefined, "projet", "project"],
    ["DELETE", "/users?user_id=ada", { project: "loom" }, "project", undefined],
    [
      "DELETE",
      "/facts?user_id=ada&label=USER.name&keep_histroy=true",
      undefined,
      "keep_histroy",
      "keep_history",
    ],
    ["DELETE", "/facts?user_id=ada&label=USER.name&if_revision=1", undefined, "if_revision", undefined],
    ["POST", "/encode", { user_id: "ada", label: "USER.name", value: "x", ttl: 60 }, "ttl", "ttl_s"],
    ["POST", "/encode", { user_id: "ada", label: "PROJ.goal", value: "x", proj: "loom" }, "proj", "project"],
    ["POST", "/encode", { user_id: "ada", label: "USER.name", value: "x", pin: true }, "pin", "pinned"],
    [
      "POST",
      "/encode?project=loom",
      { user_id: "ada", label: "USER.name", value: "x" },
      "project",
      undefined,
    ],
    [
      "POST",
      "/encode/batch",
      { user_id: "ada", facts: [{ label: "USER.name", value: "x", ttl: 60 }] },
      "facts[0].ttl",
      "ttl_s",
    ],
    ["POST", "/mcp?projet=loom", { jsonrpc: "2.0", id: 1, method: "ping" }, "projet", "project"],
  ] as const) {
    const { status, json, text } = await running.call(method, path, body === undefined ? {} : { body });
    assert.equal(status, 400, `${path}: ${text}`);
    assert.deepEqual([json.param, json.hint], [param, hint], text);
  }
  assert.equal(await facts(), before);
});
