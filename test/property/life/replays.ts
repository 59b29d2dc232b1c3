/** What requests with an Idempotency-Key were answered, in the model of an account. */

export interface KeyedRequest {
  readonly key: string;
  readonly fingerprint: string;
}

export interface KeptReplay {
  readonly fingerprint: string;
  readonly untilMs: number;
  readonly user: string;
  readonly count: number;
  /** The facts of the answer; undefined once something of the user was forgotten. */
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
    { user, count, nowMs }: { user: string; count: number; nowMs: number },
  ): void {
    this.kept.set(key, { fingerprint, untilMs: nowMs + REPLAYED_MS, user, count, facts: undefined });
  }

  /** Something of the user is forgotten. */
  forget(user: string): void {
    for (const kept of this.kept.values()) if (kept.user === user) kept.facts = undefined;
  }
}
