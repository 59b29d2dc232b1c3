/** The reference memory server of MCP: a graph in one file of JSON lines. A label is an entity, its value an observation. */

import { startMcp } from "../mcp.ts";
import type { Memory, Peer } from "../memory.ts";
import { packageFile, versionOf } from "../packages.ts";

const NAME = "@modelcontextprotocol/server-memory";

export const peer: Peer = {
  name: "MCP reference server",
  group: "MCP over stdio",
  packages: [`${NAME}@${versionOf(NAME)}`],
  durability: "handed to the system, not synced",
  adds: "add_observations",
  version: () => versionOf(NAME),
  async open(place): Promise<Memory> {
    const env = { MEMORY_FILE_PATH: `${place.data}/memory.jsonl` };
    const mcp = await startMcp(place, [packageFile(NAME, "dist/index.js")], env);
    const record = (label: string) => mcp.call("open_nodes", { names: [label] });
    const observations = async (label: string): Promise<string[] | undefined> =>
      JSON.parse(await record(label)).entities[0]?.observations;
    const create = async (name: string, value: string) => {
      const entities = [{ name, entityType: "fact", observations: [value] }];
      return JSON.parse(await mcp.call("create_entities", { entities })).length > 0;
    };
    const add = async (label: string, item: string) => {
      if (await create(label, item)) return;
      await mcp.call("add_observations", { observations: [{ entityName: label, contents: [item] }] });
    };
    return {
      write: async (label, value) => {
        if (await create(label, value)) return;
        const before = ((await observations(label)) ?? []).filter((text) => text !== value);
        await add(label, value);
        await mcp.call("delete_observations", { deletions: [{ entityName: label, observations: before }] });
      },
      read: async (label) => (await observations(label))?.join("; "),
      record,
      erase: async (label) => {
        await mcp.call("delete_entities", { entityNames: [label] });
      },
      add,
      index: () => mcp.call("read_graph", {}),
      tools: mcp.tools,
      close: mcp.close,
    };
  },
};
