/** What requests with an Idempotency-Key were answered, in the model of an account. */

export interface KeyedRequest {
  readonly key: string;
  readonly fingerprint: string;
}

export interface KeptReplay {
  readonly fingerprint: string;
  readonly untilMs: number;
  /** Those of whom facts were answered. */
  readonly users: readonly string[];
  readonly count: number;
  /** The facts of the answer; undefined once something of one of the users was forgotten. */
  facts: unknown;
}

const REPLAYED_MS = 24 * 3600 * 1000;

export class Replays {
  readonly kept = new Map<string, KeptReplay>();

  of({ key, fingerprint }: KeyedRequest, nowMs: number): KeptReplay | undefined {
    const kept = this.kept.get(key);
    return kept?.fingerprint === fingerprint && kept.untilMs > nowMs ? kept : undefined;
  }

  /** Whether the key stands for another request. */
  isTaken(request: KeyedRequest | undefined, nowMs: number): boolean {
    const kept = request && this.kept.get(request.key);
    return kept !== undefined && kept.untilMs > nowMs && kept.fingerprint !== request?.fingerprint;
  }

  keep(
    { key, fingerprint }: KeyedRequest,
    { users, count, nowMs }: { users: readonly string[]; count: number; nowMs: number },
  ): void {
    this.kept.set(key, { fingerprint, untilMs: nowMs + REPLAYED_MS, users, count, facts: undefined });
  }

  /** Something of one of the users is forgotten. */
  forget(users: readonly string[]): void {
    for (const kept of this.kept.values())
      if (kept.users.some((user) => users.includes(user))) kept.facts = undefined;
  }
}
