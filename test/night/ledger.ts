/**
 * What a client of the night knows: every value that was acknowledged, and who was erased. Calls go to the nodes in turn,
 * and are repeated with the same Idempotency-Key as long as the answer says that it may be done again: that is what the
 * service's own clients do.
 */

import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";

interface Answered {
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: each call has its own answer.
  readonly json: any;
}

const PATIENCE_MS = 60_000;
const PAUSE_MS = 100;

export class Ledger {
  readonly #facts = new Map<string, Map<string, string>>();
  readonly #erased = new Set<string>();
  /** Codes of answers that were no success, by how often they came. */
  readonly refused = new Map<string, number>();
  key = "";
  urls: readonly string[] = [];
  #turn = 0;

  get size(): number {
    return [...this.#facts.values()].reduce((sum, facts) => sum + facts.size, 0);
  }

  async write(user: string, label: string, value: string): Promise<void> {
    const { status, json } = await this.insist("POST", "/encode", { user_id: user, label, value });
    assert.equal(status, 200, JSON.stringify(json));
    const facts = this.#facts.get(user) ?? new Map<string, string>();
    this.#facts.set(user, facts.set(label, value));
    this.#erased.delete(user);
  }

  /** Resolves to the answer, with its receipt. */
  async erase(user: string): Promise<object> {
    const { status, json } = await this.insist("DELETE", `/users?user_id=${user}&details=true`);
    assert.ok(status === 200 || status === 404, JSON.stringify(json));
    this.#facts.delete(user);
    this.#erased.add(user);
    return json;
  }

  /** Every acknowledged value is there, and nothing of whom was erased. */
  async check(url?: string): Promise<number> {
    let seen = 0;
    for (const [user, facts] of this.#facts) {
      const { json } = await this.insist("GET", `/facts?user_id=${user}`, undefined, url);
      const values = new Map(
        json.facts.map(({ label, value }: { label: string; value: string }) => [label, value]),
      );
      assert.deepEqual(values, facts, `${user} has what was acknowledged`);
      seen += facts.size;
    }
    for (const user of this.#erased) {
      const { json } = await this.insist("GET", `/facts?user_id=${user}`, undefined, url);
      assert.deepEqual(json.facts, [], `${user} was erased`);
    }
    return seen;
  }

  copy(): Ledger {
    const copied = new Ledger();
    for (const [user, facts] of this.#facts) copied.#facts.set(user, new Map(facts));
    for (const user of this.#erased) copied.#erased.add(user);
    Object.assign(copied, { key: this.key, urls: this.urls });
    return copied;
  }

  /** Notes an erasure that was made elsewhere. */
  forget(user: string): void {
    this.#facts.delete(user);
    this.#erased.add(user);
  }

  async once(
    method: string,
    path: string,
    body?: object,
    url = this.urls[0],
    idempotencyKey?: string,
  ): Promise<Answered> {
    const answer = await fetch(url + path, {
      method,
      headers: {
        authorization: `Bearer ${this.key}`,
        ...(body === undefined ? {} : { "content-type": "application/json" }),
        ...(idempotencyKey === undefined ? {} : { "idempotency-key": idempotencyKey }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(20_000),
    });
    return { status: answer.status, json: await answer.json() };
  }

  /** Again, at the next node, after a 5xx or a lost connection. */
  async insist(method: string, path: string, body?: object, url?: string): Promise<Answered> {
    const key = method === "POST" ? crypto.randomUUID() : undefined;
    for (const endMs = Date.now() + PATIENCE_MS; ; await sleep(PAUSE_MS)) {
      const at = url ?? this.urls[this.#turn++ % this.urls.length];
      const answer = await this.once(method, path, body, at, key).catch(() => undefined);
      if (answer !== undefined && answer.status < 500) return answer;
      const code = answer?.json.code ?? "no connection";
      this.refused.set(code, (this.refused.get(code) ?? 0) + 1);
      assert.ok(Date.now() < endMs, `${method} ${path} failed for a minute: ${code}`);
    }
  }
}
