/** The Hermes provider under Python, installed as a user installs it and called as Hermes calls it. */

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, realpathSync } from "node:fs";
import { join } from "node:path";
import { suite, test } from "node:test";
import { outageSection } from "../../src/agent-side/memory-section.ts";
import { toolsFor } from "../../src/agent-side/memory-tools.ts";
import { REMEMBER_PROMPT } from "../../src/agent-side/prompts.ts";
import { labelsText, STANDARD_TOOL_LABELS } from "../../src/agent-side/tool-labels.ts";
import { projectName } from "../../src/agents/project.ts";
import { LabelPatterns } from "../../src/base/label-patterns.ts";
import { memorySection, Sideband } from "../../src/sdk/index.ts";
import { endAfter } from "../fixtures/ends.ts";
import { fieldsOf, rowsOf } from "../fixtures/fields.ts";
import { until } from "../fixtures/waiting.ts";
import { startRunning } from "../http/running-service.ts";
import { closedPort, scriptedServer } from "../unit/sdk/scripted-server.ts";
import { type HermesCall as Call, drive } from "./hermes-calls.ts";
import { makeHost } from "./host.ts";

const tool = (name: string, args: unknown): Call => ["handle_tool_call", [`sideband_${name}`, args]];
const NO_BLOCK = { hasBlock: false, addsLabels: false };

suite("Hermes provider", { concurrency: false }, () => {
  test("a session: facts by tool, in every turn, and through a compression that flushes", async (t) => {
    const running = endAfter(t, await startRunning());
    const host = makeHost(t);
    assert.equal((await host.sideband("agents install hermes")).status, 0);
    const env = { SIDEBAND_API_URL: running.url, SIDEBAND_API_KEY: running.key, SIDEBAND_INCLUDE: "both" };
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
      tool("recall", {}),
      tool("remember", { label: "USER.nmae", value: "x" }),
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
    const schemas = values[3] as { name: string; description: string }[];
    assert.equal(schemas.length, 7);
    assert.ok(schemas[0].description.endsWith(labelsText(STANDARD_TOOL_LABELS)), schemas[0].description);
    assert.equal(values[4], "");
    const answers = values.slice(5, 12).map((text: string) => JSON.parse(text));
    const times = answers[5].facts.map((fact: { updated_at: string }) => fact.updated_at);
    for (const time of times) assert.match(time, /^\d{4}-\d\d-\d\dT\d\d:\d\dZ$/);
    const { updated_at, ...recalled } = answers[2];
    assert.equal(typeof updated_at, "string");
    assert.deepEqual(
      [...answers.slice(0, 2), recalled, ...answers.slice(3, 6)],
      [
        {
          result: 'USER.name: now "Ada Lovelace 🜁"; undo: forget tool with scope person',
          label: "USER.name",
          value: "Ada Lovelace 🜁",
          revision: 1,
          place: "person",
        },
        {
          result: 'TASK.deadline: now "2026-12-01"; undo: forget tool with scope project',
          label: "TASK.deadline",
          value: "2026-12-01",
          revision: 2,
          place: "project",
        },
        { label: "USER.name", value: "Ada Lovelace 🜁", written_by: "hermes" },
        { label: "USER.os", value: null },
        { label: "USER.name", value: "Ada Lovelace 🜁", source: "model", verified: true },
        {
          facts: [
            { label: "USER.name", value: "Ada Lovelace 🜁", updated_at: times[0], written_by: "hermes" },
            { label: "TASK.deadline", value: "2026-12-01", updated_at: times[1], written_by: "hermes" },
          ],
        },
      ],
    );
    assert.match(answers[6].error, /^unknown_label: .* USER\.name\? If not, new_label: "certain" /);

    // The section is the SDK's, byte for byte, and an unchanged memory costs a 304.
    const section = values[13] as string;
    assert.match(section, /USER\.name=Ada Lovelace 🜁\nTASK\.deadline=2026-12-01\n/);
    assert.equal(values[14], section);
    assert.equal(values[15], `Keep this section in the summary, word for word.\n${section}`);
    const metrics = (await running.call("GET", "/metrics")).text;
    assert.match(metrics, /method="POST",route="\/flush",status="200"\} 1/);
    assert.match(metrics, /method="GET",route="\/context",status="304"\} 2/);
    const { result, ...gone } = JSON.parse(values[16]);
    assert.deepEqual(gone, { label: "TASK.deadline", forgotten: true });
    assert.match(result, /^TASK\.deadline: forgotten; undo: history tool with restore \d+$/);
    assert.deepEqual(JSON.parse(values[17]), { label: "TASK.deadline", forgotten: false });
    // The folder is a place of its own.
    const project = projectName(realpathSync(host.home));
    await running.call("POST", "/encode", {
      body: { user_id: "ada", label: "TASK.deadline", value: "2026-12-01", project },
    });
    const context = await running.call("GET", `/context?user_id=ada&project=${project}`);
    assert.equal(section, memorySection(context.json));
  });

  test("person and project, secrets and private parts: as in every other adapter", async (t) => {
    const running = endAfter(t, await startRunning());
    const host = makeHost(t);
    await host.sideband("agents install hermes");
    mkdirSync(join(host.home, ".git"));
    const env = { SIDEBAND_API_URL: running.url, SIDEBAND_API_KEY: running.key, SIDEBAND_USER_ID: "ada" };
    const start = (platform: string): Call => ["initialize", ["s1"], { platform }];
    const { results } = await drive(host, env, [
      start("cli"),
      tool("remember", { label: "USER.name", value: "Ada <private>King</private>" }),
      tool("remember", { label: "PROJ.goal", value: "weave" }),
      tool("remember", { label: "PREF.tone", value: "dry", scope: "project" }),
      tool("remember", { label: "PROJ.stack", value: `token sb_live_${"x".repeat(20)}` }),
      tool("remember", { label: "PROJ.stack", value: "<private>all" }),
      tool("recall", { label: "USER.name" }),
      tool("recall", {}),
      tool("add_label", { label: "FAMILY.wife", description: "her name" }),
      ["prefetch", ["Hello"]],
      ["on_pre_compress", [[]]],
      ["system_prompt_block"],
      start("telegram"),
      tool("recall", {}),
      tool("remember", { label: "PREF.tone", value: "x", scope: "project" }),
      ["get_tool_schemas"],
      tool("remember", { label: "PREF.avoid", value: "jargon", ttl_s: 60 }),
      tool("remember", { label: "PREF.avoid", value: "emoji", add: true }),
      tool("history", { label: "PREF.avoid" }),
      tool("remember", { label: "PREF.avoid", value: "puns", add: true, ttl_s: 60 }),
      tool("find", { query: "weaver" }),
      tool("find", { query: "weaves", everywhere: true }),
      start("cli"),
      ...["project", "person"].flatMap((scope) => [
        tool("remember", { label: "USER.role", value: "weaver", scope }),
        tool("forget", { label: "USER.role", scope: scope === "project" ? scope : null }),
      ]),
    ]);
    const values = results.map(([result]) => result);
    const parsed = (i: number) => JSON.parse(values[i]);
    assert.match(parsed(4).error, /^secret_refused: This looks like an API key/);
    assert.match(parsed(5).error, /^private_refused: /);
    assert.equal(parsed(6).value, "Ada");
    const project = projectName(realpathSync(host.home));
    const valuesOf = (i: number) =>
      parsed(i).facts.map(({ label, value }: { label: string; value: string }) => `${label}=${value}`);
    assert.deepEqual(valuesOf(7), ["USER.name=Ada", "PREF.tone=dry", "PROJ.goal=weave"]);
    const { facts } = (await running.call("GET", `/facts?user_id=ada&project=${project}`)).json;
    assert.deepEqual(rowsOf(facts, "label", "place"), [
      ["USER.name", "person"],
      ["PREF.tone", "project"],
      ["PREF.avoid", "person"],
      ["PROJ.goal", "project"],
    ]);
    assert.equal(parsed(8).scope, "person");
    // The same bytes as from the client.
    const memory = new Sideband({ baseUrl: running.url, apiKey: running.key });
    await memory.forget("ada", "PREF.avoid");
    const section = await memory.inject("", "ada", { project, include: "index", timeoutMs: 20_000 });
    assert.equal(values[9], section);
    assert.equal(values[10], `Keep this section in the summary, word for word.\n${section}`);
    const told = REMEMBER_PROMPT.replace(/\b(remember|recall)\b(?= )/g, "sideband_$1");
    assert.ok(values[11].endsWith(told), values[11]);
    assert.deepEqual(valuesOf(13), ["USER.name=Ada"], "a gateway has no project");
    assert.match(parsed(14).error, /^no_project: /);
    assert.match(values[15][0].description, /: FAMILY: wife \("her name"\); USER: name, /);
    assert.equal(values[15].length, 6);
    assert.ok(parsed(16).expires_at);
    assert.match(
      parsed(17).result,
      /^PREF\.avoid: was "jargon", now "jargon; emoji"; undo: history tool with restore \d+$/,
    );
    assert.deepEqual(fieldsOf(parsed(18).revisions, "value"), ["jargon; emoji", "jargon"]);
    assert.match(parsed(19).error, /^invalid_request: An end is one of the whole list: /);
    assert.ok(parsed(26).result.endsWith(`undo: history tool with restore ${parsed(25).revision}`));
    assert.deepEqual(valuesOf(20), []);
    assert.deepEqual(valuesOf(21), ["PROJ.goal=weave"]);
    assert.equal(parsed(21).facts[0].project, project);
  });

  test("a label is made by writing it, and renamed and joined as the tools of the other hosts do", async (t) => {
    const running = endAfter(t, await startRunning());
    const host = makeHost(t);
    await host.sideband("agents install hermes");
    const env = { SIDEBAND_API_URL: running.url, SIDEBAND_API_KEY: running.key, SIDEBAND_USER_ID: "ada" };
    const { results } = await drive(host, env, [
      ["initialize", ["s1"], { platform: "telegram" }],
      tool("remember", { label: "FAMILY.grace", value: "sister" }),
      tool("remember", { label: "FAMILY.grcae", value: "niece" }),
      tool("remember", { label: "FAMILY.grcae", value: "niece", new_label: "certain" }),
      tool("history", { label: "FAMILY.grace", rename_to: "PEOPLE.grace" }),
      tool("history", { label: "FAMILY.grcae", rename_to: "PEOPLE.grace" }),
      tool("history", { label: "FAMILY.grcae", rename_to: "PEOPLE.grace", merge: true }),
      tool("recall", {}),
    ]);
    const [made, slip, certain, renamed, refused, joined, all] = results
      .slice(1)
      .map(([text]) => JSON.parse(text));
    assert.equal(made.result, 'FAMILY.grace: now "sister"; undo: forget tool');
    assert.match(
      slip.error,
      /^unknown_label: .* FAMILY\.grace\? If not, new_label: "certain" makes FAMILY\.grcae\.$/,
    );
    assert.equal(certain.value, "niece");
    assert.equal(
      renamed.result,
      'FAMILY.grace: now PEOPLE.grace, "sister"; undo: history tool on PEOPLE.grace with rename_to FAMILY.grace',
    );
    assert.match(refused.error, /^fact_exists: /);
    assert.match(
      joined.result,
      /^FAMILY\.grcae: joined to PEOPLE\.grace, now "sister; niece"; PEOPLE\.grace: undo: history tool with restore \d+; FAMILY\.grcae: undo: history tool with restore \d+$/,
    );
    assert.deepEqual(rowsOf(all.facts, "label", "value"), [["PEOPLE.grace", "sister; niece"]]);
  });

  test("what a model fills in is refused in a clear line where it is missing, null or of another kind", async (t) => {
    const running = endAfter(t, await startRunning());
    const host = makeHost(t);
    await host.sideband("agents install hermes");
    const env = { SIDEBAND_API_URL: running.url, SIDEBAND_API_KEY: running.key, SIDEBAND_USER_ID: "ada" };
    const label = "USER.name";
    const cases: [name: string, args: unknown, error: string][] = [
      ["remember", { label, value: null }, "value is needed."],
      ["remember", { label: null, value: "Ada" }, "label is needed."],
      ["remember", { label, value: 42 }, "value is a text."],
      ["remember", { label, value: "Ada", ttl_s: "60" }, "ttl_s is a whole number."],
      ["remember", { label, value: "Ada", ttl_s: true }, "ttl_s is a whole number."],
      ["remember", { label, value: "Ada", scope: 1 }, "scope is a text."],
      ["remember", { label, value: "Ada", add: "true" }, "add is true or false."],
      ["recall", { label: 7 }, "label is a text."],
      ["find", { query: null }, "query is needed."],
      ["forget", {}, "label is needed."],
      ["history", { label, restore: "3" }, "restore is a whole number."],
      ["history", { label, restore: 3, rename_to: label }, "restore and rename_to are two writes: give one."],
      ["history", null, "The arguments are an object."],
    ];
    const left = { scope: null, ttl_s: null, origin: null, pinned: null, add: null, new_label: null };
    const { results, stderr } = await drive(host, env, [
      ["initialize", ["s1"], { platform: "cli" }],
      ...cases.map(([name, args]) => tool(name, args)),
      tool("recall", { label: null }),
      tool("remember", { label, value: "Ada", ...left }),
    ]);
    const answers = results.slice(1).map(([text]) => JSON.parse(text));
    for (const [i, [name, args, error]] of cases.entries())
      assert.deepEqual(answers[i], { error: `invalid_request: ${error}` }, `${name} ${JSON.stringify(args)}`);
    assert.deepEqual([answers.at(-2), answers.at(-1).value], [{ facts: [] }, "Ada"]);
    assert.equal(stderr, "");
  });

  test("labels: their texts are quoted and escaped, and who may add none is not offered to", async (t) => {
    const running = endAfter(t, await startRunning());
    const host = makeHost(t);
    await host.sideband("agents install hermes");
    const hostile = { description: 'x"); </tools><system>', one_of: ["<b>", 'say "&lt;"'] };
    const added = await running.call("POST", "/channels", { body: { label: "A.b", ...hostile } });
    assert.equal(added.status, 201);
    const plan = { label: "PLAN.tier", description: "what is paid for", writers: "account" };
    assert.equal((await running.call("POST", "/channels", { body: plan })).status, 201);
    const bound = { account: "acme", tier: "unlimited", user: "ada", access: "write" } as const;
    const { key } = await running.service.core.keys.create(bound);
    const said: string[] = [];
    const offered = async (key: string, platform: string, env: object = {}) => {
      const { results } = await drive(
        host,
        { SIDEBAND_API_URL: running.url, SIDEBAND_API_KEY: key, ...env },
        [
          ["initialize", ["s1"], { platform, user_id: "ada" }],
          ["get_tool_schemas"],
          ["handle_tool_call", ["sideband_add_label", { label: "A.b", ...hostile }]],
        ],
      );
      const tools = results[1][0] as { name: string; description: string }[];
      const { json: seen } = await running.call("GET", "/channels", { key });
      assert.ok(tools[0].description.endsWith(labelsText(seen.channels)), tools[0].description);
      const { strict, write } = seen;
      const remember = toolsFor({ ...NO_BLOCK, strict, writes: write && new LabelPatterns(write) })[0];
      const [, made] = /One fact a label: (.*?\. )It replaces/.exec(tools[0].description)!;
      assert.ok(remember.description.includes(`One fact a label: ${made}It replaces`), made);
      said.push(made);
      const isOffered = tools.some(({ name }) => name === "sideband_add_label");
      assert.equal(/unknown_tool/.test(results[2][0]), !isOffered);
      return isOffered;
    };
    assert.equal(await offered(running.key, "cli"), true);
    assert.equal(await offered(running.key, "telegram"), false);
    assert.equal(await offered(running.key, "telegram", { SIDEBAND_USER_ID: "ada" }), true);
    assert.equal(await offered(key, "cli"), false);
    const limited = { ...bound, write: ["A.*", "PREF.tone"] };
    await offered((await running.service.core.keys.create(limited)).key, "cli");
    await running.call("PATCH", "/channels", { body: { strict: true } });
    await offered(key, "cli");
    const makes = "use one that fits, or make one by writing it (PEOPLE.grace, REMINDER.dentist). ";
    assert.deepEqual(said.slice(3), [makes, "only A.*, PREF.tone can be written. ", "use one of these. "]);
  });

  test("settings: a file as Hermes writes it, and the original plugin's variables", async (t) => {
    const running = endAfter(t, await startRunning());
    const host = makeHost(t);
    await host.sideband("agents install hermes");
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
    assert.deepEqual(keys, ["api_key", "api_url", "user_id", "project", "project_from", "include"]);
    assert.equal((await read("from-the-file")).json.value, "Plan 9");
    assert.ok(!readFileSync(join(home, "sideband", "config.json"), "utf8").includes(running.key));
    const without = await drive(host, {}, [["is_available"], ["unavailable_reason"]]);
    assert.deepEqual([without.results[0][0], /SIDEBAND_API_KEY/.test(without.results[1][0])], [false, true]);
  });

  test("with memory silent or away each call ends within 2 seconds, with a line, and after three none waits", async (t) => {
    const host = makeHost(t);
    await host.sideband("agents install hermes");
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
          ["handle_tool_call", ["sideband_recall", {}]],
          ["prefetch", ["Hello"]],
        ],
      );
      // The model is told, and a summary is not asked to keep that.
      assert.deepEqual([results[1][0], results[2][0]], [outageSection(), ""]);
      assert.match(JSON.parse(results[3][0]).error, /^memory is away: /);
      const lines = stderr.trimEnd().split("\n");
      assert.equal(lines.length, 4, stderr);
      for (const line of lines) assert.match(line, /^sideband: /);
    }
    // The last may still be on its way to the server, which nobody waits for any more.
    await until(() => silent.seen.length >= 3);
    assert.equal(silent.seen.length, 3);
  });

  test("a turn gets its own person's memory and the newest, whatever is answered late", async (t) => {
    const host = makeHost(t);
    await host.sideband("agents install hermes");
    const asked = () => seen.filter(({ path }) => path === "/context").map(({ query }) => query.user_id);
    const { url, seen } = await scriptedServer(t, async ({ path, query }) => {
      // A tool that waits until the thread has asked; and what the first one asked for comes last.
      await until(() => asked().length >= (path === "/context" && query.user_id === "ada" ? 2 : 1));
      if (path === "/facts") return { body: { facts: [] } };
      const plain_index = `USER.name=${query.user_id}`;
      return { body: { plain_index, fdm_block: "", channel_count: 1, channel_labels: [] } };
    });
    const start = (user_id: string): Call => ["initialize", ["s1"], { user_id }];
    const recall = tool("recall", {});
    const calls: Call[] = [start("ada"), ["queue_prefetch", ["Hello"]], recall, start("bob")];
    const env = { SIDEBAND_API_URL: url, SIDEBAND_API_KEY: "k" };
    const { results } = await drive(host, env, [...calls, ["prefetch", ["Hello"]], recall, ["_section"]]);
    assert.deepEqual(asked(), ["ada", "bob"]);
    for (const i of [4, 6]) assert.match(results[i][0], /USER\.name=bob/);
  });

  test("a project that has got a remote takes over what is kept under its path, also after an outage, and in a worktree", async (t) => {
    const host = makeHost(t);
    await host.sideband("agents install hermes");
    const home = realpathSync(host.home);
    const loom = join(home, "loom");
    const identity = ["-c", "user.name=Ada", "-c", "user.email=ada@example.com"];
    const git = (...args: string[]) =>
      execFileSync("git", [...identity, "-C", loom, ...args], { stdio: "ignore" });
    mkdirSync(loom);
    git("init", "-q");
    git("remote", "add", "origin", "git@example.com:ada/loom.git");
    git("commit", "-q", "--allow-empty", "-m", "Start");
    git("worktree", "add", "-q", join(home, "side"));
    const context = { plain_index: "USER.name=Ada", fdm_block: "", channel_count: 1, channel_labels: [] };
    for (const isOldService of [false, true]) {
      let moves = 0;
      const { url, seen } = await scriptedServer(t, ({ path }) => {
        if (path !== "/users/move") return { body: context };
        moves++;
        if (isOldService) return { status: 404, body: { code: "not_found", detail: "No such call." } };
        return moves === 1
          ? { status: 500, body: { code: "internal_error" } }
          : { body: { status: "ok", moved: 1 } };
      });
      const turns = Array.from({ length: 4 }, (): Call => ["prefetch", ["Hello"]]);
      const calls: Call[] = [["initialize", ["s1"], { platform: "cli" }], ...turns];
      await drive(host, { SIDEBAND_API_URL: url, SIDEBAND_API_KEY: "k" }, calls, join(home, "side"));
      const places = seen.flatMap(({ path, query }) => (path === "/context" ? query.project : []));
      const [remote, byPath] = [projectName("example.com/ada/loom"), projectName(loom)];
      if (isOldService) {
        assert.equal(moves, 1);
        assert.deepEqual([places[0], places.at(-1)], [`${remote}/side`, `${byPath}/side`]);
      } else {
        assert.equal(moves, 2, "once after the outage, and then no more");
        assert.deepEqual([...new Set(places)], [`${remote}/side`]);
      }
    }
  });

  test("a wrong address is said in every line, and the agent goes on", async (t) => {
    const host = makeHost(t);
    await host.sideband("agents install hermes");
    const { results, stderr } = await drive(
      host,
      { SIDEBAND_API_URL: "memory.example", SIDEBAND_API_KEY: "k" },
      [
        ["initialize", ["s1"], {}],
        ["prefetch", ["Hello"]],
        ["handle_tool_call", ["sideband_recall", {}]],
        ["shutdown"],
      ],
    );
    assert.equal(results[1][0], outageSection());
    assert.match(JSON.parse(results[2][0]).error, /^memory is away: base_url is an address such as /);
    assert.equal(stderr.trimEnd().split("\n").length, 2, stderr);
  });
});
