/**
 * What a first visit costs, on localhost with an empty cache: bytes over the wire, and the time until the page can
 * be used. The bytes have a limit; the times depend on the machine and are printed and kept in test/output.
 */

import assert from "node:assert/strict";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { type AddressInfo, connect, createServer } from "node:net";
import { join } from "node:path";
import { OUTPUT, type Visit, visit } from "./visit.ts";

/** Without the weights of the reader model, which the playground loads on demand. */
const PAGE_BYTES_MAX = 120 * 1024;

/** By page, what is there once it can be used. */
const PAGES: Readonly<Record<string, string>> = {
  "/": ".verdict.good",
  "/playground": ".bench-result .word-map",
  "/keys": "form.stack",
  "/memory": "form.stack",
  "/account": "form.stack",
  "/console": "form.stack",
  "/benchmarks": ".chart-picture",
  "/docs": "main h1",
  "/docs/format": "main h1",
  "/docs/benchmarks": "main h1",
  "/docs/api": "main h1",
  "/docs/api/encode": ".try button",
};

visit("the first visit to a page takes at most 120 KiB, and every page is soon usable", async (visit) => {
  const figures: Record<string, Figures> = {};
  for (const [path, usable] of Object.entries(PAGES)) figures[path] = await measure(visit, path, usable);
  mkdirSync(OUTPUT, { recursive: true });
  writeFileSync(join(OUTPUT, "loading.json"), `${JSON.stringify(figures, null, 2)}\n`);
  for (const [path, { bytes, usableMs, blockedMs }] of Object.entries(figures)) {
    const size = `${(bytes / 1024).toFixed(1)} KiB`;
    console.log(`${path}: ${size}, usable after ${usableMs} ms, main thread blocked for ${blockedMs} ms`);
    assert.ok(bytes <= PAGE_BYTES_MAX, path);
  }
});

async function measure({ page, running }: Visit, path: string, usable: string): Promise<Figures> {
  const context = await page.context().browser()!.newContext();
  const wire = await countingProxy(running.url);
  try {
    const fresh = await context.newPage();
    await fresh.addInitScript(() => {
      const window_ = window as unknown as { blockedMs: number };
      window_.blockedMs = 0;
      new PerformanceObserver((list) => {
        // Total blocking time: what each long task takes beyond 50 ms.
        for (const { duration } of list.getEntries()) window_.blockedMs += duration - 50;
      }).observe({ type: "longtask", buffered: true });
    });
    const started = performance.now();
    await fresh.goto(wire.url + path, { waitUntil: "commit" });
    await fresh.locator(usable).first().waitFor();
    const usableMs = Math.round(performance.now() - started);
    await fresh.waitForLoadState("networkidle");
    const blockedMs = await fresh.evaluate(() => (window as unknown as { blockedMs: number }).blockedMs);
    return { bytes: wire.bytes() - weightsIn(wire.bytes()), usableMs, blockedMs: Math.round(blockedMs) };
  } finally {
    await context.close();
    wire.close();
  }
}

/** The weights of the reader model, where a block needed them: they load on demand, with a progress bar. */
function weightsIn(bytes: number): number {
  const file = new URL("../../dist/web/manifest.json", import.meta.url);
  const manifest = JSON.parse(readFileSync(file, "utf8")) as Record<string, { sizeBytes: number }>;
  const [, { sizeBytes }] = Object.entries(manifest).find(([path]) => path.endsWith(".bin"))!;
  return bytes >= sizeBytes ? sizeBytes : 0;
}

/** Counts what the server sends, heads and bodies, for the page and its worker alike. */
async function countingProxy(target: string): Promise<{ url: string; bytes(): number; close(): void }> {
  const { hostname, port } = new URL(target);
  let bytes = 0;
  const server = createServer((client) => {
    const upstream = connect(Number(port), hostname);
    upstream.on("data", (chunk) => {
      bytes += chunk.length;
    });
    upstream.pipe(client).pipe(upstream);
    for (const socket of [client, upstream]) socket.on("error", () => socket.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port: own } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${own}`, bytes: () => bytes, close: () => server.close() };
}

interface Figures {
  readonly bytes: number;
  readonly usableMs: number;
  readonly blockedMs: number;
}
