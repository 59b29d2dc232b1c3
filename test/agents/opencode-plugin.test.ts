/** The plugin of opencode: a session gets the memory once, and where memory is away the model and the person are told, and it is asked again. */

import assert from "node:assert/strict";
import { chmodSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import { outageSection } from "../../src/agent-side/memory-section.ts";
import { hookInput, outageOutput } from "../../src/agents/hooks.ts";
import { AGENT_FILES } from "../../src/main/package.ts";
import { temporaryFolder } from "../fixtures/ends.ts";

test("opencode is told that memory is away, in its prompt and as a toast, and asks again half a minute later", async (t) => {
  t.mock.timers.enable({ apis: ["Date"], now: Date.UTC(2026, 10, 18) });
  const folder = temporaryFolder(t);
  // The command answers with what is in a file, and fails where there is none.
  const command = join(folder, "command");
  writeFileSync(
    command,
    `#!/bin/sh\ncat > /dev/null\necho x >> "${folder}/calls"\nexec cat "${folder}/answer"\n`,
  );
  chmodSync(command, 0o755);
  const source = readFileSync(join(AGENT_FILES, "opencode", "sideband.js"), "utf8");
  const path = join(folder, "plugin.mjs");
  writeFileSync(path, source.replace('["sideband"]', JSON.stringify([command])));
  const { SidebandMemory } = await import(pathToFileURL(path).href);
  const toasts: string[] = [];
  const showToast = async ({ body }: { body: { message: string } }) => void toasts.push(body.message);
  const plugin = await SidebandMemory({ directory: folder, client: { tui: { showToast } } });
  const system = async () => {
    const output = { system: ["You are terse."] };
    await plugin["experimental.chat.system.transform"]({ sessionID: "s1" }, output);
    return output.system.slice(1);
  };
  const calls = () => readFileSync(join(folder, "calls"), "utf8").split("\n").length - 1;

  assert.deepEqual(await system(), [outageSection()], "the command fails");
  const start = hookInput(JSON.stringify({ hook_event_name: "SessionStart" }));
  writeFileSync(join(folder, "answer"), outageOutput(start, "opencode", "no answer"));
  assert.deepEqual(await system(), [outageSection()]);
  assert.equal(calls(), 1, "not at every turn");
  t.mock.timers.tick(30_000);
  assert.deepEqual(await system(), [outageSection()]);
  assert.deepEqual(toasts.slice(1), ["Sideband: going on without memory: no answer"]);
  const hookSpecificOutput = { hookEventName: "SessionStart", additionalContext: "USER.name=Ada" };
  writeFileSync(join(folder, "answer"), JSON.stringify({ hookSpecificOutput }));
  t.mock.timers.tick(30_000);
  assert.deepEqual(await system(), ["USER.name=Ada"]);
  t.mock.timers.tick(3_600_000);
  assert.deepEqual(await system(), ["USER.name=Ada"]);
  assert.equal(calls(), 3, "the same text until the session is compacted");
  assert.equal(toasts.length, 2);
});
