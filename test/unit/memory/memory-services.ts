/** The services of memory on a real embedded store in a temporary folder, with a clock and workers of the test. */

import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, type TestContext } from "node:test";
import { crc32 } from "node:zlib";
import { FairTurns } from "../../../src/base/fair-turns.ts";
import { ALL_GROUPS } from "../../../src/base/groups.ts";
import { Metrics } from "../../../src/base/metrics.ts";
import { seededRandom } from "../../../src/base/random.ts";
import { SingleFlight } from "../../../src/base/single-flight.ts";
import { BlockScheduler } from "../../../src/blockwork/block-scheduler.ts";
import { BlockWork } from "../../../src/blockwork/block-work.ts";
import { codeOf, type FactCode } from "../../../src/blockwork/fact-code.ts";
import { PLAIN_CODEBOOK } from "../../../src/codec/codebook.ts";
import type { McpVisit } from "../../../src/http/services.ts";
import { Audit } from "../../../src/memory/audit.ts";
import type { Caller } from "../../../src/memory/authentication.ts";
import { Blocks } from "../../../src/memory/blocks.ts";
import { sealedIds } from "../../../src/memory/event-ids.ts";
import { UserEvents } from "../../../src/memory/events.ts";
import { FactIndexes } from "../../../src/memory/fact-indexes.ts";
import { IdempotencyGate } from "../../../src/memory/idempotency.ts";
import { KeyRing } from "../../../src/memory/key-ring.ts";
import type { NewLabel } from "../../../src/memory/label-terms.ts";
import { Labels } from "../../../src/memory/labels.ts";
import { LocalEvents } from "../../../src/memory/local-events.ts";
import type { FactRecord, UserState } from "../../../src/memory/ports.ts";
import type { MemoryServices } from "../../../src/memory/services.ts";
import { SharedProjects } from "../../../src/memory/shared-projects.ts";
import { sharedReads } from "../../../src/memory/shared-reads.ts";
import { TokenCounts } from "../../../src/memory/token-count.ts";
import { LmdbStore } from "../../../src/store/lmdb/lmdb-store.ts";
import { changesOf, numberOf, viewOf } from "../../fixtures/views.ts";
import { DirectWorkers, FakeClock } from "../blockwork/fake-workers.ts";

export const ACCOUNT = "acme";
export const requester = { account: ACCOUNT, tier: "free" } as const;
/** Who calls with an API key. */
export const caller: Caller = {
  ...requester,
  keyId: "key1",
  limit: 1000,
  expiresAtMs: null,
  user: null,
  access: "write",
};

/** Notes of what is called without a request. */
export function auditFor(services: MemoryServices): McpVisit["audit"] {
  const source = { address: "", requestId: "test" };
  return (operation, of) => new Audit(services).note(operation, source, { account: ACCOUNT, ...of });
}

/** The terms of a label that asks nothing of its values. */
export const NEW_LABEL: NewLabel = {
  label: "FAMILY.wife",
  description: "Her name.",
  example: "",
  oneOf: null,
  maxBytes: null,
  ttlS: null,
  scope: null,
  hidden: false,
};

const newFolder = () => mkdtempSync(join(tmpdir(), "sideband-memory-"));
const openStore = (folder: string) =>
  LmdbStore.open({ folder, create: true, queueMax: 1000, metrics: new Metrics() });

/** A data folder with an empty store. Making one waits for the disk; copying it does not. */
let emptyFolder: Promise<string> | undefined;
async function makeEmptyFolder(): Promise<string> {
  const folder = newFolder();
  await (await openStore(folder)).close();
  return folder;
}
after(async () => {
  if (emptyFolder !== undefined) rmSync(await emptyFolder, { recursive: true });
});

/** An empty store that is removed after the test. */
export async function temporaryStore(context: TestContext): Promise<LmdbStore> {
  emptyFolder ??= makeEmptyFolder();
  const folder = newFolder();
  cpSync(await emptyFolder, folder, { recursive: true });
  const store = await openStore(folder);
  context.after(async () => {
    await store.close();
    rmSync(folder, { recursive: true });
  });
  return store;
}

/** @param time what the clock says at first, in ISO 8601 */
export async function memoryServices(context: TestContext, time = "1970-01-01T00:00:00Z") {
  const opened = await temporaryStore(context);
  const workers = new DirectWorkers();
  const clock = new FakeClock(Date.parse(time));
  const scheduler = new BlockScheduler({ workers, clock, queueMax: 1000, metrics: new Metrics() });
  const blockWork = new BlockWork(scheduler, PLAIN_CODEBOOK.version);
  const keyRing = new KeyRing([{ id: 1, material: new Uint8Array(32) }]);
  const labels = new Labels(opened);
  const source = new LocalEvents(clock, sealedIds(keyRing.eventSecrets));
  const events = new UserEvents(source);
  context.after(() => events.close());
  // With what only this store does.
  const store = Object.assign(Object.create(opened), source.withEvents(sharedReads(opened))) as LmdbStore;
  const blocks = new Blocks({ store, blockWork, keyRing, labels, clock });
  const turns = new FairTurns();
  const services: MemoryServices = {
    store,
    blockWork,
    keyRing,
    labels,
    events,
    blocks,
    projects: new SharedProjects(store),
    flushes: new SingleFlight(),
    turns,
    idempotency: new IdempotencyGate(keyRing.digestSecrets),
    clock,
    historyMax: 8,
    review: false,
    tokenCounts: new TokenCounts(turns),
    indexes: new FactIndexes({ store, labels, turns }),
    groups: ALL_GROUPS,
  };
  /** Values on the first labels. */
  const write = (userId: string, ...values: string[]) =>
    store.write({
      ...viewOf(userId, ACCOUNT),
      changes: changesOf(values.map((value, number) => [number, value])),
    });
  const factsOf = (userId: string) => (store.readUser(viewOf(userId, ACCOUNT)) as UserState).facts;
  const saveCode = (userId: string, { place, label, revision, value }: FactRecord, code: FactCode) =>
    store.saveCodes(ACCOUNT, userId, [{ place, label, revision, value, code }]);
  return { services, store, blocks, workers, clock, write, factsOf, saveCode };
}

/** The code bits of another value under a checksum that holds: what no checksum finds out. */
export function forgedCode({ label, value }: FactRecord, other: string): FactCode {
  const channel = numberOf(label);
  const { version, bits } = codeOf(PLAIN_CODEBOOK, { channel, value: other });
  const head = Buffer.of(version, channel, bits.length >> 8, bits.length & 255);
  return { version, bits, checksum: crc32(Buffer.concat([head, bits.bytes, Buffer.from(value)])) };
}

/** A value that a block has no room for: nothing in it can be predicted. */
export function valueTooLargeForABlock(): string {
  const random = seededRandom(1);
  return Array.from({ length: 1024 }, () => String.fromCodePoint(0x21 + random.below(94))).join("");
}
