/** Cline's harness, as its package has it, with one prompt: what its command line and its extensions run. */

import { ClineCore } from "@cline/sdk";

const [prompt, baseUrl] = process.argv.slice(2);
const cline = await ClineCore.create({ clientName: "sideband-hosts", backendMode: "local" });
const { result } = await cline.start({
  prompt,
  config: {
    providerId: "anthropic",
    modelId: "claude-sonnet-4-5",
    apiKey: "stand-in",
    baseUrl,
    systemPrompt: "You are a careful assistant.",
    cwd: process.cwd(),
    workspaceRoot: process.cwd(),
    enableTools: true,
    enableSpawnAgent: false,
    enableAgentTeams: false,
  },
});
console.log(result?.text);
await cline.dispose();
process.exit(0);
