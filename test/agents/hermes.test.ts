/** The Hermes provider under Python, installed as a user installs it and called as Hermes calls it. */

import assert from "node:assert/strict";
import { mkdirSync, readFileSync, realpathSync } from "node:fs";
import { join } from "node:path";
import { suite, test } from "node:test";
import { fileURLToPath } from "node:url";
import { WORTH_KEEPING } from "../../src/agent-side/prompts.ts";
import { projectUserId } from "../../src/agent-side/scope.ts";
import { projectName } from "../../src/agents/project.ts";
import { CHANNELS } from "../../src/base/channels.ts";
import { memorySection, Sideband } from "../../src/sdk/index.ts";
import { startRunning } from "../http/running-service.ts";
import { closedPort, scriptedServer } from "../unit/sdk/scripted-server.ts";
import { type Host, makeHost } from "./host.ts";

const script = fileURLToPath(new URL("./hermes-host.py", import.meta.url));

type Call = [method: string, args?: unknown[], kwargs?: Record<string, unknown>];

// biome-ignore lint/suspicious/noExplicitAny: each method has its own result.
type Result = [result: any, seconds: number];

async function drive(host: Host, env: Record<string, string>, calls: Call[]) {
  const input = JSON.stringify(calls.map(([method, args = [], kwargs = {}]) => [method, args, kwargs]));
  const plugin = join(host.home, ".hermes", "plugins", "sideband");
  const { status, stdout, stderr } = await host.shell(`python3 "${script}" "${plugin}"`, { input, env });
  assert.equal(status, 0, stderr);
  return { results: JSON.parse(stdout) as Result[], stderr };
}

suite("Hermes provider", { concurrency: false }, () => {
  test("a session: facts by tool, in every turn, and through a compression that flushes", async (t) => {
    const running = await startRunning();
    t.after(() => running.end());
    const host = makeHost(t);
    assert.equal((await host.shell("sideband agents install hermes")).status, 0);
    const env = { SIDEBAND_API_URL: running.url, SIDEBAND_API_KEY: running.key };
    const tool = (name: string, args: object): Call => ["handle_tool_call", [`sideband_${name}`, args]];
    const messages = [{ role: "user", content: "Hello" }];
    const { results, stderr } = await drive(host, env, [
      ["name"],
      ["is_available"],
      ["initialize", ["s1"], { hermes_home: join(host.home, ".hermes"), platform: "cli", user_id: "ada" }],
      ["get_tool_schemas"],
      ["prefetch", ["Hello"], { session_id: "s1" }],
      tool("remember", { label: "USER.name", value: "Ada Lovelace 🜁" }),
      tool("remember", { label: "TASK.deadline", value: "2026-12-01" }),
      tool("recall", { label: "USER.name" }),
      tool("recall", { label: "USER.os" }),
      tool("verify", { label: "USER.name" }),
      tool("list", {}),
      tool("remember", { label: "USER.shoe", value: "x" }),
      ["queue_prefetch", ["Hello"], { session_id: "s1" }],
      ["prefetch", ["Hello"], { session_id: "s1" }],
      ["prefetch", ["Hello"], { session_id: "s1" }],
      ["on_pre_compress", [messages]],
      tool("forget", { label: "TASK.deadline" }),
      tool("forget", { label: "TASK.deadline" }),
      ["shutdown"],
    ]);
    const values = results.map(([result]) => result);
    assert.equal(stderr, "");
    assert.deepEqual(values.slice(0, 3), ["sideband", true, null]);
    const schemas = values[3] as {
      name: string;
      parameters: { properties: { label?: { enum: string[] } } };
    }[];
    assert.deepEqual(
      schemas[0].parameters.properties.label?.enum,
      CHANNELS.map(({ label }) => label),
    );
    assert.equal(values[4], "");
    const answers = values.slice(5, 12).map((text: string) => JSON.parse(text));
    assert.deepEqual(answers.slice(0, 6), [
      { label: "USER.name", value: "Ada Lovelace 🜁", channel_count: 1 },
      { label: "TASK.deadline", value: "2026-12-01", channel_count: 2 },
      { label: "USER.name", value: "Ada Lovelace 🜁" },
      { label: "USER.os", value: null },
      { label: "USER.name", value: "Ada Lovelace 🜁", source: "model", verified: true },
      {
        facts: [
          { label: "USER.name", value: "Ada Lovelace 🜁" },
          { label: "TASK.deadline", value: "2026-12-01" },
        ],
      },
    ]);
    assert.match(answers[6].error, /^unknown_label: /);

    // The section is the SDK's, byte for byte, and an unchanged memory costs a 304.
    const section = values[13] as string;
    assert.match(section, /USER\.name=Ada Lovelace 🜁\nTASK\.deadline=2026-12-01\n/);
    assert.equal(values[14], section);
    assert.equal(values[15], `Keep this section in the summary, word for word.\n${section}`);
    const metrics = (await running.call("GET", "/metrics")).text;
    assert.match(metrics, /method="POST",route="\/flush",status="200"\} 1/);
    assert.match(metrics, /method="GET",route="\/context",status="304"\} 2/);
    assert.deepEqual(JSON.parse(values[16]), { label: "TASK.deadline", forgotten: true });
    assert.deepEqual(JSON.parse(values[17]), { label: "TASK.deadline", forgotten: false });
    await running.call("POST", "/encode", {
      body: { user_id: "ada", label: "TASK.deadline", value: "2026-12-01" },
    });
    assert.equal(section, memorySection((await running.call("GET", "/context?user_id=ada")).json));
  });

  test("person and project, secrets and private parts: as in every other adapter", async (t) => {
    const running = await startRunning();
    t.after(() => running.end());
    const host = makeHost(t);
    await host.shell("sideband agents install hermes");
    mkdirSync(join(host.home, ".git"));
    const env = { SIDEBAND_API_URL: running.url, SIDEBAND_API_KEY: running.key, SIDEBAND_USER_ID: "ada" };
    const tool = (name: string, args: object): Call => ["handle_tool_call", [`sideband_${name}`, args]];
    const start = (platform: string): Call => ["initialize", ["s1"], { platform }];
    const { results } = await drive(host, env, [
      start("cli"),
      tool("remember", { label: "USER.name", value: "Ada <private>King</private>" }),
      tool("remember", { label: "PROJ.goal", value: "weave" }),
      tool("remember", { label: "PREF.tone", value: "dry", scope: "project" }),
      tool("remember", { label: "PROJ.stack", value: `token sb_live_${"x".repeat(20)}` }),
      tool("remember", { label: "PROJ.stack", value: "<private>all" }),
      tool("recall", { label: "USER.name" }),
      tool("list", {}),
      tool("list", { scope: "person" }),
      ["prefetch", ["Hello"]],
      ["on_pre_compress", [[]]],
      ["system_prompt_block"],
      start("telegram"),
      tool("list", {}),
      tool("list", { scope: "project" }),
    ]);
    const values = results.map(([result]) => result);
    const parsed = (i: number) => JSON.parse(values[i]);
    assert.match(parsed(4).error, /^secret_refused: This looks like an API key/);
    assert.match(parsed(5).error, /^private_refused: /);
    assert.deepEqual(parsed(6), { label: "USER.name", value: "Ada" });
    const project = projectUserId("ada", projectName(realpathSync(host.home)));
    const read = async (user: string) =>
      (await running.call("GET", `/facts?user_id=${encodeURIComponent(user)}`)).json.facts.map(
        ({ label, value }: { label: string; value: string }) => ({ label, value }),
      );
    assert.deepEqual(await read("ada"), [{ label: "USER.name", value: "Ada" }]);
    assert.deepEqual(await read(project), [
      { label: "PREF.tone", value: "dry" },
      { label: "PROJ.goal", value: "weave" },
    ]);
    assert.deepEqual(parsed(7).facts, [...(await read("ada")), ...(await read(project))]);
    assert.deepEqual(parsed(8).facts, await read("ada"));
    // The same bytes as from the client.
    const memory = new Sideband({ baseUrl: running.url, apiKey: running.key });
    const section = await memory.inject("", "ada", { project: project.slice(4), timeoutMs: 20_000 });
    assert.equal(values[9], section);
    assert.equal(values[10], `Keep this section in the summary, word for word.\n${section}`);
    const told = WORTH_KEEPING.replace(/\b(remember|recall|list)\b(?= )/g, "sideband_$1");
    assert.ok(values[11].endsWith(told), values[11]);
    assert.deepEqual(parsed(13).facts, await read("ada"), "a gateway has no project");
    assert.match(parsed(14).error, /^no_project: /);
  });

  test("settings: a file as Hermes writes it, and the original plugin's variables", async (t) => {
    const running = await startRunning();
    t.after(() => running.end());
    const host = makeHost(t);
    await host.shell("sideband agents install hermes");
    const home = join(host.home, ".hermes");
    const original = {
      SPECTRAL_MEMORY_API_KEY: running.key,
      SPECTRAL_MEMORY_API_URL: running.url,
      SPECTRAL_MEMORY_USER_ID: "from-the-original",
    };
    const start: Call = ["initialize", ["s1"], { hermes_home: home, platform: "cli" }];
    const remember: Call = ["handle_tool_call", ["sideband_remember", { label: "USER.os", value: "Plan 9" }]];
    await drive(host, original, [["is_available"], start, remember]);
    const read = (user: string) => running.call("GET", `/decode?user_id=${user}&label=USER.os`);
    assert.equal((await read("from-the-original")).json.value, "Plan 9");

    const { results } = await drive(host, { SIDEBAND_API_KEY: running.key }, [
      ["get_config_schema"],
      ["save_config", [{ api_url: running.url, user_id: "from-the-file" }, home]],
      start,
      remember,
    ]);
    const keys = results[0][0].map(({ key }: { key: string }) => key);
    assert.deepEqual(keys, ["api_key", "api_url", "user_id", "project"]);
    assert.equal((await read("from-the-file")).json.value, "Plan 9");
    assert.ok(!readFileSync(join(home, "sideband", "config.json"), "utf8").includes(running.key));
    const without = await drive(host, {}, [["is_available"], ["unavailable_reason"]]);
    assert.deepEqual([without.results[0][0], /SIDEBAND_API_KEY/.test(without.results[1][0])], [false, true]);
  });

  test("with memory silent or away all calls together end within 2 seconds, each with a line", async (t) => {
    const host = makeHost(t);
    await host.shell("sideband agents install hermes");
    const silent = await scriptedServer(t, () => "hang");
    const refusing = await scriptedServer(t, () => ({
      status: 503,
      body: { code: "store_unavailable", detail: "Not now." },
    }));
    for (const url of [silent.url, refusing.url, await closedPort()]) {
      const { results, stderr } = await drive(
        host,
        { SIDEBAND_API_URL: url, SIDEBAND_API_KEY: "k", SIDEBAND_TIMEOUT_MS: "" },
        [
          ["initialize", ["s1"], {}],
          ["prefetch", ["Hello"]],
          ["on_pre_compress", [[]]],
          ["handle_tool_call", ["sideband_list", {}]],
        ],
      );
      assert.deepEqual([results[1][0], results[2][0]], ["", ""]);
      assert.match(JSON.parse(results[3][0]).error, /^memory is away: /);
      const lines = stderr.trimEnd().split("\n");
      assert.equal(lines.length, 3, stderr);
      for (const line of lines) assert.match(line, /^sideband: /);
    }
    // After one time-out there is a cool-down: the calls together take no longer than one.
    assert.equal(silent.seen.length, 1);
  });
});
