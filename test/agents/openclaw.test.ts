/**
 * OpenClaw: the skill's own commands are run by a shell, and the plugin is loaded from where it was installed, with a
 * stand-in for the host's interface. npm run test:hosts runs it inside OpenClaw itself.
 */

import assert from "node:assert/strict";
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { suite, test } from "node:test";
import { pathToFileURL } from "node:url";
import { outageSection } from "../../src/agent-side/memory-section.ts";
import { placeOf } from "../../src/agents/project.ts";
import { memorySection } from "../../src/sdk/index.ts";
import { endAfter } from "../fixtures/ends.ts";
import { startRunning } from "../http/running-service.ts";
import { closedPort } from "../unit/sdk/scripted-server.ts";
import { type Host, makeHost } from "./host.ts";

interface PluginTool {
  name: string;
  label: string;
  parameters: object;
  execute(
    id: string,
    params: object,
  ): Promise<{ content: { text: string }[]; details: Record<string, unknown> }>;
}

/** What a plugin registers with the host. */
class PluginApi {
  readonly tools = new Map<string, PluginTool>();
  /** What the host asks for before each run. */
  readonly makes = new Map<string, () => PluginTool | null>();
  readonly hooks = new Map<string, (event: object, context: object) => Promise<unknown>>();
  readonly warnings: string[] = [];
  readonly logger = { warn: (line: string) => void this.warnings.push(line) };
  readonly pluginConfig: Record<string, unknown>;
  readonly workspaceDir: string;
  capability: { promptBuilder(): string[]; flushPlanResolver(): { prompt: string } } | undefined;

  constructor(pluginConfig: Record<string, unknown>, workspaceDir: string) {
    this.pluginConfig = pluginConfig;
    this.workspaceDir = workspaceDir;
  }
  registerTool(make: (context: object) => PluginTool | null, { names }: { names: string[] }) {
    this.makes.set(names[0], () => make({ workspaceDir: this.workspaceDir }));
    const tool = make({ workspaceDir: this.workspaceDir })!;
    assert.deepEqual(names, [tool.name]);
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
  const manifest = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  // Nothing is to be installed beside it: OpenClaw as a peer would be fetched whole.
  assert.deepEqual([manifest.dependencies, manifest.peerDependencies], [undefined, undefined]);
  const entry = (await import(pathToFileURL(join(folder, manifest.openclaw.extensions[0])).href)).default;
  assert.deepEqual([entry.id, entry.kind], ["sideband", "memory"]);
  const workspace = join(host.home, "workspace");
  mkdirSync(join(workspace, ".git"), { recursive: true });
  const api = new PluginApi(config, workspace);
  entry.register(api);
  return api;
}

suite("OpenClaw", { concurrency: false }, () => {
  test("each command of the skill works when pasted", async (t) => {
    const running = endAfter(t, await startRunning());
    const host = makeHost(t);
    assert.equal((await host.sideband("agents install openclaw")).status, 0);
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
    const [encoded, decoded, context, forgotten] = answers;
    assert.deepEqual([encoded.status, encoded.channel_count], ["ok", 1]);
    assert.deepEqual([decoded.user_id, decoded.value], ["ada & co", "2026-12-01"]);
    assert.equal(context.plain_index, "TASK.deadline=2026-12-01");
    assert.deepEqual(forgotten, { status: "ok", channel_count: 0 });
  });

  test("the plugin: memory in every prompt, a flush before every compaction, tools as its manifest declares", async (t) => {
    const running = endAfter(t, await startRunning());
    const host = makeHost(t);
    await host.sideband("agents install openclaw");
    const api = await loadPlugin(host, {
      apiUrl: running.url,
      apiKey: running.key,
      userId: "ada",
      timeoutMs: 20_000,
      include: "both",
    });
    const manifest = JSON.parse(
      readFileSync(join(host.home, ".openclaw/sideband-plugin/openclaw.plugin.json"), "utf8"),
    );
    assert.deepEqual([...api.tools.keys()], manifest.contracts.tools);
    assert.deepEqual([manifest.id, manifest.kind], ["sideband", "memory"]);
    assert.ok([...api.tools.values()].every(({ label }) => label.length > 0));
    assert.match(String(api.capability?.promptBuilder()), /Call sideband_remember when/);
    assert.match(api.capability?.flushPlanResolver().prompt ?? "", /Store with sideband_remember/);

    const context = { workspaceDir: api.workspaceDir };
    const build = () => api.hooks.get("before_prompt_build")!({ prompt: "Hello", messages: [] }, context);
    assert.equal(await build(), undefined);
    const kept = await api.tools.get("sideband_remember")!.execute("1", { label: "USER.name", value: "Ada" });
    assert.equal(kept.details.result, 'USER.name: now "Ada"; undo: forget tool with scope person');
    const tagged = { label: "USER.name", value: "Ada </system>" };
    const shown = await api.tools.get("sideband_remember")!.execute("1", tagged);
    assert.ok(!shown.content[0].text.includes("</"), "a model is shown no tag");
    assert.equal((shown.details as { value: string }).value, tagged.value);
    await api.tools.get("sideband_remember")!.execute("1", { label: "USER.name", value: "Ada" });
    const contextIn = async (folder: string) =>
      (await running.call("GET", `/context?user_id=ada&project=${placeOf([folder])}`)).json;
    const [known, here] = [await contextIn(host.home), await contextIn(api.workspaceDir)];
    assert.deepEqual(await build(), { appendSystemContext: memorySection(here, "both") });
    await api.tools.get("sideband_remember")!.execute("2", { label: "PROJ.goal", value: "weave" });
    assert.match(JSON.stringify(await build()), /USER\.name=Ada\\nPROJ\.goal=weave/);
    const elsewhere = await api.hooks.get("before_prompt_build")!({}, { workspaceDir: host.home });
    assert.deepEqual(elsewhere, { appendSystemContext: memorySection(known, "both") });
    await api.hooks.get("before_compaction")!({}, context);
    assert.match((await running.call("GET", "/metrics")).text, /route="\/flush",status="200"\} 1/);
    const { facts } = (await running.call("GET", "/facts?user_id=ada")).json;
    assert.equal(facts[0].written_by, "openclaw");
    await api.tools
      .get("sideband_add_label")!
      .execute("3", { label: "FAMILY.wife", description: "her name" });
    const refused = await api.tools
      .get("sideband_remember")!
      .execute("2", { label: "FAMILY.wief", value: "x" });
    assert.match(String(refused.details.error), /^unknown_label: .* FAMILY\.wife\? .*"certain"/);
    assert.deepEqual(api.warnings, []);
  });

  test("a key that may add no labels is not offered to", async (t) => {
    const running = endAfter(t, await startRunning());
    const host = makeHost(t);
    await host.sideband("agents install openclaw");
    const bound = { account: "acme", tier: "unlimited", user: "ada", access: "write" } as const;
    const { key } = await running.service.core.keys.create(bound);
    const isOffered = async (apiKey: string) => {
      const api = await loadPlugin(host, { apiUrl: running.url, apiKey, userId: "ada", timeoutMs: 20_000 });
      await api.hooks.get("before_prompt_build")!({}, {});
      // It reads the labels again when one was to be added.
      await api.tools.get("sideband_add_label")!.execute("1", { label: "A.b", description: "c" });
      assert.notEqual(api.makes.get("sideband_remember")!(), null);
      return api.makes.get("sideband_add_label")!() !== null;
    };
    assert.deepEqual([await isOffered(running.key), await isOffered(key)], [true, false]);
  });

  test("the plugin goes on without memory, with a line in the host's log", async (t) => {
    const host = makeHost(t);
    await host.sideband("agents install openclaw");
    const api = await loadPlugin(host, {
      apiUrl: await closedPort(),
      apiKey: "k",
      userId: "ada",
      include: "both",
    });
    assert.deepEqual(await api.hooks.get("before_prompt_build")!({}, {}), {
      appendSystemContext: outageSection(),
    });
    await api.hooks.get("before_compaction")!({}, {});
    assert.equal(api.warnings.length, 2);
    for (const warning of api.warnings) assert.match(warning, /^sideband: .*cannot reach/);
  });
});
