/**
 * The labels that persons have made by writing them. A number is given once in a life of the person, and stays with its
 * label: the first time it is seen it must be larger than all before.
 */

import assert from "node:assert/strict";

interface Made {
  last: number;
  /** A number is not known before it was seen. */
  readonly numbers: Map<string, number | undefined>;
}

export class MadeLabels {
  readonly byUser = new Map<string, Made>();

  has(user: string, label: string): boolean {
    return this.byUser.get(user)?.numbers.has(label) === true;
  }

  of(user: string): { label: string; number: number | undefined }[] {
    const numbers = this.byUser.get(user)?.numbers ?? new Map<string, undefined>();
    return [...numbers].map(([label, number]) => ({ label, number }));
  }

  /** With the places that have a fact or a past on it. */
  withUses(user: string, lives: readonly { readonly label: string }[]) {
    return this.of(user).map(({ label, number }) => {
      return { label, number, uses: lives.filter((life) => life.label === label).length };
    });
  }

  make(user: string, label: string): void {
    const made = this.byUser.get(user) ?? { last: 0, numbers: new Map() };
    this.byUser.set(user, made);
    if (!made.numbers.has(label)) made.numbers.set(label, undefined);
  }

  /** What has neither a fact nor a past is gone, and so is a person with nothing at all. */
  keep(labelsOf: (user: string) => ReadonlySet<string>): void {
    for (const [user, { numbers }] of this.byUser) {
      const labels = labelsOf(user);
      for (const label of numbers.keys()) if (!labels.has(label)) numbers.delete(label);
      if (labels.size === 0) this.byUser.delete(user);
    }
  }

  learn(user: string, seen: ReadonlyMap<string, number>): void {
    const made = this.byUser.get(user);
    if (made === undefined) return;
    for (const [label, number] of [...seen].sort(([, a], [, b]) => a - b)) {
      const known = made.numbers.get(label);
      if (known !== undefined) assert.equal(number, known, `the number of ${label}`);
      else assert.ok(number > made.last, `${label} has the number ${number} after ${made.last}`);
      made.numbers.set(label, number);
      made.last = Math.max(made.last, number);
    }
  }
}
