/**
 * The largest memory that is allowed: one person's facts in a project and its worktrees, each with earlier values; and a
 * person whose places are as full as places may be, under labels of the person's own.
 */

import { LABELS } from "../../src/base/channel-labels.ts";
import { FACTS_MAX, PLACE_FACTS_MAX } from "../../src/base/limits.ts";
import type { Core } from "../../src/main/core.ts";
import type { ImportChange, Store } from "../../src/memory/ports.ts";

export const ACCOUNT = "bench";
export const USER = "large";
export const PROJECT = "a";
/** An account has 256 labels at most. */
const PLACE_FACTS = 250;
const EARLIER = 1;
const VALUE_LENGTH = 100;
/** When the first values were written; each later one a day after that before it. */
const FIRST_MS = Date.parse("2026-01-01T00:00:00Z");
const DAY_MS = 24 * 3600 * 1000;

/** The last moment before the present values. */
export const BEFORE = new Date(FIRST_MS + EARLIER * DAY_MS - 1).toISOString();

/** How many facts the user has. */
export const factsOf = (small: boolean) => (small ? FACTS_MAX / 10 : FACTS_MAX);

/** The person with the fullest places, and the project, whose facts are shared and given back. */
export const WIDE = "wide";
export const TEAM = "team";
export const WIDE_PLACES = ["", TEAM, `${TEAM}/worktree`];
export const placeFactsOf = (small: boolean) => (small ? PLACE_FACTS_MAX / 10 : PLACE_FACTS_MAX);

/** The innermost place has a project above it. */
export const INNERMOST = `${PROJECT}/worktree-01`;

export async function fillUsers({ store }: Core, small: boolean): Promise<void> {
  const labels: string[] = [...LABELS];
  while (labels.length < PLACE_FACTS) {
    const label = `OWN.label_${labels.length}`;
    const { outcome } = await store.addLabel(ACCOUNT, { ...TERMS, label, createdAtMs: FIRST_MS });
    if (outcome !== "added") throw new Error(`the label ${label} was not added: ${outcome}`);
    labels.push(label);
  }
  for (let i = 0; i < factsOf(small) / PLACE_FACTS; i++) {
    const place = i === 0 ? PROJECT : `${PROJECT}/worktree-${String(i).padStart(2, "0")}`;
    const lives = labels.map((label, number) => ({
      place,
      label,
      values: Array.from({ length: EARLIER + 1 }, (_, age) => pastValue(i * PLACE_FACTS + number, age)),
    }));
    await write(store, USER, lives);
  }
  for (const [i, place] of WIDE_PLACES.entries()) {
    const lives = Array.from({ length: placeFactsOf(small) }, (_, number) => {
      const of = i * PLACE_FACTS_MAX + number;
      const values = Array.from({ length: EARLIER + 1 }, (_, age) => pastValue(of, age));
      return { place, label: `WIDE.fact_${of}`, values, free: { make: true } };
    });
    await write(store, WIDE, lives);
  }
}

async function write(store: Store, userId: string, lives: ImportChange["lives"]): Promise<void> {
  const changes = [{ kind: "import", lives } as const];
  const { outcome } = await store.write({ account: ACCOUNT, userId, changes, places: [], nowMs: Date.now() });
  if (outcome !== "stored") throw new Error(`the facts of ${userId} were not stored: ${outcome}`);
}

const TERMS = {
  description: "A label",
  example: "",
  oneOf: null,
  maxBytes: null,
  ttlS: null,
  scope: null,
  hidden: false,
};

function pastValue(number: number, age: number) {
  const atMs = FIRST_MS + age * DAY_MS;
  const value = `fact ${number} in its value ${age} `.padEnd(VALUE_LENGTH, "x");
  const written = { writtenBy: "bench", sessionId: null, updatedAtMs: atMs, sinceMs: atMs };
  const fact = { value, revision: number * (EARLIER + 1) + age + 1, ordinal: age + 1, ...written };
  return age === EARLIER ? fact : { ...fact, ended: "replaced" as const, endedAtMs: atMs + DAY_MS };
}
