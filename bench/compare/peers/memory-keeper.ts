/** mcp-memory-keeper: keys and values of a session in SQLite. */

import { startMcp } from "../mcp.ts";
import { addByWriting, type Memory, type Peer, WRITER } from "../memory.ts";
import { packageFile, versionOf } from "../packages.ts";

const NAME = "mcp-memory-keeper";

export const peer: Peer = {
  name: NAME,
  group: "MCP over stdio",
  packages: [`${NAME}@${versionOf(NAME)}`],
  durability: "SQLite, WAL, synchronous NORMAL: not synced",
  adds: "read, then write",
  takesMany: true,
  signs: "by the name of its session, of the last writer alone",
  fewTools: "TOOL_PROFILE=minimal",
  note: "an answer of its `context_get` ends at 100 facts, or at 20,000 tokens as it counts them (`MCP_MAX_ITEMS`, `MCP_MAX_TOKENS`)",
  version: () => versionOf(NAME),
  async open(place): Promise<Memory> {
    const start = (env: Readonly<Record<string, string>> = {}) =>
      startMcp(place, [packageFile(NAME, "dist/index.js")], { DATA_DIR: place.data, ...env });
    const mcp = await start();
    // Every server has a session of its own; what is not private is read across them, the newest first.
    const record = (key: string) =>
      mcp.call("context_get", { key, includeMetadata: true, sort: "updated_desc" });
    const read = async (key: string): Promise<string | undefined> => {
      const text = await record(key);
      return text.startsWith("{") ? JSON.parse(text).items[0]?.value : undefined;
    };
    const write = async (key: string, value: string) => {
      const text = await mcp.call("context_save", { key, value });
      if (!text.startsWith("Saved")) throw new Error(text);
    };
    return {
      write,
      read,
      // Its items have the channel of the session, which has the session's name.
      sign: async () => {
        await mcp.call("context_session_start", { name: WRITER });
      },
      record,
      erase: async (key) => {
        const text = await mcp.call("context_batch_delete", { keys: [key] });
        if (/"successful": 0|failed/i.test(text) && !/"failed": 0/.test(text)) throw new Error(text);
      },
      add: (label, item) => addByWriting({ read, write }, label, item),
      index: () => mcp.call("context_get", { limit: 1_000 }),
      tools: mcp.tools,
      fewTools: async () => {
        const other = await start({ TOOL_PROFILE: "minimal" });
        return other.tools().finally(other.close);
      },
      close: mcp.close,
    };
  },
};
