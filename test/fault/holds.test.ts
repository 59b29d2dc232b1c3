/** One person's 10,000 facts in the built service: whatever is asked of all of them, others have the event loop in between. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { measureHolds } from "../../bench/holds.ts";
import { builtSideband } from "../agents/built.ts";

/**
 * In processor time. On an idle machine it is 10 ms (`npm run bench -- holds`); beside other work the collection of garbage
 * alone takes two to three times as long, since its threads have no core. Work that is done in one go takes hundreds.
 */
const HOLD_MS_MAX = 30;

/** Other work may make any one measurement longer, never shorter. */
const TRIES = 3;

const store = process.env.TEST_STORE === "postgres" ? "postgres" : "embedded";

test(`no call on 10,000 facts of a person holds the event loop, ${store}`, async () => {
  builtSideband();
  const leastMs = new Map<string, number>();
  for (let i = 0; i < TRIES; i++) {
    const rows = await measureHolds({ store, small: false, before: undefined, once: true });
    assert.ok(rows.length >= 20);
    for (const { call, holdMs } of rows)
      leastMs.set(call, Math.min(holdMs, leastMs.get(call) ?? Number.POSITIVE_INFINITY));
    if (Math.max(...leastMs.values()) <= HOLD_MS_MAX) break;
  }
  for (const [call, holdMs] of leastMs)
    assert.ok(holdMs <= HOLD_MS_MAX, `${call} holds the event loop for ${holdMs.toFixed(1)} ms`);
});
