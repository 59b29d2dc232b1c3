/**
 * The official conformance suite against /mcp, run by its own command. The results must be those of
 * conformance-expected.json, which says of each scenario that is not passed why it does not apply: one that fails
 * anew fails the test, and so does one that passes although the file says otherwise.
 *
 * The suite cannot send a key, so it calls through a proxy that adds one and changes nothing else.
 */

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { createServer, request, type Server } from "node:http";
import { createRequire } from "node:module";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { endAfter } from "../fixtures/ends.ts";
import { startRunning } from "../http/running-service.ts";
import expected from "./conformance-expected.json" with { type: "json" };

const TIMEOUT_MS = 240_000;

test("the conformance suite has the expected results", async (t) => {
  const running = endAfter(t, await startRunning({}, undefined, { warm: false }));
  const proxy = await proxyWithKey(running.url, running.key);
  t.after(() => {
    proxy.close();
    proxy.closeAllConnections();
  });
  const { port } = proxy.address() as AddressInfo;
  const results = await runSuite(`http://localhost:${port}/mcp?user_id=ada`);

  const passed = results.filter(({ faults }) => faults.length === 0).map(({ scenario }) => scenario);
  const failed = results.filter(({ faults }) => faults.length > 0);
  const why = failed.map(({ scenario, faults }) => `${scenario}: ${faults.join("; ")}`).join("\n");
  assert.deepEqual(passed.sort(), expected.passed.toSorted(), why);
  assert.deepEqual(
    failed.map(({ scenario }) => scenario).sort(),
    Object.keys(expected.not_passed).sort(),
    why,
  );
});

/** A scenario and what was wrong in it. Only one with at least one check that succeeded is without faults. */
interface Result {
  readonly scenario: string;
  readonly faults: readonly string[];
}

async function runSuite(url: string): Promise<Result[]> {
  const folder = mkdtempSync(join(tmpdir(), "sideband-conformance-"));
  const entry = createRequire(import.meta.url).resolve("@modelcontextprotocol/conformance/package.json");
  const command = join(dirname(entry), "dist/index.js");
  try {
    // Its exit status says only that some scenario failed; the files say which.
    await new Promise<void>((resolve) => {
      const args = [command, "server", "--url", url, "--suite", "all", "--output-dir", folder];
      execFile(process.execPath, args, { timeout: TIMEOUT_MS, maxBuffer: 2 ** 26 }, () => resolve());
    });
    return readdirSync(folder).map((name) => {
      const checks = JSON.parse(readFileSync(join(folder, name, "checks.json"), "utf8")) as Check[];
      // The folder is named server-SCENARIO-TIME.
      const scenario = name.replace(/^server-/, "").replace(/-\d{4}-\d\d-\d\dT[\d-]+Z$/, "");
      return { scenario, faults: faultsOf(checks) };
    });
  } finally {
    rmSync(folder, { recursive: true });
  }
}

interface Check {
  readonly id: string;
  readonly status: "SUCCESS" | "FAILURE" | "WARNING" | "INFO" | "SKIPPED";
  readonly errorMessage?: string;
}

function faultsOf(checks: readonly Check[]): string[] {
  const faults = checks.filter(({ status }) => status === "FAILURE" || status === "WARNING");
  if (faults.length > 0) return faults.map(({ id, errorMessage }) => `${id} ${errorMessage ?? ""}`);
  return checks.some(({ status }) => status === "SUCCESS") ? [] : ["nothing was checked"];
}

async function proxyWithKey(serviceUrl: string, key: string): Promise<Server> {
  const proxy = createServer((incoming, outgoing) => {
    const { method = "GET", url = "/", headers } = incoming;
    const options = { method, headers: { ...headers, authorization: `Bearer ${key}` } };
    const onward = request(serviceUrl + url, options, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(outgoing);
    });
    onward.on("error", () => outgoing.destroy());
    outgoing.on("close", () => onward.destroy());
    incoming.pipe(onward);
  });
  await once(proxy.listen(0, "127.0.0.1"), "listening");
  return proxy;
}
