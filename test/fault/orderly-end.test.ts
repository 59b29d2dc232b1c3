/** SIGTERM ends a service of several processes in order: exit status 0, and soon. */

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

const PROGRAM = fileURLToPath(new URL("../../bin/sideband.js", import.meta.url));

test("a primary with two workers ends with status 0 on SIGTERM", { timeout: 60_000 }, async () => {
  const folder = mkdtempSync(join(tmpdir(), "sideband-end-"));
  const child = spawn(process.execPath, [PROGRAM, "serve"], {
    env: {
      PATH: process.env.PATH,
      SIDEBAND_DATA: folder,
      SIDEBAND_PORT: "0",
      SIDEBAND_WORKERS: "2",
      SIDEBAND_LOG_LEVEL: "fatal",
    },
    stdio: ["ignore", "pipe", "inherit"],
  });
  try {
    let printed = "";
    for await (const chunk of child.stdout) {
      printed += chunk;
      if (printed.includes("curl")) break;
    }
    assert.equal((await fetch(`${/http:\S+/.exec(printed)?.[0]}/readyz`)).status, 200);
    const ended = once(child, "exit");
    child.kill("SIGTERM");
    assert.deepEqual(await ended, [0, null]);
  } finally {
    child.kill("SIGKILL");
    rmSync(folder, { recursive: true, force: true });
  }
});
