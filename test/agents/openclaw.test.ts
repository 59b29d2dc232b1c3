/**
 * OpenClaw: the skill's own commands are run by a shell, and the plugin is loaded as the host loads it, against
 * a stand-in for the host's entry point and the built package.
 */

import assert from "node:assert/strict";
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { suite, test } from "node:test";
import { pathToFileURL } from "node:url";
import { memorySection } from "../../src/sdk/index.ts";
import { startRunning } from "../http/running-service.ts";
import { closedPort } from "../unit/sdk/scripted-server.ts";
import { packageFolder } from "./built.ts";
import { type Host, makeHost } from "./host.ts";

interface PluginTool {
  name: string;
  parameters: object;
  execute(
    id: string,
    params: object,
  ): Promise<{ content: { text: string }[]; details: Record<string, unknown> }>;
}

/** What a plugin registers with the host. */
class PluginApi {
  readonly tools = new Map<string, PluginTool>();
  readonly hooks = new Map<string, (event: object, context: object) => Promise<unknown>>();
  readonly warnings: string[] = [];
  readonly logger = { warn: (line: string) => void this.warnings.push(line) };
  readonly pluginConfig: Record<string, unknown>;
  capability: { promptBuilder(): string[]; flushPlanResolver(): unknown } | undefined;

  constructor(pluginConfig: Record<string, unknown>) {
    this.pluginConfig = pluginConfig;
  }
  registerTool(tool: PluginTool) {
    this.tools.set(tool.name, tool);
  }
  registerMemoryCapability(capability: NonNullable<PluginApi["capability"]>) {
    this.capability = capability;
  }
  on(name: string, handler: (event: object, context: object) => Promise<unknown>) {
    this.hooks.set(name, handler);
  }
}

async function loadPlugin(host: Host, config: Record<string, unknown>): Promise<PluginApi> {
  const folder = join(host.home, ".openclaw", "sideband-plugin");
  const sdk = join(folder, "node_modules", "openclaw");
  mkdirSync(join(sdk, "plugin-sdk"), { recursive: true });
  writeFileSync(
    join(sdk, "package.json"),
    JSON.stringify({
      name: "openclaw",
      type: "module",
      exports: { "./plugin-sdk/plugin-entry": "./plugin-sdk/plugin-entry.js" },
    }),
  );
  writeFileSync(
    join(sdk, "plugin-sdk", "plugin-entry.js"),
    "export const definePluginEntry = (entry) => entry;\n",
  );
  symlinkSync(packageFolder, join(folder, "node_modules", "sideband"), "dir");
  const manifest = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  const entry = (await import(pathToFileURL(join(folder, manifest.openclaw.extensions[0])).href)).default;
  assert.deepEqual([entry.id, entry.kind], ["sideband", "memory"]);
  const api = new PluginApi(config);
  entry.register(api);
  return api;
}

suite("OpenClaw", { concurrency: false }, () => {
  test("each command of the skill works when pasted", async (t) => {
    const running = await startRunning();
    t.after(() => running.end());
    const host = makeHost(t);
    assert.equal((await host.shell("sideband agents install openclaw")).status, 0);
    const skill = readFileSync(join(host.home, ".openclaw", "skills", "sideband", "SKILL.md"), "utf8");
    const commands = [...skill.matchAll(/^curl .*$/gm)].map(([line]) => line);
    const env = {
      SIDEBAND_API_URL: running.url,
      SIDEBAND_API_KEY: running.key,
      SIDEBAND_USER_ID: "ada & co",
    };
    const answers = [];
    for (const command of commands) {
      const { status, stdout, stderr } = await host.shell(command, { env });
      assert.equal(status, 0, stderr);
      answers.push(JSON.parse(stdout));
    }
    const [encoded, decoded, context, flushed, forgotten] = answers;
    assert.deepEqual([encoded.status, encoded.channel_count], ["ok", 1]);
    assert.deepEqual([decoded.user_id, decoded.value], ["ada & co", "2026-12-01"]);
    assert.equal(context.plain_index, "TASK.deadline=2026-12-01");
    assert.deepEqual([flushed.lossless, flushed.fdm_block], [true, context.fdm_block]);
    assert.deepEqual(forgotten, { status: "ok", channel_count: 0 });
  });

  test("the plugin: memory in every prompt, a flush before every compaction, tools as its manifest declares", async (t) => {
    const running = await startRunning();
    t.after(() => running.end());
    const host = makeHost(t);
    await host.shell("sideband agents install openclaw");
    const api = await loadPlugin(host, {
      apiUrl: running.url,
      apiKey: running.key,
      userId: "ada",
      timeoutMs: 20_000,
    });
    const manifest = JSON.parse(
      readFileSync(join(host.home, ".openclaw/sideband-plugin/openclaw.plugin.json"), "utf8"),
    );
    assert.deepEqual([...api.tools.keys()], manifest.contracts.tools);
    assert.deepEqual(
      [manifest.id, manifest.kind, api.capability?.flushPlanResolver()],
      ["sideband", "memory", null],
    );
    assert.ok(api.capability?.promptBuilder().every((line) => typeof line === "string"));

    const build = () => api.hooks.get("before_prompt_build")!({ prompt: "Hello", messages: [] }, {});
    assert.equal(await build(), undefined);
    const kept = await api.tools.get("sideband_remember")!.execute("1", { label: "USER.name", value: "Ada" });
    assert.deepEqual(kept.details, { label: "USER.name", value: "Ada", channel_count: 1 });
    const context = (await running.call("GET", "/context?user_id=ada")).json;
    assert.deepEqual(await build(), { appendSystemContext: memorySection(context) });
    await api.hooks.get("before_compaction")!({}, {});
    assert.match((await running.call("GET", "/metrics")).text, /route="\/flush",status="200"\} 1/);
    const refused = await api.tools
      .get("sideband_remember")!
      .execute("2", { label: "USER.shoe", value: "x" });
    assert.match(String(refused.details.error), /^unknown_label/);
    assert.deepEqual(api.warnings, []);
  });

  test("the plugin goes on without memory, with a line in the host's log", async (t) => {
    const host = makeHost(t);
    await host.shell("sideband agents install openclaw");
    const api = await loadPlugin(host, { apiUrl: await closedPort(), apiKey: "k", userId: "ada" });
    assert.equal(await api.hooks.get("before_prompt_build")!({}, {}), undefined);
    await api.hooks.get("before_compaction")!({}, {});
    assert.equal(api.warnings.length, 2);
    for (const warning of api.warnings) assert.match(warning, /^sideband: .*cannot reach/);
  });
});
