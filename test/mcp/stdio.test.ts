/**
 * `sideband mcp` as a host starts it: a process on standard input and output, with the official clients. Once on
 * a data folder without any server, beside which a service runs, and once against that service.
 */

import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { EventEmitter, once } from "node:events";
import { mkdirSync } from "node:fs";
import { userInfo } from "node:os";
import { join } from "node:path";
import { suite, test } from "node:test";
import { setTimeout } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { Client as ClientOfOld } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport as TransportOfOld } from "@modelcontextprotocol/sdk/client/stdio.js";
import {
  ListRootsRequestSchema,
  ToolListChangedNotificationSchema,
} from "@modelcontextprotocol/sdk/types.js";
import { projectName } from "../../src/agents/project.ts";
import { sidebandCommand } from "../../src/cli/printed-commands.ts";
import { askRoots } from "../../src/mcp/stdio.ts";
import { builtSideband } from "../agents/built.ts";
import { endAfter, temporaryFolder } from "../fixtures/ends.ts";
import { fieldsOf } from "../fixtures/fields.ts";
import { until } from "../fixtures/waiting.ts";
import { startRunning } from "../http/running-service.ts";
import { closedPort } from "../unit/sdk/scripted-server.ts";
import { caller, type TourClient, tour } from "./tour.ts";

const info = { name: "test", version: "1.0.0" };

/** Facts of the tests are the person's, unless a test is about projects. */
function launch(args: string[], env: Record<string, string>) {
  return {
    command: process.execPath,
    args: [builtSideband(), "mcp", ...args],
    env: {
      PATH: process.env.PATH ?? "",
      HOME: process.env.HOME ?? "",
      SIDEBAND_TIMEOUT_MS: "20000",
      SIDEBAND_PROJECT: "off",
      SIDEBAND_INCLUDE: "both",
      ...env,
    },
    stderr: "inherit" as const,
  };
}

suite("sideband mcp", { concurrency: false }, () => {
  test("a data folder without a server, a client of 2026-07-28; a service beside it sees the facts", async (t) => {
    const running = endAfter(t, await startRunning());
    const client = new Client(info, { versionNegotiation: { mode: { pin: "2026-07-28" } } });
    const args = ["--data", running.folder, "--account", "acme", "--user", "ada"];
    await client.connect(new StdioClientTransport(launch(args, {})));
    const undo = `${sidebandCommand()} forget USER.name --user ada --data ${running.folder} --account acme --person`;
    await tour(client as unknown as TourClient, {
      user: "ada",
      listChanged: true,
      writer: "mcp: test",
      undo,
      turnsOff: true,
    });
    const { json } = await running.call("GET", "/facts?user_id=ada");
    assert.deepEqual(
      json.facts.map(({ label, value }: { label: string; value: string }) => `${label}=${value}`),
      ["TASK.deadline=2026-12-01"],
    );

    // A change by the service reaches the agent that listens.
    const uri = "sideband://memory/ada";
    const heard = new Promise<string>((resolve) => {
      client.setNotificationHandler("notifications/resources/updated", ({ params }) => resolve(params.uri));
    });
    await client.listen({ resourceSubscriptions: [uri] });
    await running.call("POST", "/encode", { body: { user_id: "ada", label: "USER.os", value: "Plan 9" } });
    assert.equal(await heard, uri);
    await client.close();
  });

  test("a remote service, a client of the 2025 revisions of the first SDK, with the original client's settings", async (t) => {
    const running = endAfter(t, await startRunning());
    const old = new ClientOfOld(info);
    const env = {
      SPECTRAL_MEMORY_API_URL: running.url,
      SPECTRAL_MEMORY_API_KEY: running.key,
      SPECTRAL_MEMORY_USER_ID: "grace",
    };
    await old.connect(new TransportOfOld(launch([], env)) as never);
    const undo = `${sidebandCommand()} forget USER.name --user grace --url ${running.url} --person`;
    await tour(old as unknown as TourClient, {
      ...{ user: "grace", listChanged: true, writer: "mcp: test", undo, turnsOff: true },
    });

    const uri = "sideband://memory/grace";
    const heard = new Promise<void>((resolve) => {
      old.fallbackNotificationHandler = async ({ method }) => {
        if (method === "notifications/resources/updated") resolve();
      };
    });
    await old.subscribeResource({ uri });
    await caller(old as unknown as TourClient)("remember", { label: "USER.os", value: "Plan 9" });
    await heard;
    await old.unsubscribeResource({ uri });
    await old.close();
    assert.equal((await running.call("GET", "/decode?user_id=grace&label=USER.os")).json.value, "Plan 9");
  });

  test("while a host has not said its roots, nothing is written; its late answer counts, also where memory is off there", async (t) => {
    const running = endAfter(t, await startRunning());
    const home = temporaryFolder(t);
    for (const name of ["loom", "mill", "shut"]) mkdirSync(join(home, name, ".git"), { recursive: true });
    const env = {
      HOME: home,
      SIDEBAND_API_URL: running.url,
      SIDEBAND_API_KEY: running.key,
      SIDEBAND_USER_ID: "ada",
      SIDEBAND_PROJECT: "",
    };
    const off = [builtSideband(), "off"];
    assert.equal(spawnSync(process.execPath, off, { cwd: join(home, "shut"), env }).status, 0);
    for (const root of ["loom", "shut"]) {
      const slow = new ClientOfOld(info, { capabilities: { roots: {} } });
      const changed = new Promise<void>((resolve) => {
        slow.setNotificationHandler(ToolListChangedNotificationSchema, () => resolve());
      });
      const asked = new EventEmitter();
      slow.setRequestHandler(ListRootsRequestSchema, async () => (await once(asked, "said"))[0]);
      await slow.connect(new TransportOfOld({ ...launch([], env), cwd: join(home, "mill") }) as never);
      const call = caller(slow as unknown as TourClient);
      assert.ok((await slow.listTools()).tools.length > 0, "a host that is slow to say gets its tools");
      const early = await call("remember", { label: "PROJ.goal", value: "grind" });
      assert.match(early.content[0].text, /^no_project: The host has not said yet .* Call again/);
      asked.emit("said", { roots: [{ uri: pathToFileURL(join(home, root)).href }] });
      await changed;
      const late = await call("remember", { label: "PROJ.goal", value: root });
      if (root === "shut") {
        assert.match(late.content[0].text, /^memory_off: Sideband is off for shut-/);
        assert.deepEqual((await slow.listTools()).tools, []);
      } else assert.match(late.content[0].text, /^PROJ\.goal: now "loom"; undo: .* --project loom-/);
      await slow.close();
    }
    const { json } = await running.call("GET", "/users/history?user_id=ada");
    assert.deepEqual(
      json.changes.map(({ project, value }: Record<string, string>) => [project?.split("-")[0], value]),
      [["loom", "loom"]],
    );
  });

  test("a host that stays silent works in the folder in which it started the server, until it says another", async () => {
    const host = new EventEmitter();
    const answer = once(host, "said").then(([roots]) => roots);
    let late = 0;
    const asked = (silenceMs: number) => askRoots(answer, () => late++, { waitMs: 1, silenceMs });
    const [slow, silent] = [asked(Number.POSITIVE_INFINITY), asked(50)];
    // What is waited for keeps no process alive.
    const [first] = await Promise.all([slow(), setTimeout(60)]);
    assert.deepEqual(first, { roots: undefined, isKnown: false });
    await until(async () => (await silent()).isKnown);
    assert.equal((await silent()).roots, undefined);
    host.emit("said", ["file:///loom"]);
    await answer;
    for (const told of [slow, silent])
      assert.deepEqual(await told(), { roots: ["file:///loom"], isKnown: true });
    assert.equal(late, 2);
  });

  test("facts of the work are kept for the project of the client's roots, or else of the working directory", async (t) => {
    const running = endAfter(t, await startRunning());
    const home = temporaryFolder(t);
    for (const name of ["loom", "mill"]) mkdirSync(join(home, name, ".git"), { recursive: true });
    const env = {
      SIDEBAND_API_URL: running.url,
      SIDEBAND_API_KEY: running.key,
      SIDEBAND_USER_ID: "ada",
      SIDEBAND_PROJECT: "",
    };
    const start = { ...launch([], env), cwd: join(home, "mill") };

    const rooted = new ClientOfOld(info, { capabilities: { roots: { listChanged: true } } });
    let root = "loom";
    rooted.setRequestHandler(ListRootsRequestSchema, () => ({
      roots: [{ uri: pathToFileURL(join(home, root)).href }],
    }));
    await rooted.connect(new TransportOfOld(start) as never);
    const call = caller(rooted as unknown as TourClient);
    await call("remember", { label: "PROJ.goal", value: "weave" });
    await call("remember", { label: "USER.name", value: "Ada" });
    root = ".";
    await rooted.sendRootsListChanged();
    const outside = await call("remember", { label: "PROJ.goal", value: "rest", scope: "project" });
    assert.match(outside.content[0].text, /^PROJ\.goal: now "rest"; /, "the folder is a place of its own");
    await rooted.close();

    // A client of 2026-07-28 is not asked for roots.
    const modern = new Client(info, { versionNegotiation: { mode: { pin: "2026-07-28" } } });
    await modern.connect(new StdioClientTransport(start));
    const callModern = caller(modern as unknown as TourClient);
    await callModern("remember", { label: "PROJ.goal", value: "grind" });
    const secret = await callModern("remember", { label: "PROJ.constraint", value: "password=hunter2" });
    assert.equal(secret.isError, true);
    assert.match(secret.content[0].text, /^secret_refused: This looks like a password/);
    const facts = [
      { label: "USER.name", value: "Ada" },
      { label: "PROJ.goal", value: "grind" },
    ];
    const all = (await callModern("recall")).structuredContent.facts;
    assert.deepEqual(
      all.map(({ label, value }: { label: string; value: string }) => ({ label, value })),
      facts,
    );
    // One block for the person in this project.
    const { fdm_block } = (await callModern("flush")).structuredContent;
    assert.equal(fdm_block.split("[MEM]").length, 2);
    const read = (await callModern("read_block", { block: fdm_block })).structuredContent;
    assert.deepEqual(
      read.facts,
      facts.map((fact) => ({ ...fact, mark: "current" })),
    );
    await modern.close();

    const goalOf = async (name: string) => {
      const project = projectName(join(home, name));
      const { json } = await running.call("GET", `/decode?user_id=ada&project=${project}&label=PROJ.goal`);
      return json.value;
    };
    assert.deepEqual([await goalOf("loom"), await goalOf("mill")], ["weave", "grind"]);
    assert.equal((await running.call("GET", "/facts?user_id=ada")).json.channel_count, 1);
  });

  test("a client is told that the list of tools has changed when a label was added, and has no block unless asked", async (t) => {
    const running = endAfter(t, await startRunning());
    const client = new ClientOfOld(info);
    const changed = new Promise<void>((resolve) => {
      client.fallbackNotificationHandler = async ({ method }) => {
        if (method === "notifications/tools/list_changed") resolve();
      };
    });
    const args = ["--data", running.folder, "--account", "acme", "--user", "ada"];
    await client.connect(
      new TransportOfOld(launch(args, { SIDEBAND_INCLUDE: "", SIDEBAND_GROUPS: "all" })) as never,
    );
    const names = async () => (await client.listTools()).tools.map(({ name }) => name);
    assert.deepEqual(await names(), ["remember", "recall", "find", "forget", "add_label", "history"]);
    const call = caller(client as unknown as TourClient);
    await call("add_label", { label: "FAMILY.wife", description: "her name" });
    await changed;
    assert.match(
      (await client.listTools()).tools[0].description ?? "",
      /FAMILY: wife \("her name"\); USER: /,
    );
    await call("remember", { label: "FAMILY.wife", value: "Grace" });
    const { contents } = await client.readResource({ uri: "sideband://memory/ada" });
    const { text } = contents[0] as { text: string };
    assert.ok(text.includes("FAMILY.wife=Grace") && !text.includes("[MEM]"), text);
    await client.close();
  });

  test("a key that may add no labels is not offered to", async (t) => {
    const running = endAfter(t, await startRunning());
    for (const [user, access] of [
      ["ada", "write"],
      [null, "read"],
    ] as const) {
      const bound = { account: "acme", tier: "unlimited", user, access } as const;
      const { key } = await running.service.core.keys.create(bound);
      const client = new Client(info);
      const service = { SIDEBAND_API_URL: running.url, SIDEBAND_API_KEY: key };
      const env = { ...service, SIDEBAND_INCLUDE: "", SIDEBAND_GROUPS: "all" };
      await client.connect(new StdioClientTransport(launch(["--user", "ada"], env)));
      const { tools } = await client.listTools();
      assert.deepEqual(fieldsOf(tools, "name"), ["remember", "recall", "find", "forget", "history"]);
      const call = caller(client as unknown as TourClient);
      if (access === "write") {
        await call("remember", { label: "FAMILY.wife", value: "Grace" });
        assert.match((await client.listTools()).tools[0].description ?? "", /: FAMILY: wife; USER: /);
        const refused = await call("remember", { label: "FAMILY.wief", value: "Grace" });
        assert.match(
          refused.content[0].text,
          /^unknown_label: .* FAMILY\.wife\? If not, new_label: "certain" /,
        );
      }
      await client.close();
    }
  });

  test("a message that is too long is answered, told on standard error and left out, and the next one is served", {
    timeout: 60_000,
  }, async (t) => {
    const { command, args, env } = launch([], {
      HOME: temporaryFolder(t),
      SIDEBAND_API_URL: await closedPort(),
    });
    const child = spawn(command, args, { env });
    t.after(() => child.kill("SIGKILL"));
    let [out, err] = ["", ""];
    child.stderr.setEncoding("utf8").on("data", (text) => {
      err += text;
    });
    const answers = (count: number) =>
      new Promise<void>((resolve) => {
        child.stdout.setEncoding("utf8").on("data", (text) => {
          out += text;
          if (out.split("\n").length > count) resolve();
        });
      });
    const long = "x".repeat(12 << 20);
    const ping = (id: unknown) => ({ jsonrpc: "2.0", id, method: "ping" });
    const clientInfo = { capabilities: {}, clientInfo: info, protocolVersion: "2025-06-18" };
    const messages = [
      { ...ping(0), method: "initialize", params: clientInfo },
      { jsonrpc: "2.0", method: "notifications/initialized" },
      { ...ping("a-1"), params: { long } },
      { method: "ping", params: { long: { long, id: 7 } }, jsonrpc: "2.0", id: 2 },
      { method: "ping", params: { long, id: 8 } },
      ping(3),
    ];
    const answered = answers(4);
    child.stdin.write(messages.map((message) => `${JSON.stringify(message)}\n`).join(""));
    await answered;
    const told = "the message has more than 8 MiB: nothing was done";
    const error = { code: -32600, message: told };
    assert.deepEqual(
      out
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line))
        .map(({ id, error: fault }) => [id, fault])
        .sort(),
      [
        [0, undefined],
        [2, error],
        [3, undefined],
        ["a-1", error],
      ],
    );
    assert.equal(err, `sideband mcp: ${told}\n`.repeat(3));
    const ended = once(child, "exit");
    child.kill("SIGTERM");
    assert.deepEqual(await ended, [0, null], "while its input is open");
  });

  test("--labels says what the tools offer and write; a list that is none is refused before anything starts", async (t) => {
    const running = endAfter(t, await startRunning());
    const client = new Client(info);
    const env = { SIDEBAND_API_URL: running.url, SIDEBAND_API_KEY: running.key, SIDEBAND_GROUPS: "all" };
    await client.connect(
      new StdioClientTransport(launch(["--user", "ada", "--labels", "LANG.*, PREF.tone"], env)),
    );
    const call = caller(client as unknown as TourClient);
    await call("remember", { label: "LANG.spoken", value: "Dutch" });
    const { tools } = await client.listTools();
    assert.match(
      tools[0].description ?? "",
      /only LANG\.\*, PREF\.tone can be written\. .*: LANG: spoken; PREF: tone$/,
    );
    for (const [name, input] of [
      ["remember", { label: "USER.name", value: "Ada" }],
      ["history", { label: "LANG.spoken", rename_to: "USER.spoken" }],
      ["forget", { label: "USER.name" }],
      ["add_label", { label: "FAMILY.wife", description: "her name" }],
    ] as const) {
      const refused = await call(name, input);
      assert.match(refused.content[0].text, /^label_not_allowed: .* written here: LANG\.\*, PREF\.tone\.$/);
    }
    const { facts } = (await running.call("GET", "/facts?user_id=ada")).json;
    assert.deepEqual(fieldsOf(facts, "label"), ["LANG.spoken"]);
    await client.close();
    const { command, args } = launch(["--labels", "lang.*"], env);
    const { status, stderr } = spawnSync(command, args, { encoding: "utf8" });
    assert.equal(status, 2);
    assert.match(
      stderr,
      /^sideband mcp: --labels must be 1 to 32 labels, or groups of labels, as in [^\n]+\n$/,
    );
  });

  test("with the service away the server starts, and a tool says so within 2 seconds", async () => {
    const client = new Client(info);
    const env = {
      SIDEBAND_API_URL: await closedPort(),
      SIDEBAND_API_KEY: "sb_live_x",
      SIDEBAND_TIMEOUT_MS: "",
    };
    await client.connect(new StdioClientTransport(launch([], env)));
    const startMs = performance.now();
    const result = await caller(client as unknown as TourClient)("recall");
    // With the patience that a person has at a terminal it would be 30 seconds.
    assert.ok(performance.now() - startMs < 20_000);
    assert.equal(result.isError, true);
    // On a busy machine the time may be over before the refusal is read.
    assert.match(result.content[0].text, /^(?:connection_failed: cannot reach http|timeout: no answer)/);
    const resources = await client.listResources();
    // Without a setting, the memory is that of the user who runs it.
    assert.deepEqual(fieldsOf(resources.resources, "uri"), [
      `sideband://memory/${encodeURIComponent(userInfo().username)}`,
    ]);
    await client.close();
  });
});
