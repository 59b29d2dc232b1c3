/**
 * `sideband mcp` as a host starts it: a process on standard input and output, with the official clients. Once on
 * a data folder without any server, beside which a service runs, and once against that service.
 */

import assert from "node:assert/strict";
import { userInfo } from "node:os";
import { suite, test } from "node:test";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { Client as ClientOfOld } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport as TransportOfOld } from "@modelcontextprotocol/sdk/client/stdio.js";
import { builtSideband } from "../agents/built.ts";
import { startRunning } from "../http/running-service.ts";
import { closedPort } from "../unit/sdk/scripted-server.ts";
import { caller, type TourClient, tour } from "./tour.ts";

const info = { name: "test", version: "1.0.0" };

function launch(args: string[], env: Record<string, string>) {
  return {
    command: process.execPath,
    args: [builtSideband(), "mcp", ...args],
    env: { PATH: process.env.PATH ?? "", HOME: process.env.HOME ?? "", SIDEBAND_TIMEOUT_MS: "20000", ...env },
    stderr: "inherit" as const,
  };
}

suite("sideband mcp", { concurrency: false }, () => {
  test("a data folder without a server, a client of 2026-07-28; a service beside it sees the facts", async (t) => {
    const running = await startRunning();
    t.after(() => running.end());
    const client = new Client(info, { versionNegotiation: { mode: { pin: "2026-07-28" } } });
    const args = ["--data", running.folder, "--account", "acme", "--user", "ada"];
    await client.connect(new StdioClientTransport(launch(args, {})));
    await tour(client as unknown as TourClient, "ada");
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
    const running = await startRunning();
    t.after(() => running.end());
    const old = new ClientOfOld(info);
    const env = {
      SPECTRAL_MEMORY_API_URL: running.url,
      SPECTRAL_MEMORY_API_KEY: running.key,
      SPECTRAL_MEMORY_USER_ID: "grace",
    };
    await old.connect(new TransportOfOld(launch([], env)) as never);
    await tour(old as unknown as TourClient, "grace");

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

  test("with the service away the server starts, and a tool says so within 2 seconds", async () => {
    const client = new Client(info);
    const env = {
      SIDEBAND_API_URL: await closedPort(),
      SIDEBAND_API_KEY: "sb_live_x",
      SIDEBAND_TIMEOUT_MS: "",
    };
    await client.connect(new StdioClientTransport(launch([], env)));
    const startMs = performance.now();
    const result = await caller(client as unknown as TourClient)("list");
    assert.ok(performance.now() - startMs < 2_500);
    assert.equal(result.isError, true);
    assert.match(result.content[0].text, /^connection_failed: cannot reach http/);
    const resources = await client.listResources();
    // Without a setting, the memory is that of the user who runs it.
    assert.deepEqual(
      resources.resources.map(({ uri }) => uri),
      [`sideband://memory/${encodeURIComponent(userInfo().username)}`],
    );
    await client.close();
  });
});
