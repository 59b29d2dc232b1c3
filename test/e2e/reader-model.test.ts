/** The reader model in the browser: its weights load on demand, with progress, and it gives the block that Node gives. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { buildBlock } from "../../src/codec/block.ts";
import { READER_FORMAT_VERSION, readerCodebook } from "../../src/reader/codebook.ts";
import { READER_WEIGHTS } from "../../src/reader/weights-path.ts";
import { visit } from "./visit.ts";

const FACTS = [
  { channel: 0, value: "Ada Okafor", order: 0 },
  { channel: 20, value: "Group commit for the embedded store, für 🐝", order: 1 },
];

visit(
  "a block that the reader model codes is built and read in the browser as in Node, weights on demand",
  async ({ page, running, open, says }) => {
    const fetched: string[] = [];
    page.context().on("request", (request) => fetched.push(request.url()));
    await open("/");
    await says("Read back exactly");
    assert.ok(!fetched.some((url) => url.endsWith(".bin")), "not before a block needs them");

    const manifest = JSON.parse(
      readFileSync(new URL("../../dist/web/manifest.json", import.meta.url), "utf8"),
    );
    const worker = Object.keys(manifest).find((path) => path.includes("codec-worker"))!;
    const key = { id: 0, material: new Uint8Array(64).fill(7) };
    const reader = {
      userId: "demo",
      keys: [{ key_id: 0, material: Buffer.from(key.material).toString("base64") }],
      versions: [READER_FORMAT_VERSION, 1],
    };
    const { text, read, progress } = await page.evaluate(
      async ([url, facts, options]) => {
        const codec = new Worker(url, { type: "module" });
        const steps: { loadedBytes: number; totalBytes: number }[] = [];
        // A method, because the compiler would call a helper of its own to name a function.
        const client = {
          // biome-ignore lint/suspicious/noExplicitAny: the worker's answers, looked at below.
          ask(id: number, question: object): Promise<any> {
            return new Promise((resolve, reject) => {
              codec.addEventListener("message", ({ data }) => {
                if ("loadedBytes" in data) steps.push(data);
                else if (data.id === id)
                  "error" in data ? reject(new Error(data.error)) : resolve(data.answer);
              });
              codec.postMessage({ ...question, id });
            });
          },
        };
        const built = await client.ask(1, { ask: "build", facts, reader: options });
        const cut = built.text.split(" ").slice(0, 200).join(" ");
        const inspection = await client.ask(2, { ask: "inspect", text: cut, reader: options });
        return { text: built.text as string, read: inspection.outcome, progress: steps };
      },
      [running.url + worker, FACTS, reader] as const,
    );
    const codebook = readerCodebook(readFileSync(READER_WEIGHTS));
    assert.equal(text, buildBlock(FACTS, { key, userId: "demo", codebook }).text);
    assert.deepEqual(
      [read.ok, read.version, read.facts],
      [true, READER_FORMAT_VERSION, FACTS.map(({ channel, value }) => ({ channel, value }))],
    );
    const last = progress.at(-1)!;
    assert.ok(progress.length > 1 && last.loadedBytes === last.totalBytes && last.totalBytes > 1_000_000);
  },
);
