/** From labels to channels, and which label is hinted where there is none. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { channelOf, labelOf, nearLabel } from "../../../src/memory/labels.ts";

test("a label is found exactly as it is written, and each channel has its label", () => {
  for (const [label, channel] of [
    ["USER.name", 0],
    ["PREF.response_style", 10],
    ["PROJ.constraint", 39],
  ] as const) {
    assert.equal(channelOf(label), channel);
    assert.equal(labelOf(channel), label);
  }
  assert.throws(() => channelOf("user.name"), { code: "unknown_label" });
});

test("a label with one slip is hinted: a letter missing, added, replaced, or two of them swapped", () => {
  for (const text of ["USER.nam", "USER.namee", "USER.nane", "USER.nmae"])
    assert.equal(nearLabel(text), "USER.name", text);
});

test("a label that differs only in case or separators is hinted", () => {
  for (const text of [
    "user.name",
    "USER_NAME",
    "user name",
    "user:name",
    "User/Name",
    "user-name",
    "username",
  ])
    assert.equal(nearLabel(text), "USER.name", text);
  assert.equal(nearLabel("Proj: Token - Budget"), "PROJ.token_budget");
});

test("two edits are a slip, three are not", () => {
  assert.equal(nearLabel("TASK.deadli"), "TASK.deadline");
  assert.equal(nearLabel("TASK.deadl"), undefined);
  assert.equal(nearLabel("TASK.deadlinexx"), "TASK.deadline");
  assert.equal(nearLabel("TASK.deadlinexxx"), undefined);
  assert.equal(nearLabel("TASK.xxxdline"), undefined);
});

test("a text that is near to two labels is not hinted", () => {
  // One edit from PREF.tone, two from PREF.tools.
  assert.equal(nearLabel("PREF.tooe"), undefined);
});

test("a label of another kind is not hinted", () => {
  for (const text of ["", "name", "pet", "USER.email", "FAMILY.wife"])
    assert.equal(nearLabel(text), undefined, text);
});

test("an unknown label is refused with the hint, where there is one", () => {
  assert.throws(() => channelOf("USER.nam"), {
    code: "unknown_label",
    message: "There is no such label. Did you mean USER.name?",
    extra: { param: "label", hint: "USER.name" },
  });
  assert.throws(() => channelOf("pet"), {
    code: "unknown_label",
    message: "There is no such label. GET /channels lists all of them.",
    extra: { param: "label" },
  });
});
