/** The adapter of the AI SDK with the versions 6 that run on Node 20, from a tarball and from a folder; 7: npm run test:hosts. */

import { dirname, join } from "node:path";
import { suite, test } from "node:test";
import { endAfter } from "../fixtures/ends.ts";
import { startRunning } from "../http/running-service.ts";
import { tryAiSdkProgram } from "./ai-sdk-program.ts";
import { packageFolder } from "./built.ts";
import { packedProject } from "./packed.ts";

suite("AI SDK", { concurrency: false }, () => {
  test("a program with tools of its own compiles and runs with the newest 6 from a tarball, and with the oldest from a folder", async (t) => {
    const running = endAfter(t, await startRunning());
    const settings = { SIDEBAND_API_URL: running.url, SIDEBAND_API_KEY: running.key };
    const packed = packedProject();
    t.after(() => packed.end());
    // The folder has the newest 6 beside it, which must not get in the way of the program's own.
    for (const [name, sideband] of [
      ["ai", dirname(dirname(packed.script))],
      ["ai-6", packageFolder],
    ]) {
      const sdk = join(packageFolder, "node_modules", name);
      await tryAiSdkProgram({ sdk, specificationVersion: "v3", sideband, settings });
    }
  });
});
