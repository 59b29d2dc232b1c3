/**
 * read: a block from a caller, even if it is damaged or inside other text. Whether it cannot be read, or
 * belongs to another account or user, the refusal is the same; only another format version, which any block shows in
 * the clear, is named. Also the check that a new block holds its facts.
 */

import type { Requester } from "../base/accounts.ts";
import { Failure } from "../base/errors.ts";
import { CHANNEL_COUNT_MAX } from "../base/limits.ts";
import type { Work } from "../blockwork/block-scheduler.ts";
import type { ReadOutcome } from "../blockwork/block-work.ts";
import { type Person, sealOwner } from "./places.ts";
import type { View } from "./ports.ts";
import type { MemoryServices } from "./services.ts";
import { viewFor } from "./shared-projects.ts";

export type BlockReading = Omit<Extract<ReadOutcome, { ok: true }>, "facts"> & {
  readonly facts: readonly MarkedFact[];
};

/** What has become of a fact since the block was made; `unknown_here`: nothing of it is kept. */
type Mark = "current" | "replaced" | "forgotten" | "expired" | "unknown_here";

interface MarkedFact {
  readonly label: string;
  readonly channel: number;
  readonly value: string;
  readonly mark: Mark;
}

/** Compares what a block says with what is stored now, so that old facts are known as old. */
async function markFacts(
  { store, labels }: MemoryServices,
  view: View,
  facts: readonly Omit<MarkedFact, "mark">[],
): Promise<MarkedFact[]> {
  const state = await store.readUser(view);
  const stored = new Map(state?.facts.map((fact) => [fact.label, fact]) ?? []);
  const lost = facts.filter(({ label }) => !stored.has(label));
  const lives = lost.flatMap(({ label }) =>
    view.places.map((place) =>
      store.readLife(view.account, view.userId, { nowMs: view.nowMs, place, label }),
    ),
  );
  const earlier = (await Promise.all(lives)).flatMap((life) => life?.earlier ?? []);
  const markOf = ({ label, value }: Omit<MarkedFact, "mark">): Mark => {
    const present = stored.get(label)?.value;
    if (present !== undefined) return present === value ? "current" : "replaced";
    const ends = earlier.filter((fact) => fact.label === label);
    const last = ends.reduce((a, b) => (b.endedAtMs >= a.endedAtMs ? b : a), ends[0]);
    // What was renamed went on.
    return last?.ended === "renamed" ? "replaced" : (last?.ended ?? "unknown_here");
  };
  // A block only counts the free labels: what the person has them under now is in the state.
  const numbered = facts.map(({ label }) => ({ label, number: stored.get(label)?.number }));
  const channels = await labels.channelsOf(view.account, numbered);
  return facts.map((fact, i) => {
    const channel = fact.channel < CHANNEL_COUNT_MAX ? fact.channel : channels[i];
    return { ...fact, channel, mark: markOf(fact) };
  });
}

export async function readPresentedBlock(
  services: MemoryServices,
  requester: Requester,
  input: Person & { readonly block: string },
): Promise<BlockReading> {
  const { account } = requester;
  const view = await viewFor(services, account, input);
  const work = services.blockWork.begin(requester);
  const reading = await readWithAllKeys(services, work, sealOwner(view), input.block);
  if (reading.ok) {
    const onChannels = reading.facts.filter(({ label }) => label === undefined);
    const names = await services.labels.namesOf(
      account,
      onChannels.map(({ channel }) => channel),
    );
    // The free ones come last.
    const facts = reading.facts
      .map((fact, i) => ({ ...fact, label: fact.label ?? names[i] }))
      .filter(({ label }) => services.groups.has(label));
    return { ...reading, facts: await markFacts(services, view, facts) };
  }
  const detail =
    reading.kind === "unknown-version"
      ? `This block cannot be read: ${reading.reason}. Get a new one with GET /context or POST /flush.`
      : "This block cannot be read for this user.";
  throw new Failure("block_unreadable", detail, { param: "block" });
}

/** A fact that a block carries, and the channel on which its reader finds it. */
interface ExpectedFact {
  readonly channel: number;
  readonly label: string;
  readonly value: string;
}

/** @param channels that of each fact, as a reader finds it; undefined where the block does not carry it */
export function expectedFacts(
  facts: readonly Omit<ExpectedFact, "channel">[],
  channels: readonly (number | undefined)[],
): ExpectedFact[] {
  return facts.flatMap(({ label, value }, i) => {
    const channel = channels[i];
    return channel === undefined ? [] : { channel, label, value };
  });
}

/** Why a block, read back, does not hold exactly the expected facts; undefined where it does. */
export async function findReadBackFault(
  services: Pick<MemoryServices, "blockWork" | "keyRing">,
  work: Work,
  /** Whom it is sealed for. */
  userId: string,
  block: {
    readonly text: string;
    readonly expected: readonly ExpectedFact[];
    /** Reads and compares only these channels; all where undefined. */
    readonly channels?: readonly number[];
  },
): Promise<string | undefined> {
  const { text, expected, channels } = block;
  const reading = await readWithAllKeys(services, work, userId, text, channels);
  if (!reading.ok) return `the block cannot be read back: ${reading.reason}`;
  const read = new Map(reading.facts.map((fact) => [fact.channel, fact]));
  const equal =
    read.size === expected.length &&
    expected.every(({ channel, label, value }) => {
      const found = read.get(channel);
      return found?.value === value && (found.label ?? label) === label;
    });
  return equal ? undefined : "what is read back differs from the state";
}

/** The account's older keys read, too. */
function readWithAllKeys(
  services: Pick<MemoryServices, "blockWork" | "keyRing">,
  work: Work,
  userId: string,
  text: string,
  channels?: readonly number[],
): Promise<ReadOutcome> {
  const keys = services.keyRing.reading(work.account);
  return services.blockWork.read(work, { text, userId, keys, channels });
}
