/**
 * A program as a user of the AI SDK writes it, in a folder of its own: compiled against the SDK that it has, and run. This
 * package is installed from a tarball, or as a link to its folder, where it has an AI SDK of its own beside it.
 */

import assert from "node:assert/strict";
import { execFile, execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { Sideband } from "../../src/sdk/index.ts";
import { packageFolder } from "./built.ts";

export interface ProgramOptions {
  /** The folder of the SDK's package. */
  readonly sdk: string;
  readonly specificationVersion: "v3" | "v4";
  /** The folder of this package, unpacked or our own. */
  readonly sideband: string;
  readonly settings: { readonly SIDEBAND_API_URL: string; readonly SIDEBAND_API_KEY: string };
  /** The Node that the SDK needs. */
  readonly node?: string;
}

/** Throws where the program does not compile, or does not do what it should. */
export async function tryAiSdkProgram(options: ProgramOptions): Promise<void> {
  const { sdk, specificationVersion, sideband, settings, node = process.execPath } = options;
  const folder = mkdtempSync(join(tmpdir(), "sideband-ai-sdk-"));
  try {
    mkdirSync(join(folder, "node_modules"));
    symlinkSync(sdk, join(folder, "node_modules", "ai"), "dir");
    symlinkSync(sideband, join(folder, "node_modules", "sideband"), "dir");
    writeFileSync(join(folder, "package.json"), '{ "type": "module" }');
    writeFileSync(join(folder, "program.ts"), programText(specificationVersion));
    const compilerOptions = {
      ...{ module: "node16", target: "es2022", strict: true, types: [], skipLibCheck: true },
      lib: ["es2023", "dom"],
    };
    writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions, files: ["program.ts"] }));
    const compiler = join(packageFolder, "node_modules", "typescript", "bin", "tsc");
    try {
      execFileSync(process.execPath, [compiler, "-p", folder], { encoding: "utf8", stdio: "pipe" });
    } catch (error) {
      assert.fail((error as { stdout: string }).stdout);
    }
    const { stdout, stderr } = await promisify(execFile)(node, [join(folder, "program.js")], {
      env: { PATH: process.env.PATH, ...settings },
    });
    assert.deepEqual([stdout, stderr], ["done in Oslo, 20 degrees; the prompt has PREF.tone=dry\n", ""]);
    const memory = new Sideband({ baseUrl: settings.SIDEBAND_API_URL, apiKey: settings.SIDEBAND_API_KEY });
    assert.equal((await memory.decode("ada", "PREF.tone")).value, "dry");
    await memory.forgetUser("ada");
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const programText = (version: "v3" | "v4") => `
import { generateText, jsonSchema, stepCountIs, tool, wrapLanguageModel } from "ai";
import { MockLanguageModel${version.toUpperCase()} as ScriptedModel } from "ai/test";
import { Sideband } from "sideband";
import { sidebandMiddleware, sidebandTools } from "sideband/ai-sdk";

declare const console: { log(line: string): void };
const options = { memory: new Sideband(), userId: "ada", timeoutMs: 20_000 };
const calls = [
  { toolName: "remember", input: { label: "PREF.tone", value: "dry" } },
  { toolName: "weather", input: { city: "Oslo" } },
].map((call, i) => ({ type: "tool-call", toolCallId: String(i), toolName: call.toolName, input: JSON.stringify(call.input) }));
const prompts: string[] = [];
const model = new ScriptedModel({
  doGenerate: (async ({ prompt }: { prompt: unknown }) => {
    const isFirst = prompts.push(JSON.stringify(prompt)) === 1;
    return {
      content: isFirst ? calls : [{ type: "text", text: "done" }],
      finishReason: { unified: isFirst ? "tool-calls" : "stop", raw: "x" },
      usage: { inputTokens: { total: 1 }, outputTokens: { total: 1 } },
      warnings: [],
    };
  }) as never,
});
const weather = tool({
  description: "The weather in a city",
  inputSchema: jsonSchema<{ city: string }>({ type: "object", properties: { city: { type: "string" } } }),
  execute: async ({ city }) => ({ city, degrees: 20 }),
});
const { text, steps } = await generateText({
  model: wrapLanguageModel({
    model,
    middleware: sidebandMiddleware({ ...options, specificationVersion: "${version}" }),
  }),
  tools: { ...(await sidebandTools(options)), weather },
  system: "You are terse.",
  prompt: "Hello",
  stopWhen: stepCountIs(3),
});
for (const call of steps[0].toolCalls) {
  if (call.dynamic) continue;
  call.toolName satisfies "weather" | "remember" | "recall" | "find" | "forget" | "history";
  if (call.toolName === "remember" && call.input.label !== "PREF.tone") console.log("?");
  if (call.toolName !== "weather") continue;
  const city: string = call.input.city;
  // @ts-expect-error: the program's own tool has no such input
  if (city !== "Oslo") console.log(call.input.town);
}
let said = "";
for (const result of steps[0].toolResults) {
  if (result.dynamic || result.toolName !== "weather") continue;
  const degrees: number = result.output.degrees;
  said = \`in \${result.output.city}, \${degrees} degrees\`;
}
// @ts-expect-error: there is no such tool
if ((await sidebandTools(options)).remmeber !== undefined) console.log("?");
console.log(\`\${text} \${said}; the prompt has \${/PREF\\.tone=dry/.exec(prompts[1])?.[0]}\`);
`;
