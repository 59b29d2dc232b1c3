/** The tools, the resource and the prompt at /mcp, each checked against what the client knows. */

import assert from "node:assert/strict";
import { request as httpRequest, type IncomingMessage } from "node:http";
import type { Random } from "../../../src/base/random.ts";
import { MCP_ERAS, type McpCall, mcpRequest, rpcAnswers, toolRequest } from "../load/mcp-message.ts";
import { indexOf, newValue, pairs, type UserModel } from "./model.ts";
import type { Operation, SoakWorld, WriteOptions } from "./world.ts";

const TOOLS = ["remember", "recall", "find", "forget", "history"];
/** The service looks for changes every two seconds. */
const NOTICE_TIMEOUT_MS = 30_000;

type Call = Pick<McpCall, "key" | "era" | "user" | "path">;

/** An operation on one user, whom the server is bound to or each call names. */
function ofUser(
  name: string,
  weight: number,
  run: (visit: Visit, user: UserModel, random: Random) => Promise<void>,
): Operation {
  return {
    name,
    weight,
    run: (world, random) =>
      world.withUser(random, (user) => run(new Visit(name, world, random, user), user, random)),
  };
}

class Visit {
  readonly #name: string;
  readonly #world: SoakWorld;
  readonly #random: Random;
  readonly #user: UserModel;
  #call: Call;

  constructor(name: string, world: SoakWorld, random: Random, user: UserModel) {
    this.#name = name;
    this.#world = world;
    this.#random = random;
    this.#user = user;
    const bound = random.below(2) === 0;
    this.#call = { key: world.key, era: random.pick(MCP_ERAS), user: bound ? user.id : undefined };
  }

  get isBound(): boolean {
    return this.#call.user !== undefined;
  }

  /** From here on the server has the tools of the block, too. */
  withBlock(): this {
    this.#call = { ...this.#call, user: undefined, path: "/mcp?include=both" };
    return this;
  }

  /** What a tool returns; with `change`, once that has happened. */
  async tool(name: string, args: Record<string, string>, change?: WriteOptions) {
    const whose = this.#call.user === undefined ? { user_id: this.#user.id } : {};
    const request = toolRequest(this.#call, name, { ...whose, ...args });
    const reply =
      change === undefined
        ? await this.#world.ask(this.#name, this.#random, request)
        : await this.#world.write(this.#name, this.#random, this.#user, request, change);
    const [{ result, error }] = rpcAnswers(reply);
    assert.equal(error, undefined);
    if (result.isError && /^overloaded: /.test(result.content[0].text)) this.#world.refuse();
    assert.notEqual(result.isError, true, JSON.stringify(result));
    const { content, structuredContent } = result;
    // Of a change a model is told one line.
    if (structuredContent.result !== undefined) assert.equal(content[0].text, structuredContent.result);
    else assert.deepEqual(JSON.parse(content[0].text), structuredContent);
    return structuredContent;
  }

  async result(method: string, params: Record<string, unknown>) {
    const request = mcpRequest({ ...this.#call, method, params });
    const [{ result, error }] = rpcAnswers(await this.#world.ask(this.#name, this.#random, request));
    if (/block work/.test(error?.message ?? "")) this.#world.refuse();
    assert.equal(error, undefined);
    return result;
  }

  get promptArguments(): Record<string, unknown> {
    return this.#call.user === undefined ? { arguments: { user_id: this.#user.id } } : {};
  }
}

export const MCP_OPERATIONS: readonly Operation[] = [
  ofUser("mcp remember", 30, async (visit, user, random) => {
    const fact = { label: random.pick(user.labels), value: newValue(random) };
    const after = user.with([fact]);
    const { label, value } = await visit.tool("remember", fact, { after, encodes: 1 });
    assert.deepEqual({ label, value }, fact);
  }),

  ofUser("mcp recall", 30, async (visit, user, random) => {
    const label = random.pick(user.labels);
    const { value } = await visit.tool("recall", { label });
    assert.equal(value, user.facts.get(label) ?? null);
  }),

  ofUser("mcp forget", 8, async (visit, user, random) => {
    const label = random.pick(user.labels);
    const forgotten = user.facts.has(label);
    const change = forgotten ? { after: user.without(label), encodes: 0 } : undefined;
    assert.equal((await visit.tool("forget", { label }, change)).forgotten, forgotten);
  }),

  ofUser("mcp recall all", 25, async (visit, user) => {
    const { facts } = await visit.tool("recall", {});
    assert.deepEqual(
      facts.map(({ label, value }: { label: string; value: string }) => ({ label, value })),
      pairs(user.facts),
    );
  }),

  ofUser("mcp flush", 4, async (visit, user) => {
    const { channel_count, lossless, overflow } = await visit.withBlock().tool("flush", {});
    assert.equal(channel_count, user.facts.size);
    if (user.fits) assert.deepEqual([lossless, overflow], [true, []]);
  }),

  ofUser("mcp read_block", 5, async (visit, user) => {
    if (user.context?.version !== user.version || user.context.block === "") return;
    const { facts } = await visit.withBlock().tool("read_block", { block: user.context.block });
    const marked = pairs(user.facts).map((fact) => ({ ...fact, mark: "current" }));
    if (user.fits) assert.deepEqual(facts, marked);
  }),

  ofUser("mcp resource", 5, async (visit, user) => {
    const uri = `sideband://memory/${encodeURIComponent(user.id)}`;
    const { contents } = await visit.result("resources/read", { uri });
    assert.ok(contents[0].text.includes(indexOf(user.facts)));
  }),

  ofUser("mcp prompt", 5, async (visit, user) => {
    const { messages } = await visit.result("prompts/get", { name: "context", ...visit.promptArguments });
    assert.ok(messages[0].content.text.includes(indexOf(user.facts)));
  }),

  ofUser("mcp tools", 5, async (visit) => {
    const { tools } = await visit.result("tools/list", {});
    // A server that is bound to a user adds no labels.
    const others = tools
      .map(({ name }: { name: string }) => name)
      .filter((name: string) => name !== "add_label");
    assert.deepEqual([others, tools.length], [TOOLS, TOOLS.length + (visit.isBound ? 0 : 1)]);
  }),

  {
    name: "mcp subscription",
    weight: 2,
    run: (world, random) =>
      world.withUser(random, async (user) => {
        const stream = await listen(world, user);
        try {
          const fact = { label: random.pick(user.labels), value: newValue(random) };
          const notice = hears(stream, "notifications/resources/updated");
          // Nobody waits for it where the write is cut off.
          notice.catch(() => {});
          const call: Call = { key: world.key, era: "2026-07-28", user: user.id };
          const options = { after: user.with([fact]), encodes: 1 };
          await world.write("mcp subscription", random, user, toolRequest(call, "remember", fact), options);
          await notice;
        } finally {
          stream.destroy();
        }
      }),
  },
];

/** Opens a stream of notices about a user's memory; the first event says that it is there. */
function listen(world: SoakWorld, user: UserModel): Promise<IncomingMessage> {
  const notifications = { resourceSubscriptions: [`sideband://memory/${encodeURIComponent(user.id)}`] };
  const method = "subscriptions/listen";
  const { body, ...request } = mcpRequest({
    key: world.key,
    era: "2026-07-28",
    user: user.id,
    method,
    params: { notifications },
  });
  return new Promise((resolve, reject) => {
    const { hostname, port } = new URL(world.server.url);
    const sent = httpRequest({ hostname, port, ...request, agent: false }, async (stream) => {
      assert.equal(stream.statusCode, 200);
      await hears(stream, "notifications/subscriptions/acknowledged").then(() => resolve(stream), reject);
    });
    sent.on("error", reject).end(body);
  });
}

function hears(stream: IncomingMessage, what: string): Promise<void> {
  return new Promise((resolve, reject) => {
    let text = "";
    const timer = setTimeout(
      () => reject(new Error(`no ${what} within ${NOTICE_TIMEOUT_MS} ms, but ${text}`)),
      NOTICE_TIMEOUT_MS,
    );
    const look = (chunk: Buffer) => {
      text += chunk;
      if (!text.includes(what)) return;
      clearTimeout(timer);
      stream.off("data", look);
      resolve();
    };
    stream.on("data", look);
    stream.once("error", () => {});
  });
}
