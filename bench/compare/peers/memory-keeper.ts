/** mcp-memory-keeper: keys and values of a session in SQLite. */

import { startMcp } from "../mcp.ts";
import { addByWriting, type Memory, type Peer } from "../memory.ts";
import { packageFile, versionOf } from "../packages.ts";

const NAME = "mcp-memory-keeper";

export const peer: Peer = {
  name: NAME,
  group: "MCP over stdio",
  packages: [`${NAME}@${versionOf(NAME)}`],
  durability: "SQLite, WAL, synchronous NORMAL: not synced",
  adds: "read, then write",
  takesMany: true,
  version: () => versionOf(NAME),
  async open(place): Promise<Memory> {
    const mcp = await startMcp(place, [packageFile(NAME, "dist/index.js")], { DATA_DIR: place.data });
    // Every server has a session of its own; what is not private is read across them, the newest first.
    const read = async (key: string): Promise<string | undefined> => {
      const input = { key, includeMetadata: true, sort: "updated_desc" };
      const text = await mcp.call("context_get", input);
      return text.startsWith("{") ? JSON.parse(text).items[0]?.value : undefined;
    };
    const write = async (key: string, value: string) => {
      const text = await mcp.call("context_save", { key, value });
      if (!text.startsWith("Saved")) throw new Error(text);
    };
    return {
      write,
      read,
      erase: async (key) => {
        const text = await mcp.call("context_batch_delete", { keys: [key] });
        if (/"successful": 0|failed/i.test(text) && !/"failed": 0/.test(text)) throw new Error(text);
      },
      add: (label, item) => addByWriting({ read, write }, label, item),
      index: () => mcp.call("context_get", { limit: 1_000 }),
      tools: mcp.tools,
      close: mcp.close,
    };
  },
};
