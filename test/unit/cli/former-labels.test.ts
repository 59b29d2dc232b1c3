import assert from "node:assert/strict";
import { test } from "node:test";
import { type KeptChange, underFormerLabels } from "../../../src/cli/former-labels.ts";
import { rowsOf } from "../../fixtures/fields.ts";

const change = (label: string, renamedFrom?: string, project?: string): KeptChange => ({
  label,
  kind: renamedFrom === undefined ? "written" : "renamed",
  value: "x",
  revision: 1,
  at: "2026-11-18T12:00:00Z",
  ...(renamedFrom === undefined ? {} : { renamed_from: renamedFrom }),
  ...(project === undefined ? {} : { project }),
});

test("what happened before a fact was renamed has the label that it had then, place by place", () => {
  // Written as PET.dog, renamed to HOME.dog and back; another fact has the label in a project.
  const changes = [
    change("PET.dog", "HOME.dog"),
    change("PET.dog", undefined, "loom"),
    change("PET.dog", "PET.dog"),
    change("PET.dog"),
  ];
  assert.deepEqual(rowsOf(underFormerLabels(changes), "renamed_from", "label"), [
    ["HOME.dog", "PET.dog"],
    [undefined, "PET.dog"],
    ["PET.dog", "HOME.dog"],
    [undefined, "PET.dog"],
  ]);
});
