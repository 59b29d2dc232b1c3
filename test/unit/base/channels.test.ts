/** The 40 channels: numbered in order, and found by their labels. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { CHANNELS, findChannel } from "../../../src/base/channels.ts";

test("40 channels, numbered in order, each found by its label in exactly that case", () => {
  assert.equal(CHANNELS.length, 40);
  assert.equal(new Set(CHANNELS.map(({ label }) => label)).size, 40);
  CHANNELS.forEach((channel, number) => {
    assert.equal(channel.channel, number);
    assert.equal(findChannel(channel.label), channel);
    assert.equal(findChannel(channel.label.toUpperCase()), undefined);
  });
  for (const label of ["", "USER", "user.name", "__proto__"]) assert.equal(findChannel(label), undefined);
});
