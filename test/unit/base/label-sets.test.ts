/** The sets of labels that are shipped: each can be added to any account, beside the standard labels and the other sets. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { LABEL_FORM, LABELS } from "../../../src/base/channel-labels.ts";
import { LABEL_SETS } from "../../../src/base/label-sets.ts";
import { CHANNEL_COUNT_MAX } from "../../../src/base/limits.ts";

test("every label of a set can be added: its form, its texts, and no other has its name", () => {
  const all = [...LABEL_SETS.values()].flat();
  for (const [name, labels] of LABEL_SETS) assert.ok(labels.length >= 8 && labels.length <= 15, name);
  for (const { label, description, example } of all) {
    assert.match(label, LABEL_FORM);
    assert.ok(description.length > 0 && description.length <= 200, label);
    assert.ok(example.length > 0 && example.length <= 200, label);
  }
  assert.equal(new Set([...LABELS, ...all.map(({ label }) => label)]).size, LABELS.length + all.length);
  assert.ok(LABELS.length + all.length <= CHANNEL_COUNT_MAX);
});
