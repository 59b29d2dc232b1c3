/**
 * Sideband as OpenClaw's memory: the user's facts go into every prompt, a flush runs before every compaction,
 * and the model gets four tools. If memory is slow or away, the agent waits 2 seconds at most, logs one line and goes on.
 */

import { definePluginEntry } from "openclaw/plugin-sdk/plugin-entry";
import { Sideband } from "sideband";
import { MODEL_TOOLS, objectSchema, runTool } from "sideband/tools";

const GUIDANCE = [
  "Sideband keeps short facts about the user and the work, exactly as written, beyond this conversation.",
  "Call sideband_remember when the user states or changes a lasting fact; never store secrets.",
];

// biome-ignore lint/style/noDefaultExport: the host looks for the default export.
export default definePluginEntry({
  id: "sideband",
  name: "Sideband",
  description: "Facts that survive compaction, kept exactly.",
  kind: "memory",
  register(api) {
    const { env } = process;
    const config = api.pluginConfig ?? {};
    const userId = config.userId ?? env.SIDEBAND_USER_ID ?? "default";
    const timeoutMs = config.timeoutMs ?? 2_000;
    const warn = (message) => (api.logger?.warn ? api.logger.warn(message) : console.error(message));
    const memory = new Sideband({
      baseUrl: config.apiUrl ?? env.SIDEBAND_API_URL,
      apiKey: config.apiKey ?? env.SIDEBAND_API_KEY,
      onWarning: warn,
    });

    // The host's own flush, which asks a model to write notes, is turned off: the facts are already stored.
    api.registerMemoryCapability({ promptBuilder: () => GUIDANCE, flushPlanResolver: () => null });
    api.on("before_prompt_build", async () => {
      const section = await memory.inject("", userId, { timeoutMs });
      return section === "" ? undefined : { appendSystemContext: section };
    });
    api.on("before_compaction", async () => {
      const { flushed, lossless, overflow } = await memory.beforeCompaction(userId, { timeoutMs });
      if (flushed && !lossless)
        warn(`sideband: these facts did not fit in the block: ${overflow.join(", ")}`);
    });
    for (const tool of MODEL_TOOLS) {
      api.registerTool({
        name: `sideband_${tool.name}`,
        description: tool.description,
        parameters: objectSchema(tool.input),
        async execute(_id, params) {
          const details = await runTool(tool, { memory, userId, timeoutMs }, params ?? {});
          return { content: [{ type: "text", text: JSON.stringify(details) }], details };
        },
      });
    }
  },
});
