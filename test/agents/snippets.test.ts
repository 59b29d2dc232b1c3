/**
 * Every snippet of docs/agents, run as it is written. Programs of hosts are stand-ins here that only answer; npm run
 * test:hosts runs the same lines with the real ones.
 */

import assert from "node:assert/strict";
import { chmodSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { suite, test } from "node:test";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { transformSync } from "esbuild";
import { endAfter } from "../fixtures/ends.ts";
import { startStandInModel } from "../hosts/stand-in-model.ts";
import { startRunning } from "../http/running-service.ts";
import { caller, type TourClient } from "../mcp/tour.ts";
import { packageFolder } from "./built.ts";
import { endOwner, makeHost } from "./host.ts";

interface Snippet {
  readonly page: string;
  readonly language: string;
  readonly text: string;
}

const folder = join(packageFolder, "docs", "agents");
const SNIPPETS: readonly Snippet[] = readdirSync(folder).flatMap((page) =>
  [...readFileSync(join(folder, page), "utf8").matchAll(/^```(\w*)\n([\s\S]*?)^```$/gm)].map(
    ([, language, text]) => ({ page, language, text }),
  ),
);
/** test/agents/example.test.ts runs this one, and compares what it prints with the page. */
const EXAMPLE = "node examples/forgetful-agent.mjs";
const snippetsIn = (language: string) =>
  SNIPPETS.filter((snippet) => snippet.language === language && !snippet.text.includes(EXAMPLE));

suite("snippets", { concurrency: false }, () => {
  test("every snippet has a language that is run, or is what is printed", () => {
    const known = ["sh", "ts", "python", "json", ""];
    assert.deepEqual(
      SNIPPETS.filter(({ language }) => !known.includes(language)),
      [],
    );
    const counts = ["sh", "ts", "json"].map((language) => snippetsIn(language).length);
    assert.ok(counts[0] >= 7 && counts[1] >= 4 && counts[2] >= 2, counts.join(" "));
  });

  test("shell", async (t) => {
    const running = endAfter(t, await startRunning());
    const host = makeHost(t);
    for (const program of ["claude", "openclaw", "hermes"]) {
      writeFileSync(join(host.home, "bin", program), "#!/bin/sh\nexit 0\n");
      chmodSync(join(host.home, "bin", program), 0o755);
    }
    const owned = join(host.home, "data");
    for (const { page, text } of snippetsIn("sh")) {
      const line = text.replaceAll("sb_live_…", running.key).replaceAll("http://127.0.0.1:8787", running.url);
      const { status, stderr } = await host.shell(`set -e\n${line}`);
      await endOwner(owned);
      assert.deepEqual([status, stderr], [0, ""], `${page}: ${line}`);
    }
  });

  test("TypeScript", async (t) => {
    const running = endAfter(t, await startRunning());
    const model = endAfter(t, await startStandInModel(() => "It is decided."));
    const host = makeHost(t);
    const modules = join(host.home, "node_modules");
    for (const name of ["ai", "@langchain/langgraph", "@openai/agents"]) {
      mkdirSync(dirname(join(modules, name)), { recursive: true });
      symlinkSync(join(packageFolder, "node_modules", name), join(modules, name), "dir");
    }
    symlinkSync(packageFolder, join(modules, "sideband"), "dir");
    // The provider's package is the reader's choice, and not one of ours.
    mkdirSync(join(modules, "@ai-sdk", "openai"), { recursive: true });
    writeFileSync(
      join(modules, "@ai-sdk", "openai", "package.json"),
      '{"type":"module","exports":"./index.js"}',
    );
    writeFileSync(join(modules, "@ai-sdk", "openai", "index.js"), PROVIDER);
    writeFileSync(join(host.home, "package.json"), '{ "type": "module" }');
    const env = {
      SIDEBAND_API_URL: running.url,
      SIDEBAND_API_KEY: running.key,
      OPENAI_BASE_URL: `${model.url}/v1`,
      OPENAI_API_KEY: "stand-in",
      OPENAI_AGENTS_DISABLE_TRACING: "1",
    };
    // One after the other in one process, so that the frameworks are loaded once.
    const snippets = snippetsIn("ts");
    const all = snippets.map(({ page, text }, i) => {
      const { code } = transformSync(text, { loader: "ts", format: "esm" });
      writeFileSync(join(host.home, `snippet-${i}.mjs`), code);
      return `console.log("==== ${page}");\nawait import("./snippet-${i}.mjs");\n`;
    });
    writeFileSync(join(host.home, "all.mjs"), all.join(""));
    const { status, stdout, stderr } = await host.program(`"${process.execPath}" all.mjs`, { env });
    assert.deepEqual([status, stderr], [0, ""], stdout);
    const printed: Record<string, string> = {};
    for (const part of stdout.split("==== ").slice(1)) {
      const [, page, text] = /^(.*)\n([\s\S]*)$/.exec(part)!;
      printed[page] = `${printed[page] ?? ""}\n${text}`.trim();
    }
    assert.match(
      printed["sdk.md"],
      /^2026-12-01 \d{3,}\nUSER\.location=Rome\n[\s\S]*\nPROJ\.goal=weave\n2 planned$/,
    );
    assert.deepEqual(
      [printed["langgraph.md"], printed["ai-sdk.md"], printed["openai-agents.md"]],
      ["due 2026-12-01\nChidi", "It is decided.", "It is decided."],
    );
    // What the client's snippet kept is what the others' models have seen.
    assert.match(model.requests.at(-1)?.text ?? "", /TASK\.deadline=2026-12-01/);
  });

  test("Python", async (t) => {
    const running = endAfter(t, await startRunning());
    const host = makeHost(t);
    const client = join(packageFolder, "python");
    const page = readFileSync(join(client, "README.md"), "utf8");
    const texts = [...page.matchAll(/^```python\n([\s\S]*?)^```$/gm)].map(([, text]) => text);
    assert.equal(texts.length, 3);
    const env = {
      SIDEBAND_API_URL: running.url,
      SIDEBAND_API_KEY: running.key,
      PYTHONPATH: client,
      PYTHONDONTWRITEBYTECODE: "1",
    };
    // The program waits 2 seconds for its memory, as agents do: the first block is built before it runs.
    await running.call("POST", "/encode", { body: { user_id: "warm", label: "USER.name", value: "x" } });
    await running.call("POST", "/flush", { body: { user_id: "warm" } });
    const printed: string[] = [];
    for (const text of [...snippetsIn("python").map((snippet) => snippet.text), ...texts]) {
      const { status, stdout, stderr } = await host.program("python3 -", { env, input: text });
      assert.deepEqual([status, stderr], [0, ""], stderr);
      printed.push(stdout);
    }
    assert.deepEqual(printed.slice(0, 2), ["2026-12-01 True\n", "2026-12-01\n"]);
    assert.match(printed[2], /^You are terse\.[\s\S]*TASK\.next=pack/);
    assert.match(printed[3], /^USER\.location=Rome\n[\s\S]*PROJ\.goal=weave\n$/);
  });

  test("settings of MCP clients", async (t) => {
    const running = endAfter(t, await startRunning());
    const host = makeHost(t);
    for (const { page, text } of snippetsIn("json")) {
      const { mcpServers } = JSON.parse(
        text.replaceAll("sb_live_…", running.key).replaceAll("http://127.0.0.1:8787", running.url),
      );
      const { command, args, url, headers } = mcpServers.sideband;
      const env = {
        PATH: `${join(host.home, "bin")}:${process.env.PATH}`,
        HOME: host.home,
        SIDEBAND_DATA: running.folder,
      };
      const transport =
        url === undefined
          ? new StdioClientTransport({ command, args, env, cwd: host.home })
          : new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } });
      const client = new Client({ name: "test", version: "1.0.0" });
      try {
        await client.connect(transport);
        const { isError, content } = await caller(client as unknown as TourClient)("recall");
        assert.notEqual(isError, true, `${page}: ${content[0].text}`);
      } finally {
        await client.close();
      }
    }
  });
});

/** A model for the AI SDK that says one sentence. */
const PROVIDER = `
import { MockLanguageModelV3 } from ${JSON.stringify(join(packageFolder, "node_modules/ai/dist/test/index.js"))};
const answer = {
  content: [{ type: "text", text: "It is decided." }],
  finishReason: { unified: "stop", raw: "stop" },
  usage: { inputTokens: { total: 1 }, outputTokens: { total: 1 } },
  warnings: [],
};
export const openai = () => new MockLanguageModelV3({ doGenerate: async () => answer });
`;
