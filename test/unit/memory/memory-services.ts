/** The services of memory on a real embedded store in a temporary folder, with a clock and workers of the test. */

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { crc32 } from "node:zlib";
import { systemClock } from "../../../src/base/clock.ts";
import { Metrics } from "../../../src/base/metrics.ts";
import { SharedWork } from "../../../src/base/shared-work.ts";
import { BlockScheduler } from "../../../src/blockwork/block-scheduler.ts";
import { BlockWork } from "../../../src/blockwork/block-work.ts";
import { codeOf, type FactCode } from "../../../src/blockwork/fact-code.ts";
import { PLAIN_CODEBOOK } from "../../../src/codec/codebook.ts";
import { Blocks } from "../../../src/memory/blocks.ts";
import { IdempotencyGate } from "../../../src/memory/idempotency.ts";
import { KeyRing } from "../../../src/memory/key-ring.ts";
import type { FactRecord } from "../../../src/memory/ports.ts";
import type { MemoryServices } from "../../../src/memory/services.ts";
import { LmdbStore } from "../../../src/store/lmdb/lmdb-store.ts";
import { DirectWorkers, FakeClock } from "../blockwork/fake-workers.ts";

export const ACCOUNT = "acme";
export const asker = { account: ACCOUNT, tier: "free" } as const;

export async function memoryServices(context: TestContext) {
  const folder = mkdtempSync(join(tmpdir(), "sideband-memory-"));
  const metrics = new Metrics();
  const store = await LmdbStore.open({ folder, create: true, queueMax: 1000, metrics });
  context.after(async () => {
    await store.close();
    rmSync(folder, { recursive: true });
  });
  const workers = new DirectWorkers();
  const clock = new FakeClock();
  const scheduler = new BlockScheduler({ workers, clock, queueMax: 1000, metrics });
  const blockWork = new BlockWork(scheduler, PLAIN_CODEBOOK.version);
  const keyRing = new KeyRing([{ id: 1, material: new Uint8Array(32) }]);
  const blocks = new Blocks({ store, blockWork, keyRing, clock });
  const services: MemoryServices = {
    store,
    blockWork,
    keyRing,
    blocks,
    flushes: new SharedWork(),
    idempotency: new IdempotencyGate(keyRing.digestKey),
    clock: systemClock,
  };
  /** Values on the channels from 0 on. */
  const write = (userId: string, ...values: string[]) =>
    store.write({
      account: ACCOUNT,
      userId,
      facts: values.map((value, channel) => ({ channel, value })),
      nowMs: 0,
    });
  const factsOf = (userId: string) => store.readUser(ACCOUNT, userId)!.facts;
  const saveCode = (userId: string, { channel, revision, value }: FactRecord, code: FactCode) =>
    store.saveCodes(ACCOUNT, userId, [{ channel, revision, value, code }]);
  return { services, store, blocks, workers, clock, write, factsOf, saveCode };
}

/** The code bits of another value under a checksum that holds: what no checksum finds out. */
export function forgedCode({ channel, value }: FactRecord, other: string): FactCode {
  const { version, bits } = codeOf(PLAIN_CODEBOOK, channel, other);
  const head = Buffer.of(version, channel, bits.length >> 8, bits.length & 255);
  return { version, bits, checksum: crc32(Buffer.concat([head, bits.bytes, Buffer.from(value)])) };
}
