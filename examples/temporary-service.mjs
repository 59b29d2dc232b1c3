/** A service of its own for an example: on a free port, with its data in a temporary folder that is removed at the end. */

import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const COMMAND = fileURLToPath(new URL("../bin/sideband.js", import.meta.url));

/**
 * Resolves to its address, its key, its folder and a function that ends it.
 * @param settings of the service, such as SIDEBAND_ALLOWED_ORIGINS
 */
export async function startTemporaryService(settings = {}) {
  const folder = mkdtempSync(join(tmpdir(), "sideband-example-"));
  // The settings of another service in this shell are not for this one.
  const env = Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !name.startsWith("SIDEBAND_")),
  );
  const args = [COMMAND, "serve", "--port", "0", "--data", folder];
  const service = spawn(process.execPath, args, {
    env: { ...env, SIDEBAND_LOG_LEVEL: "error", ...settings },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const ended = new Promise((resolve) => service.once("exit", resolve));
  const end = async () => {
    service.kill("SIGTERM");
    await ended;
    rmSync(folder, { recursive: true, force: true });
  };
  let said = "";
  for await (const chunk of service.stdout) {
    said += chunk;
    const [, url] = /listening on (\S+)/.exec(said) ?? [];
    // Where nobody looks at what it prints, the key is in a file.
    const [keyFile] = /\S+first\.key(?=\s)/.exec(said) ?? [];
    if (url !== undefined && keyFile !== undefined)
      return { baseUrl: url, apiKey: readFileSync(keyFile, "utf8").trim(), folder, end };
  }
  await end();
  throw new Error("the service did not start");
}
