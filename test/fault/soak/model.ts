/**
 * What the client of a soak knows: the facts of each user, what was last seen of its block, and how many encodes the
 * key has made. A write whose connection was cut leaves two states possible, until the user is read again.
 */

import { CHANNELS } from "../../../src/base/channels.ts";
import type { Random } from "../../../src/base/random.ts";

export type Facts = ReadonlyMap<string, string>;

export const LABELS: readonly string[] = CHANNELS.map(({ label }) => label);
const LABELS_PER_USER = 6;
/** Facts of so many bytes fit a block, whatever they are. */
const FITTING_BYTES_MAX = 400;
/** A write that nobody waits for has happened by then, or never will. */
const REST_MS = 3_000;

export class UserModel {
  readonly id: string;
  readonly labels: readonly string[];
  facts: Facts = new Map();
  /** Grows with each write. */
  version = 0;
  /** What is true instead if the write that was cut off has happened, and how many encodes it is. */
  doubt: { readonly facts: Facts; readonly encodes: number } | undefined;
  /** The context that was seen last, and the version that it is of. */
  context:
    | { readonly version: number; readonly index: string; readonly etag: string; readonly block: string }
    | undefined;
  /** The last request with an Idempotency-Key that was answered. */
  idempotent: { readonly key: string; readonly body: string; readonly answer: string } | undefined;
  busy = false;
  restUntilMs = 0;

  constructor(id: string, labels: readonly string[]) {
    this.id = id;
    this.labels = labels;
  }

  get isFree(): boolean {
    return !this.busy && performance.now() >= this.restUntilMs;
  }

  with(changes: readonly { label: string; value: string }[]): Facts {
    return new Map([...this.facts, ...changes.map(({ label, value }) => [label, value] as const)]);
  }

  without(label: string): Facts {
    return new Map([...this.facts].filter(([other]) => other !== label));
  }

  change(facts: Facts): void {
    this.facts = facts;
    this.version += 1;
  }

  leaveInDoubt(facts: Facts, encodes: number): void {
    this.doubt = { facts, encodes };
  }

  /** After a request that nobody waited for: it may still be on its way. */
  rest(): void {
    this.restUntilMs = performance.now() + REST_MS;
  }

  /** Whether all facts are in the block for sure. */
  get fits(): boolean {
    return (
      [...this.facts.values()].reduce((sum, value) => sum + Buffer.byteLength(value), 0) <= FITTING_BYTES_MAX
    );
  }
}

export function newUsers(count: number, random: Random): UserModel[] {
  return Array.from({ length: count }, (_, i) => {
    const labels = random.shuffle([...LABELS]).slice(0, LABELS_PER_USER);
    return new UserModel(`user ${i}`, labels);
  });
}

/** `<label>=<value>` lines in channel order. */
export function indexOf(facts: Facts): string {
  return pairs(facts)
    .map(({ label, value }) => `${label}=${value}`)
    .join("\n");
}

/** In channel order. */
export function pairs(facts: Facts): { label: string; value: string }[] {
  return LABELS.filter((label) => facts.has(label)).map((label) => ({ label, value: facts.get(label)! }));
}

/** Encodes of a key: those that were acknowledged, and those that may have happened. */
export class EncodeCount {
  acknowledged = 0;
  possible = 0;
}

const WORDS =
  "the team ships a small parser every week for users in Oslo with tests notes and plans by Friday night".split(
    " ",
  );

/** A value of one of the kinds that people store: mostly a few words, rarely a long text. */
export function newValue(random: Random, bytesMax = 1_024): string {
  const words = (count: number) => Array.from({ length: count }, () => random.pick(WORDS)).join(" ");
  const kind = random.below(50);
  if (kind === 0) return words(300).slice(0, bytesMax);
  if (kind < 5) return String.fromCodePoint(...Array.from({ length: 8 }, () => 0x1f300 + random.below(200)));
  if (kind < 8) return String.fromCodePoint(...Array.from({ length: 12 }, () => 0x3b1 + random.below(24)));
  if (kind < 10) return JSON.stringify({ id: random.below(1e6), note: words(2) });
  return `${words(2 + random.below(5))} ${random.below(1000)}`;
}
