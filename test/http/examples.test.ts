/**
 * The examples of the API reference are true: a real service gives the same answers as the file has them, but for
 * times, ids and the like; and each of the shown programs, for curl, TypeScript and Python, runs.
 */

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";
import { EXAMPLE_SETTINGS, makeExamples } from "../../scripts/make-examples.ts";
import { openApiDocument } from "../../src/contract/openapi.ts";
import { OPERATION_EXAMPLES } from "../../src/contract/operation-examples.generated.ts";
import { OPERATIONS } from "../../src/contract/operations.ts";
import { type Document, groupsOf } from "../../src/web/reference/openapi.ts";
import { requestSamples } from "../../src/web/reference/request-samples.ts";
import { builtSideband, packageFolder } from "../agents/built.ts";
import { endAfter } from "../fixtures/ends.ts";
import { type Running, startRunning } from "./running-service.ts";

const ADMIN_TOKEN = "admin-token-for-tests";
const DOCUMENT = openApiDocument({ version: "", serverUrl: "" }) as unknown as Document;
/** The facts that the examples are about, written again before each of them. */
const DEADLINE = { label: "TASK.deadline", value: "2026-12-01" };
const FACTS = [{ label: "USER.name", value: "Ada Lovelace" }, DEADLINE];
const LIST = { label: "PREF.tools", value: "ripgrep; jq" };
const RESTORE = [
  ["/encode/batch", { user_id: "ada", facts: [...FACTS, LIST] }],
  ["/encode/batch", { user_id: "a-user-to-forget", facts: FACTS }],
  ["/demo/encode", DEADLINE],
  ["/channels", { label: "FAMILY.dog", description: "What the dog is called" }],
] as const;
const run = promisify(execFile);

/** What differs between two services that answer alike: times, ids, and figures of the process. */
const CHANGING =
  /^(id|key_id|request_id|latency_ms|at|\w+_at|next_cursor|from|to|day|resets_in_s|process_id|size_bytes|version|versions|facts_total)$/;

function steady(value: unknown, name = ""): unknown {
  if (CHANGING.test(name) && value !== null) return typeof value;
  // The examples of the events and of the export are texts.
  if (typeof value === "string") return value.replace(/(?<=^id: ).*|(?<="(?:at|\w+_at|since)":")[^"]*/gm, "");
  if (Array.isArray(value)) return value.map((item) => steady(item));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, steady(inner, key)]));
}

test("every example is what the service answers (npm run examples writes them anew)", async (t) => {
  const running = endAfter(t, await startRunning(EXAMPLE_SETTINGS));
  // The accounts of the examples' own service: "acme" with a key of tier pro.
  const key = await running.newKey("acme", "pro");
  const made = await makeExamples({ url: running.url, key, adminToken: ADMIN_TOKEN });
  assert.deepEqual(Object.keys(OPERATION_EXAMPLES).sort(), Object.keys(OPERATIONS).sort());
  for (const [id, example] of Object.entries(made)) {
    // These two list the keys of the whole service, and this one has a key more.
    if (id === "adminAccounts" || id === "adminUsage") continue;
    assert.deepEqual(steady(example), steady(OPERATION_EXAMPLES[id as keyof typeof OPERATION_EXAMPLES]), id);
  }
});

/** By language: how it is run, and one program that runs each file after it has written the facts anew. */
const DRIVERS: Readonly<Record<string, { command: string; driver: (files: readonly string[]) => string }>> = {
  sh: {
    command: "sh",
    driver: (files) =>
      files
        .map(
          (file) => `curl ${RESTORE.map(curlPart).join(" --next ")}\necho "==== ${file}"\n. ./${file}\necho`,
        )
        .join("\n"),
  },
  ts: {
    command: process.execPath,
    driver: (
      files,
    ) => `const headers = { authorization: "Bearer " + process.env.SIDEBAND_API_KEY, "content-type": "application/json" };
for (const file of ${JSON.stringify(files)}) {
  for (const [path, body] of ${JSON.stringify(RESTORE)})
    await fetch(process.env.ADDRESS + path, { method: "POST", headers, body: JSON.stringify(body) });
  console.log("==== " + file);
  await import("./" + file);
}`,
  },
  python: {
    command: "python3",
    driver: (files) => `import json, os, runpy, urllib.request
for file in ${JSON.stringify(files)}:
    for path, body in ${JSON.stringify(RESTORE)}:
        request = urllib.request.Request(os.environ["ADDRESS"] + path, json.dumps(body).encode())
        request.add_header("Authorization", "Bearer " + os.environ["SIDEBAND_API_KEY"])
        request.add_header("Content-Type", "application/json")
        urllib.request.urlopen(request).read()
    print("==== " + file, flush=True)
    runpy.run_path(file)
`,
  },
};

/** All of them in one process: most of a call's processor time is the start of curl. */
const curlPart = ([path, body]: readonly [string, unknown]) =>
  `-s -o restored "$ADDRESS${path}" -H "Authorization: Bearer $SIDEBAND_API_KEY" -H "Content-Type: application/json" -d '${JSON.stringify(body)}'`;

for (const [language, { command, driver }] of Object.entries(DRIVERS)) {
  test(`every program of the reference runs: ${language}`, async (t) => {
    builtSideband();
    const running = await startRunning(EXAMPLE_SETTINGS);
    const folder = mkdtempSync(join(tmpdir(), "sideband-samples-"));
    t.after(async () => {
      await running.end();
      rmSync(folder, { recursive: true });
    });
    mkdirSync(join(folder, "node_modules"));
    symlinkSync(packageFolder, join(folder, "node_modules", "sideband"));
    // An earlier value, which the other programs leave in the history.
    await running.call("POST", "/encode", { body: { user_id: "ada", ...LIST, value: "fd" } });
    for (const [path, body] of RESTORE) await running.call("POST", path, { body });
    const files: string[] = [];
    for (const { name, operations } of groupsOf(DOCUMENT)) {
      for (const operation of operations) {
        // This one listens until it is stopped.
        if (operation.id === "events") continue;
        const { text } = requestSamples(name, operation).find((sample) => sample.language === language)!;
        const file = `${operation.id}.${language === "ts" ? "mjs" : language}`;
        writeFileSync(join(folder, file), await preparedFor(operation.id, text, running));
        files.push(file);
      }
    }
    const program = language === "ts" ? "run-all.mjs" : "run-all";
    writeFileSync(join(folder, program), driver(files));
    const env = {
      ...process.env,
      ADDRESS: running.url,
      SIDEBAND_API_KEY: running.key,
      SIDEBAND_ADMIN_TOKEN: ADMIN_TOKEN,
    };
    const { stdout } = await run(command, [program], { env, cwd: folder, maxBuffer: 1 << 24 }).catch(
      (error: { stdout: string; stderr: string }) =>
        assert.fail(`${error.stderr}\nafter ${error.stdout.slice(-500)}`),
    );
    const said = stdout.split("==== ").slice(1);
    assert.equal(said.length, files.length);
    for (const text of said) assert.doesNotMatch(text, /"code": *"|^\S+\s*$/, text);
  });
}

/** The program with the service's address, and with ids that the service knows. */
async function preparedFor(id: string, text: string, running: Running): Promise<string> {
  const program = text.replaceAll("http://127.0.0.1:8787", running.url);
  if (id === "restore") {
    const history = await running.call("GET", `/facts/history?user_id=ada&label=${LIST.label}`);
    const { revision } = history.json.revisions.at(-1);
    return program.replace(/("?revision"?: |"PREF\.tools", |"revision":)\d+/, `$1${revision}`);
  }
  const { params } = OPERATION_EXAMPLES[id as keyof typeof OPERATION_EXAMPLES];
  if (params?.id === undefined) return program;
  const { keys } = running.service.core;
  if (/Key$/.test(id)) {
    const { record } = await keys.create({ account: "navy", tier: "pro" });
    return program.replace(params.id, record.id);
  }
  await keys.request({ name: "Grace", email: "grace@navy.example", purpose: id });
  const request = (await keys.requests()).find(({ purpose }) => purpose === id)!;
  return program.replace(params.id, request.id);
}
