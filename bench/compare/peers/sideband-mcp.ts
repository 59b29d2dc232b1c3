/** Sideband as an MCP server: each agent starts one, and they share the owner of the data folder. */

import { COMMAND_PATH, packageVersion } from "../../../src/main/package.ts";
import { startMcp } from "../mcp.ts";
import type { Memory, Peer } from "../memory.ts";
import { runSideband } from "../sideband-command.ts";

export const peer: Peer = {
  name: "Sideband (MCP)",
  group: "MCP over stdio",
  packages: ["sideband"],
  durability: "synced before the answer",
  adds: "remember with add",
  takesMany: true,
  signs: "by the name of the MCP client, for each value",
  compaction: "sideband compact",
  version: packageVersion,
  async open(place): Promise<Memory> {
    const env = { SIDEBAND_DATA: place.data, SIDEBAND_USER_ID: "ada", SIDEBAND_PROJECT: "off" };
    const mcp = await startMcp(place, [COMMAND_PATH, "mcp"], env);
    return {
      write: async (label, value) => {
        await mcp.call("remember", { label, value, new_label: "certain" });
      },
      read: async (label) => {
        const text = await mcp.call("recall", { label }).catch((error: Error) => {
          if (error.message.startsWith("unknown_label")) return "{}";
          throw error;
        });
        return JSON.parse(text).value ?? undefined;
      },
      erase: async (label) => {
        await mcp.call("forget", { label, for_good: true });
      },
      add: async (label, item) => {
        await mcp.call("remember", { label, value: item, add: true, new_label: "certain" });
      },
      index: () => runSideband(place, ["context"], { ...env, SIDEBAND_GROUPS: "all" }),
      history: (label) => mcp.call("history", { label }),
      undo: async (label) => {
        const { revisions } = JSON.parse(await mcp.call("history", { label }));
        await mcp.call("history", { label, restore: revisions[1].revision });
      },
      calls: mcp.calls,
      compact: async () => {
        await runSideband(place, ["compact"], env);
      },
      tools: mcp.tools,
      close: mcp.close,
    };
  },
};
