/**
 * A process that serves a data folder, or restores a backup, and can be told to kill or stop itself at a named step:
 * as a message, or as an argument for the steps of the start. Runs as one file that crash-server.ts makes of it.
 */

import { STEPS, type Step } from "../../src/base/steps.ts";
import { readConfig } from "../../src/config.ts";
import { restoreBackup } from "../../src/main/backup.ts";
import { serveUntilStopped } from "../../src/main/serve.ts";
import type { Arm } from "./crash-server.ts";

const [mode, folder, armed, backup] = process.argv.slice(2);
let arm: Arm | undefined = armed === "" ? undefined : JSON.parse(armed);
let seen = 0;

function atStep(step: Step): void {
  if (!STEPS.includes(step)) throw new Error(`${step} is not in the list of steps`);
  if (arm === undefined || step !== arm.step) return;
  seen += 1;
  if (seen !== arm.nth) return;
  const { signal } = arm;
  arm = undefined;
  process.kill(process.pid, signal);
}

process.on("message", (message: Arm) => {
  arm = message;
  seen = 0;
});

if (mode === "restore") restoreBackup(backup, folder, { atStep });
else {
  const config = readConfig({
    SIDEBAND_DATA: folder,
    SIDEBAND_PORT: "0",
    SIDEBAND_LOG_LEVEL: "error",
    SIDEBAND_COMPACT_AFTER_S: "0",
  });
  // Nothing here is about blocks: no model is loaded before one is asked for.
  await serveUntilStopped(config, (line) => process.send?.(line), { atStep, warm: false });
}
if (process.connected) process.disconnect();
