/** The samples of docs/QUICKSTART.md run, each language as one program, and say what the page says. */

import assert from "node:assert/strict";
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { endAfter } from "../fixtures/ends.ts";
import { startRunning } from "../http/running-service.ts";
import { builtSideband, packageFolder } from "./built.ts";
import { makeHost } from "./host.ts";

const QUICKSTART = readFileSync(join(packageFolder, "docs", "QUICKSTART.md"), "utf8");
const FIRST_HOUR = readFileSync(join(packageFolder, "scripts", "first-hour.sh"), "utf8");
const ADDRESS = "http://127.0.0.1:8787";

const SAMPLES = [...QUICKSTART.matchAll(/^```(\w*)\n([\s\S]*?)^```$/gm)].map(([, language, text]) => ({
  language,
  text,
}));
const textsOf = (language: string) =>
  SAMPLES.filter((sample) => sample.language === language).map(({ text }) => text);

const RUNS: Readonly<Record<string, { file: string; command: string; program: string }>> = {
  curl: {
    file: "quickstart.sh",
    command: "sh quickstart.sh",
    program: textsOf("sh")
      .filter((text) => text.startsWith("curl"))
      .join("\n"),
  },
  TypeScript: {
    file: "quickstart.mjs",
    command: `"${process.execPath}" quickstart.mjs`,
    program: textsOf("ts").join("\n"),
  },
  Python: { file: "quickstart.py", command: "python3 quickstart.py", program: textsOf("python").join("\n") },
};

test("docs/QUICKSTART.md says how the TypeScript samples are run, as they are run here", () => {
  assert.ok(QUICKSTART.includes(`\`node ${RUNS.TypeScript.file}\``));
});

test("docs/QUICKSTART.md has samples of known kinds only", () => {
  assert.deepEqual([...new Set(SAMPLES.map(({ language }) => language))], ["sh", "ts", "python"]);
});

for (const [name, { file, command, program }] of Object.entries(RUNS)) {
  test(`the Quickstart's program runs: ${name}`, async (t) => {
    builtSideband();
    const running = endAfter(t, await startRunning());
    const { home, program: run } = makeHost(t);
    mkdirSync(join(home, "node_modules"));
    symlinkSync(packageFolder, join(home, "node_modules", "sideband"));
    writeFileSync(join(home, file), program.replaceAll(ADDRESS, running.url));
    // The program waits 2 seconds for its memory, as agents do: the first block is built before it runs.
    await running.call("POST", "/encode", { body: { user_id: "warm", label: "USER.name", value: "x" } });
    await running.call("POST", "/flush", { body: { user_id: "warm" } });
    const { status, stdout, stderr } = await run(command, {
      env: {
        SIDEBAND_API_KEY: running.key,
        PYTHONPATH: join(packageFolder, "python"),
        PYTHONDONTWRITEBYTECODE: "1",
      },
    });
    assert.deepEqual([status, stderr], [0, ""]);
    assert.match(stdout, /2026-12-01[\s\S]*TASK\.deadline=2026-12-01/);
    if (name !== "curl") assert.match(stdout, /You are a careful assistant\.\n\n[\s\S]*[tT]rue\s*$/);
  });
}

test("the other commands of the Quickstart are run by scripts/first-hour.sh, or set a variable", () => {
  const others = textsOf("sh")
    .filter((text) => !text.startsWith("curl"))
    .flatMap((text) => text.trim().split("\n"));
  for (const command of others)
    assert.ok(FIRST_HOUR.includes(command) || command.startsWith("export SIDEBAND_API_KEY="), command);
});
