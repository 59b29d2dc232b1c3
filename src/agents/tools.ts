/**
 * `sideband/tools`: the tools for a model without any framework, for plugins and for your own agents.
 * Each has a name, a description and a JSON Schema; `runTool` runs it, and a failure is a result.
 */

export type { MemoryTool } from "../agent-side/memory-tools.ts";
export {
  type AdapterOptions,
  inputSchema,
  MODEL_TOOLS,
  modelTools,
  runTool,
  type ToolResult,
} from "./adapter.ts";
