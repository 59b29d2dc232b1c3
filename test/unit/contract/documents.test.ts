/**
 * What the documents and the tables of the code say of each other. The tables in the documents are written by
 * npm run docs, which CI checks.
 */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { sizeText } from "../../../scripts/document-tables.ts";
import { TIERS } from "../../../src/base/accounts.ts";
import { ERRORS } from "../../../src/base/error-codes.ts";
import { ConfigError } from "../../../src/base/errors.ts";
import { BODY_BYTES_MAX } from "../../../src/base/limits.ts";
import { readConfig } from "../../../src/config.ts";
import type { Operation } from "../../../src/contract/operation.ts";
import { OPERATIONS } from "../../../src/contract/operations.ts";

const read = (name: string) => readFileSync(new URL(`../../../docs/${name}`, import.meta.url), "utf8");

test("every operation that takes a body may refuse its type and its size", () => {
  for (const [id, { body, errors }] of Object.entries<Operation>(OPERATIONS)) {
    if (body === undefined) continue;
    for (const code of ["unsupported_media_type", "body_too_large"] as const)
      assert.ok(errors.includes(code), `${id}: ${code}`);
  }
});

test("docs/API.md names every error code", () => {
  const named = new Set(Array.from(read("API.md").matchAll(/`([a-z_]+)`/g), ([, code]) => code));
  assert.deepEqual(
    Object.keys(ERRORS).filter((code) => !named.has(code)),
    [],
  );
});

test("the error body_too_large names the body sizes of the code", () => {
  const { encodeBatch, read: readBlock, demoRead } = OPERATIONS;
  const sizes = [encodeBatch, readBlock, demoRead].map(
    ({ path, bodyBytesMax }) => `${sizeText(bodyBytesMax)} on ${path}`,
  );
  const expected = `A body may have at most ${sizeText(BODY_BYTES_MAX)}; ${sizes.join(", ")}.`;
  assert.equal(ERRORS.body_too_large.meaning, expected);
});

test("docs/OPERATIONS.md names every tier", () => {
  assert.ok(read("OPERATIONS.md").includes(`by tier of the account: ${TIERS.join(", ")}, demo, owner`));
});

test("a setting that is unknown or out of range stops the start and is named", () => {
  const config = readConfig(
    {},
    { PATH: "/bin", SIDEBAND_PORT: "0", SIDEBAND_TRUST_PROXY: "10.0.0.0/8, ::1" },
  );
  assert.equal(config.port, 0);
  assert.deepEqual(config.trustProxy, ["10.0.0.0/8", "::1"]);
  assert.ok(Object.isFrozen(config));
  assert.throws(() => readConfig({}, { SIDEBAND_PROT: "1" }), /unknown setting SIDEBAND_PROT/);
  const wrong = {
    SIDEBAND_PORT: ["", "-1", "65536", "80a", "1e3"],
    SIDEBAND_WORKERS: ["0", "129"],
    SIDEBAND_DEMO: ["yes"],
    SIDEBAND_TRUST_PROXY: [
      "anyone",
      "1.5",
      "300.1.1.1",
      "10.0.0.0/33",
      "::1/129",
      "1.2.3.4:80",
      "fe80::1%eth0",
      "100",
    ],
    SIDEBAND_LOG_LEVEL: ["loud"],
    SIDEBAND_PUBLIC_URL: ["example.org", "ftp://x"],
    SIDEBAND_ADMIN_TOKEN: ["short"],
  };
  for (const [name, values] of Object.entries(wrong)) {
    for (const value of values) {
      const started = () => readConfig({}, { [name]: value });
      assert.throws(
        started,
        (error: Error) => error instanceof ConfigError && error.message.startsWith(name),
      );
    }
  }
});

test("docs/agents/README.md names the versions that the tests install", () => {
  const installed = (lock: string, name: string) =>
    JSON.parse(read(`../${lock}`)).packages[`node_modules/${name}`].version;
  const hosts = "test/hosts/package-lock.json";
  const versions = {
    "Claude Code": installed(hosts, "@anthropic-ai/claude-code"),
    "Codex CLI": installed(hosts, "@openai/codex"),
    OpenClaw: installed(hosts, "openclaw"),
    "Gemini CLI": installed(hosts, "@google/gemini-cli"),
    opencode: installed(hosts, "opencode-linux-x64"),
    Cline: installed(hosts, "@cline/sdk"),
    "MCP inspector": installed(hosts, "@modelcontextprotocol/inspector"),
    "AI SDK 7": installed(hosts, "ai"),
    "AI SDK 6": installed("package-lock.json", "ai"),
    "AI SDK 6 oldest": installed("package-lock.json", "ai-6"),
    "OpenAI Agents": installed(hosts, "@openai/agents"),
    "OpenAI Agents on Node 20": installed("package-lock.json", "@openai/agents"),
    LangGraph: installed("package-lock.json", "@langchain/langgraph"),
  };
  const page = read("agents/README.md");
  const named = [...page.matchAll(/^\| ([A-Za-z][\w ]*) \| (\d[\w.]*) \|/gm)].map(([, host, version]) => [
    host,
    version,
  ]);
  assert.deepEqual(Object.fromEntries(named), versions);
});
