/** Writes src/contract/operation-examples.generated.ts: npm run examples. A test compares the file with the service. */

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readConfig } from "../src/config.ts";
import { startService } from "../src/main/service.ts";
import { blockWorkerBundle } from "../test/fixtures/block-worker-bundle.ts";
import { EXAMPLE_SETTINGS, makeExamples } from "./make-examples.ts";

const folder = mkdtempSync(join(tmpdir(), "sideband-examples-"));
const adminToken = "admin-token-of-the-examples";
const service = await startService(
  readConfig({
    ...EXAMPLE_SETTINGS,
    SIDEBAND_DATA: folder,
    SIDEBAND_PORT: "0",
    SIDEBAND_ADMIN_TOKEN: adminToken,
    SIDEBAND_LOG_LEVEL: "silent",
  }),
  { blockWorker: blockWorkerBundle() },
);
try {
  const { key } = await service.core.keys.create({ account: "acme", tier: "pro" });
  const examples = await makeExamples({ url: service.url, key, adminToken });
  const lines = Object.entries(examples).map(([id, example]) => `  ${id}: ${JSON.stringify(example)},`);
  writeFileSync(
    new URL("../src/contract/operation-examples.generated.ts", import.meta.url),
    `/** Requests and the answers of a real service. Made by npm run examples; not edited by hand. */

import type { OperationExample } from "./operation.ts";
import type { OperationId } from "./operations.ts";

export const OPERATION_EXAMPLES: Readonly<Record<OperationId, OperationExample>> = {
${lines.join("\n")}
};
`,
  );
  console.log(`${lines.length} examples written`);
} finally {
  await service.close();
  rmSync(folder, { recursive: true });
}
