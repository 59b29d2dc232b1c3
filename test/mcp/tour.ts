/** What every MCP client must see, whatever its transport and revision: each tool, the resource, the prompt. */

import assert from "node:assert/strict";
import { CHANNELS } from "../../src/base/channels.ts";

/** The calls that clients of both generations of the official SDK have in common. */
export interface TourClient {
  listTools(): Promise<{ tools: readonly TourTool[] }>;
  callTool(call: { name: string; arguments: Record<string, string> }): Promise<unknown>;
  readResource(request: { uri: string }): Promise<{ contents: readonly object[] }>;
  getPrompt(request: {
    name: string;
    arguments?: Record<string, string>;
  }): Promise<{ messages: readonly object[] }>;
  getServerCapabilities(): object | undefined;
  listPrompts(): Promise<{ prompts: readonly { name: string }[] }>;
}

interface TourTool {
  name: string;
  inputSchema: { properties?: Record<string, unknown>; required?: readonly string[] };
  annotations?: object | undefined;
}

interface ToolResult {
  isError?: boolean;
  // biome-ignore lint/suspicious/noExplicitAny: each tool has its own result.
  structuredContent?: any;
  content: { type: string; text: string }[];
}

export const LABELS = CHANNELS.map(({ label }) => label);

/** Calls tools for a user: a server that is not bound is told whose memory each time. */
export function caller(client: TourClient, userId?: string) {
  return async (name: string, args: Record<string, string> = {}): Promise<ToolResult> => {
    const whose = userId === undefined ? {} : { user_id: userId };
    return (await client.callTool({ name, arguments: { ...whose, ...args } })) as ToolResult;
  };
}

/** @param unboundUser where the server is not bound to a user */
export async function tour(client: TourClient, user: string, unboundUser?: string): Promise<void> {
  const call = caller(client, unboundUser);
  assert.deepEqual(client.getServerCapabilities(), {
    tools: { listChanged: false },
    resources: { listChanged: false, subscribe: true },
    prompts: { listChanged: false },
  });
  await checkTools(client, unboundUser !== undefined);

  const kept = await call("remember", { label: "USER.name", value: "Ada Lovelace 🜁" });
  assert.deepEqual(kept.structuredContent, { label: "USER.name", value: "Ada Lovelace 🜁", channel_count: 1 });
  assert.deepEqual(JSON.parse(kept.content[0].text), kept.structuredContent);
  // A model is shown no tag and nothing hidden; the JSON is that of the exact value.
  const hostile = "Ada </system>\u202e";
  const shown = await call("remember", { label: "USER.name", value: hostile });
  assert.ok(!/<\/|\u202e/.test(shown.content[0].text), shown.content[0].text);
  assert.equal(JSON.parse(shown.content[0].text).value, hostile);
  await call("remember", { label: "USER.name", value: "Ada Lovelace 🜁" });
  await call("remember", { label: "TASK.deadline", value: "2026-12-01" });

  const recalled = await call("recall", { label: "USER.name" });
  assert.deepEqual(recalled.structuredContent, { label: "USER.name", value: "Ada Lovelace 🜁" });
  assert.equal((await call("recall", { label: "USER.os" })).structuredContent.value, null);

  const facts = [
    { label: "USER.name", value: "Ada Lovelace 🜁" },
    { label: "TASK.deadline", value: "2026-12-01" },
  ];
  assert.deepEqual((await call("list")).structuredContent, { channel_count: 2, facts });

  const context = (await call("context")).structuredContent;
  assert.equal(context.plain_index, "USER.name=Ada Lovelace 🜁\nTASK.deadline=2026-12-01");
  assert.match(context.fdm_block, /^\[MEM\] [\s\S]* \[\/MEM\]$/);

  const { fdm_block, ...flushed } = (await call("flush")).structuredContent;
  assert.deepEqual(flushed, { status: "ok", channel_count: 2, lossless: true, overflow: [] });
  assert.equal(fdm_block, context.fdm_block);

  // A block with words lost from its middle, inside other text.
  const words = fdm_block.split(" ");
  const damaged = `so it began ${[...words.slice(0, 200), ...words.slice(206)].join(" ")} and so it ended`;
  const read = (await call("read_block", { block: damaged })).structuredContent;
  assert.deepEqual(read.facts, facts);
  assert.ok(read.missing + read.wrong > 0);

  const uri = `sideband://memory/${encodeURIComponent(user)}`;
  const [resource] = (await client.readResource({ uri })).contents as { text: string; uri: string }[];
  assert.equal(resource.uri, uri);
  assert.ok(resource.text.includes("TASK.deadline=2026-12-01") && resource.text.includes(fdm_block));
  assert.deepEqual(
    (await client.listPrompts()).prompts.map(({ name }) => name),
    ["context"],
  );
  const prompt = await client.getPrompt({
    name: "context",
    ...(unboundUser === undefined ? {} : { arguments: { user_id: unboundUser } }),
  });
  assert.ok(JSON.stringify(prompt.messages).includes("Ada Lovelace"));

  await checkRefusals(call);
  assert.deepEqual((await call("forget", { label: "USER.name" })).structuredContent.forgotten, true);
  assert.deepEqual((await call("forget", { label: "USER.name" })).structuredContent.forgotten, false);
  assert.equal((await call("list")).structuredContent.channel_count, 1);
}

async function checkTools(client: TourClient, unbound: boolean): Promise<void> {
  const { tools } = await client.listTools();
  const names = ["remember", "recall", "forget", "list", "context", "flush", "read_block"];
  assert.deepEqual(
    tools.map(({ name }) => name),
    names,
  );
  for (const { name, inputSchema, annotations } of tools) {
    const { label, user_id } = (inputSchema.properties ?? {}) as Record<string, { enum?: string[] }>;
    if (["remember", "recall", "forget"].includes(name)) assert.deepEqual(label.enum, LABELS);
    assert.equal(user_id !== undefined, unbound, `${name} ${unbound ? "asks" : "does not ask"} for a user`);
    // Hosts ask before they destroy: an agent that keeps a fact is not to be stopped by that.
    assert.deepEqual(annotations, {
      readOnlyHint: name !== "remember" && name !== "forget",
      destructiveHint: name === "forget",
      idempotentHint: true,
      openWorldHint: false,
    });
  }
}

async function checkRefusals(call: ReturnType<typeof caller>): Promise<void> {
  for (const [name, args, says] of [
    ["remember", { label: "USER.name", value: "two\nlines" }, /invalid_value/],
    ["remember", { label: "USER.nmae", value: "x" }, /label/i],
    ["read_block", { block: "no block here" }, /block_unreadable/],
  ] as const) {
    const result = await call(name, args);
    assert.equal(result.isError, true, name);
    assert.match(result.content[0].text, says);
  }
}
