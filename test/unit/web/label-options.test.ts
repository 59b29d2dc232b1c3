/** What a text for a label offers: known labels by name and description, the near one, and a label made of it. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { LABEL_FORM } from "../../../src/base/channel-labels.ts";
import { CHANNELS } from "../../../src/base/channels.ts";
import { seededRandom } from "../../../src/base/random.ts";
import { labelOptions, madeLabel, namedLabel, nearLabel } from "../../../src/web/memory/label-options.ts";

const WIFE = { label: "FAMILY.wife", description: "What the user's wife is called" };
const LABELS = [...CHANNELS, WIFE, { label: "NOTE.item_1", description: "" }];

const offered = (text: string, mayMake = true) =>
  labelOptions(text, LABELS, mayMake).map(({ label, isNew }) => (isNew ? `make ${label}` : label));

test("labels are offered by their beginnings first, then by their names, their words and their descriptions, each sorted", () => {
  assert.deepEqual(offered(""), LABELS.map(({ label }) => label).sort());
  assert.deepEqual(offered("user.l", false), ["USER.language", "USER.location"]);
  assert.deepEqual(offered("st", false).slice(0, 3), ["PROJ.stack", "PROJ.status", "PREF.code_style"]);
  assert.deepEqual(offered("called", false), ["FAMILY.wife", "USER.name"]);
  assert.deepEqual(offered("style response", false), ["PREF.response_style"]);
});

test("the label that would be made comes first where nothing fits, after what fits otherwise, and never in a strict account", () => {
  assert.deepEqual(offered("Pet: dog"), ["make PET.dog"]);
  assert.deepEqual(offered("Pet: dog", false), []);
  assert.deepEqual(offered("FAMILY.wi"), ["FAMILY.wife", "make FAMILY.wi"]);
  assert.deepEqual(offered("FAMILY.wief"), ["FAMILY.wife", "make FAMILY.wief"]);
  assert.deepEqual(offered("family.wife"), ["FAMILY.wife"]);
  assert.deepEqual(offered("日本"), []);
  const dog = { label: "PET.dog", description: "犬の名前, un chien très sage" };
  for (const text of ["犬", "CHIEN tres"])
    assert.equal(labelOptions(text, [dog], true)[0].label, "PET.dog", text);
});

test("a label is made of what people write, and is always one", () => {
  const made = (text: string) => madeLabel(text, LABELS);
  assert.deepEqual(
    ["FAMILY.wife", "family / Wife's name", "Pet food", "family dog", "Zähne: nächster Termin", "Ü", "…"].map(
      made,
    ),
    [
      "FAMILY.wife",
      "FAMILY.wifes_name",
      "NOTE.pet_food",
      "FAMILY.dog",
      "ZAHNE.nachster_termin",
      "NOTE.u",
      undefined,
    ],
  );
  const random = seededRandom(11);
  const parts = ["a", "Wi-Fi", " ", ".", ":", "ß", "9", "é", "_", "x".repeat(30), "日", "/"];
  for (let round = 0; round < 500; round++) {
    const text = Array.from({ length: random.below(8) }, () => parts[random.below(parts.length)]).join("");
    const label = made(text);
    assert.ok(label === undefined || LABEL_FORM.test(label), `${text} → ${label}`);
  }
});

test("a whole label is known in any case, and a slip of another one is noticed; numbers are no slips", () => {
  assert.equal(namedLabel(" user.NAME ", LABELS, true)?.label, "USER.name");
  assert.equal(namedLabel("PET.dog", LABELS, true)?.isNew, true);
  assert.equal(namedLabel("PET.dog", LABELS, false), undefined);
  assert.equal(namedLabel("dog", LABELS, true), undefined, "no whole label");
  assert.equal(nearLabel("FAMILY.wief", LABELS), "FAMILY.wife");
  assert.equal(nearLabel("FAMILY.wife", LABELS), undefined);
  assert.equal(nearLabel("NOTE.item_2", LABELS), undefined);
});
