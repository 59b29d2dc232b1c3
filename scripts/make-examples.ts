/**
 * Makes an example of every operation by calling a real service, in an order in which each call has what it needs. Blocks
 * and lists are shortened and secrets are left out; everything else is as the service answered.
 */

import type { OperationExample } from "../src/contract/operation.ts";
import { OPERATIONS, type OperationId } from "../src/contract/operations.ts";

export type Examples = Readonly<Record<OperationId, OperationExample>>;

interface Target {
  readonly url: string;
  readonly key: string;
  readonly adminToken: string;
}

interface Request {
  readonly params?: Record<string, string>;
  readonly query?: Record<string, string>;
  readonly body?: unknown;
}

/** The settings under which two services answer alike, whatever the time is: the demo is reset at midnight alone. */
export const EXAMPLE_SETTINGS = {
  SIDEBAND_MASTER_KEY: "5b".repeat(32),
  SIDEBAND_DEMO: "1",
  SIDEBAND_DEMO_RESET_S: "86400",
};
const LIST_LENGTH = 3;
const WORDS_SHOWN = 4;
const USER = { user_id: "ada" };
/** Whoever tries a deletion has "ada" from the README: that user's facts stay. */
const FORGOTTEN = { user_id: "a-user-to-forget" };
const DEADLINE = { label: "TASK.deadline", value: "2026-12-01" };
const NAME = { label: "USER.name", value: "Ada Lovelace" };
const ASKING = { name: "Grace Hopper", email: "grace@navy.example", purpose: "An assistant that remembers." };

export async function makeExamples(target: Target): Promise<Examples> {
  const made: Partial<Record<OperationId, OperationExample>> = {};
  const example = async (id: OperationId, request: Request = {}) => {
    // biome-ignore lint/suspicious/noExplicitAny: each operation answers in its own shape.
    const { status, answer } = (await callOperation(target, id, request)) as { status: number; answer: any };
    if (status >= 400) throw new Error(`${id} answered ${status}: ${JSON.stringify(answer)}`);
    made[id] = shorten({ ...request, status, answer }) as OperationExample;
    return answer;
  };

  await example("encode", { body: { ...USER, ...DEADLINE } });
  await example("encodeBatch", { body: { ...USER, facts: [NAME, DEADLINE] } });
  const { fdm_block: block } = await example("context", { query: USER });
  await example("decode", { query: { ...USER, label: DEADLINE.label } });
  await example("decodeModel", { query: { ...USER, label: DEADLINE.label } });
  await example("flush", { body: USER });
  await example("read", { body: { ...USER, block } });
  await example("facts", { query: USER });
  await example("append", { body: { ...USER, label: "PREF.tools", item: "ripgrep" } });
  await callOperation(target, "append", { body: { ...USER, label: "PREF.tools", item: "jq" } });
  await example("remove", { body: { ...USER, label: "PREF.tools", item: "jq" } });
  const { revisions } = await example("history", { query: { ...USER, label: "PREF.tools" } });
  const { revision } = revisions.find(({ ended }: { ended?: string }) => ended !== undefined);
  await example("restore", { body: { ...USER, label: "PREF.tools", revision } });
  await example("rename", { body: { ...USER, label: "PREF.tools", to: "DESK.tools" } });
  await example("find", { query: { ...USER, q: "dead line" } });
  await example("changes", { query: { ...USER, limit: "2" } });
  const to = new Date().toISOString();
  await example("rollback", { body: { ...USER, to, dry_run: true } });
  await callOperation(target, "encode", { body: { ...USER, ...DEADLINE, project: "loom-old" } });
  await example("moveProject", { body: { ...USER, from: "loom-old", to: "loom-3f2a9c81d04e" } });
  await example("users");
  const shared = { project: "loom-3f2a9c81d04e" };
  await callOperation(target, "encode", {
    body: { ...USER, label: "PROJ.goal", value: "Ship it", ...shared },
  });
  await example("shareProject", {
    params: shared,
    body: { shared: true, members: [USER.user_id, "bo"], take: USER },
  });
  await example("projects");
  await example("project", { params: shared });
  await example("adminProjects", { query: { account: "acme" } });
  await example("eraseProject", { params: shared });
  await example("export", { query: USER });
  made.events = { query: USER, status: 200, answer: await firstEvent(target) };
  const wife = { label: "FAMILY.wife", description: "What the user's wife is called", example: "Chidi" };
  await example("addLabel", { body: wife });
  await example("addLabelSet", { body: { set: "team" } });
  await example("changeStrict", { body: { strict: false } });
  await example("changeLabel", { params: { label: wife.label }, body: { max_bytes: 100 } });
  await callOperation(target, "addLabel", { body: { ...wife, label: "FAMILY.dog" } });
  await example("removeLabel", { params: { label: "FAMILY.dog" } });
  await callOperation(target, "encodeBatch", { body: { ...FORGOTTEN, facts: [NAME, DEADLINE] } });
  await example("forgetFact", { query: { ...FORGOTTEN, label: DEADLINE.label } });
  await example("forgetUser", { query: FORGOTTEN });
  await example("createToken", { body: { ...USER, access: "read", ttl_s: 3600 } });
  await example("usage");
  await example("usageDays");
  await example("audit", { query: { operation: "forgetUser" } });
  await example("demoEncode", { body: DEADLINE });
  const { fdm_block: demoBlock } = await example("demoContext");
  await example("demoDecode", { query: { label: DEADLINE.label, use_model: "true" } });
  await example("demoFlush");
  await example("demoRead", { body: { block: demoBlock } });
  await example("demoKey");
  await example("demoForget", { query: { label: DEADLINE.label } });
  await example("demoReset");
  await example("channels");
  await example("labelSets");
  await example("openapi");
  await example("health");
  await example("ready");
  await example("metrics");
  const { id } = await example("adminCreateKey", { body: { account: "navy", tier: "pro", note: "Grace" } });
  await example("adminKeys", { query: { account: "navy" } });
  await example("adminExpireKey", { params: { id }, body: { expires_at: "2027-01-31T23:59:59.000Z" } });
  await example("adminChangeKey", { params: { id }, body: { tier: "builder" } });
  await example("adminRevokeKey", { params: { id } });
  await example("adminChangeAccount", { params: { account: "navy" }, body: { monthly_limit: 100000 } });
  await example("adminAccounts");
  await example("adminUsers", { query: { account: "acme" } });
  await example("adminLabels", { query: { account: "acme" } });
  await example("adminChangeLabels", { body: { account: "acme", strict: true } });
  await callOperation(target, "adminChangeLabels", { body: { account: "acme", strict: false } });
  await example("adminUsage");
  const requestIds: string[] = [];
  for (let i = 0; i < 3; i++) {
    await example("requestKey", { body: ASKING });
    requestIds.push(
      (await example("adminKeyRequests")).requests.find(({ status }: { status: string }) => status === "open")
        .id,
    );
    if (i === 0)
      await example("adminApprove", { params: { id: requestIds[i] }, body: { account: "hopper" } });
    if (i === 1) await example("adminDecline", { params: { id: requestIds[i] } });
    if (i === 2) await example("adminDeleteRequest", { params: { id: requestIds[i] } });
  }
  await example("adminAddOperator", { body: { name: "grace", access: "read" } });
  await example("adminOperators");
  await example("adminRemoveOperator", { params: { name: "grace" } });
  await example("adminAudit", { query: { account: "navy", limit: "2" } });
  await example("adminStatus");
  return made as Examples;
}

/** What a listener hears of one change. */
async function firstEvent(target: Target): Promise<string> {
  const ended = new AbortController();
  const { body } = await fetch(`${target.url}/users/events?${new URLSearchParams(USER)}`, {
    headers: { authorization: `Bearer ${target.key}` },
    signal: ended.signal,
  });
  await callOperation(target, "encode", { body: { ...USER, ...DEADLINE, written_by: "claude-code" } });
  let text = "";
  for await (const chunk of body!.pipeThrough(new TextDecoderStream())) {
    text += chunk;
    if (text.includes("data:") && text.endsWith("\n\n")) break;
  }
  ended.abort();
  return text.slice(text.indexOf("id:"));
}

export async function callOperation(
  { url, key, adminToken }: Target,
  id: OperationId,
  { params = {}, query, body }: Request,
): Promise<{ status: number; answer: unknown }> {
  const { method, path, access } = OPERATIONS[id];
  const filled = path.replace(/:(\w+)/g, (_, name: string) => params[name]);
  const bearer = access === "key" ? key : access === "admin" ? adminToken : undefined;
  const response = await fetch(
    `${url}${filled}${query === undefined ? "" : `?${new URLSearchParams(query)}`}`,
    {
      method,
      headers: {
        ...(bearer === undefined ? {} : { authorization: `Bearer ${bearer}` }),
        ...(body === undefined ? {} : { "content-type": "application/json" }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    },
  );
  const text = await response.text();
  const isJson = /^application\/(problem\+)?json\b/.test(response.headers.get("content-type") ?? "");
  return { status: response.status, answer: isJson ? JSON.parse(text) : text };
}

/** An answer as the documents show it. */
export function shorten(value: unknown, name = ""): unknown {
  if (Array.isArray(value)) return value.slice(0, LIST_LENGTH).map((item) => shorten(item));
  if (typeof value === "object" && value !== null) {
    const entries = Object.entries(value);
    // The OpenAPI document would contain itself.
    const shown =
      "openapi" in value ? entries.filter(([key]) => key === "openapi" || key === "info") : entries;
    return Object.fromEntries(shown.map(([key, inner]) => [key, shorten(inner, key)]));
  }
  if (typeof value !== "string") return value;
  if (value.startsWith("sb_live_")) return "sb_live_…";
  if (value.startsWith("sbt_")) return "sbt_…";
  if (value.startsWith("sbo_")) return "sbo_…";
  if (name === "material") return "…";
  if (value.startsWith("# HELP")) return `${value.split("\n").slice(0, 2).join("\n")}\n…`;
  return shortBlock(value);
}

/** [MEM] with its first words, "…" and its last word. */
function shortBlock(text: string): string {
  if (!text.startsWith("[MEM] ")) return text;
  const words = text.split(" ");
  return [...words.slice(0, WORDS_SHOWN + 1), "…", ...words.slice(-2)].join(" ");
}
