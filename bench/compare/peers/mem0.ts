/** mem0 as a library, without a model (`infer: false`). Its embedder is a stand-in: a vector of the text's hash. */

import { createHash } from "node:crypto";
import { counted } from "../calls.ts";
import { type Memory, type Peer, WRITER } from "../memory.ts";
import { load, versionOf } from "../packages.ts";

const NAME = "mem0ai";
const DIMENSIONS = 32;
const USER = "ada";
/** More than any measure writes. */
const ALL = 100_000;

interface Item {
  readonly id: string;
  readonly memory: string;
  readonly metadata: { readonly label?: string };
}

interface Mem0 {
  add(text: string, options: object): Promise<unknown>;
  update(id: string, options: object): Promise<unknown>;
  delete(id: string): Promise<unknown>;
  getAll(options: object): Promise<{ results: Item[] }>;
  history(id: string): Promise<{ previous_value: string | null; new_value: string | null }[]>;
}

function vectorOf(text: string): number[] {
  const hash = createHash("sha256").update(text).digest();
  return Array.from({ length: DIMENSIONS }, (_, i) => hash[i] / 256 - 0.5);
}

export const peer: Peer = {
  name: "mem0 (model off)",
  group: "store",
  packages: [`${NAME}@${versionOf(NAME)}`],
  durability: "SQLite, synchronous FULL",
  adds: "add: a memory of its own",
  takesMany: true,
  signs: "by `agentId` and metadata, of the last writer alone",
  untimed: "its embedder is a stand-in",
  note: "`infer: false`; its embedder is a stand-in, so calls are counted and no time is measured",
  version: () => versionOf(NAME),
  async open(place): Promise<Memory> {
    process.env.MEM0_TELEMETRY = "false";
    const { Memory: Mem0Memory } = await load<{ Memory: new (config: object) => Mem0 }>("mem0ai/oss");
    const model = {
      embedQuery: async (text: string) => vectorOf(text),
      embedDocuments: async (texts: string[]) => texts.map(vectorOf),
    };
    const library = new Mem0Memory({
      embedder: { provider: "langchain", config: { model, embeddingDims: DIMENSIONS } },
      vectorStore: {
        provider: "memory",
        config: { dimension: DIMENSIONS, dbPath: `${place.data}/vectors.db` },
      },
      llm: { provider: "openai", config: { apiKey: "none" } },
      historyDbPath: `${place.data}/history.db`,
    });
    const { client: memory, calls } = counted(library);
    let writer: string | undefined;
    const metadataOf = (label: string) => (writer === undefined ? { label } : { label, writer });
    /** The ids of what was erased: whoever has kept one can still ask for its history. */
    const erased = new Map<string, string[]>();
    const found = async (label?: string) => {
      const filters = label === undefined ? { user_id: USER } : { user_id: USER, label };
      return (await memory.getAll({ filters, topK: ALL })).results;
    };
    const add = async (label: string, item: string) => {
      const who = writer === undefined ? {} : { agentId: writer };
      await memory.add(item, { userId: USER, ...who, metadata: metadataOf(label), infer: false });
    };
    return {
      write: async (label, value) => {
        const [known] = await found(label);
        if (known === undefined) await add(label, value);
        else await memory.update(known.id, { text: value, metadata: metadataOf(label) });
      },
      read: async (label) => {
        const items = await found(label);
        return items.length === 0 ? undefined : items.map((item) => item.memory).join("; ");
      },
      all: async () => {
        const values: Record<string, string> = {};
        for (const { memory: text, metadata } of await found()) {
          const label = metadata.label ?? "";
          values[label] = label in values ? `${values[label]}; ${text}` : text;
        }
        return values;
      },
      erase: async (label) => {
        const ids = (await found(label)).map(({ id }) => id);
        erased.set(label, ids);
        for (const id of ids) await memory.delete(id);
      },
      add,
      index: async () => (await found()).map((item) => `- ${item.memory}`).join("\n"),
      history: async (label) => {
        const ids = [...(erased.get(label) ?? []), ...(await found(label)).map(({ id }) => id)];
        return JSON.stringify(await Promise.all(ids.map((id) => memory.history(id))));
      },
      sign: async () => {
        writer = WRITER;
      },
      record: async (label) => JSON.stringify(await found(label)),
      undo: async (label) => {
        const [{ id }] = await found(label);
        const [last] = await memory.history(id);
        await memory.update(id, { text: last.previous_value });
      },
      calls: async () => calls(),
      close: async () => {},
    };
  },
};
