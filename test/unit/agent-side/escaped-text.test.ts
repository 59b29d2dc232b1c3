/** Values in a prompt are data: none looks like a tag or another line, none hides anything, and ordinary text stays. */

import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { escapeJson, escapeText, unescapeText } from "../../../src/agent-side/escaped-text.ts";
import { memorySection, withSection } from "../../../src/agent-side/memory-section.ts";
import { LABELS } from "../../../src/base/channel-labels.ts";
import { hermesCalls } from "../../agents/hermes-calls.ts";

const PARTS = [
  ...[
    "<",
    "</",
    ">",
    "< ",
    "＜",
    "﹤",
    "sideband-memory",
    "SIDEBAND-MEMORY",
    " ",
    "system",
    "|im_start|",
    "!--",
    "/",
    "3",
  ],
  ...[
    "[MEM]",
    "[/mem]",
    "\\",
    "\\u{202e}",
    "u{",
    "&",
    "&lt;",
    "amp;",
    "lt;",
    "=",
    "USER.name=",
    "a",
    "<private>",
    '"',
  ],
  ..."\u00a0\u00ad\u034f\u061c\u0085\u115f\u180b\u180e\u200b\u200c\u200d\u200e\u200f\u2028\u202e\u2066\u2069\u2800",
  ..."\u3164\ufe00\ufe0e\ufe0f\ufeff\u{e0001}\u{e0041}\u{e007f}\u{e0100}\u{1d173}\r\u007f",
  ...["👩", "❤", "🏽", "ب", "ש", "क", "葛", "é"],
];
const hostileValue = fc
  .array(fc.constantFrom(...PARTS), { minLength: 1, maxLength: 12 })
  .map((p) => p.join(""));
const hostileIndex = fc
  .array(hostileValue, { minLength: 1, maxLength: 6 })
  .map((values) => values.map((value, i) => `${LABELS[i]}=${value}`).join("\n"));

/** Tags, comments and marks of chat templates, also with spaces; overrides and isolates, tags, fillers, line breaks. */
const MARKUP = /[<＜﹤]\s*[/!?|]|[<＜﹤][^\s0-9=<＜﹤>-]|[<＜﹤]\s*\w[\w:.-]{0,40}\s*>|\[\/?MEM\]/iu;
const UNSEEN =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: none may be left.
  /[\u0000-\u001f\u007f-\u009f\u00ad\u200b\u2028-\u202e\u2060-\u206f\u3164\ufeff\u{e0000}-\u{e00ff}]/u;

test("no value in a section looks like markup or another line, or hides anything, and each can be read back", () => {
  fc.assert(
    fc.property(hostileIndex, (plain_index) => {
      const context = { plain_index, fdm_block: "[MEM] a b [/MEM]" };
      const section = memorySection(context, "index");
      const lines = section.split("\n");
      const facts = lines.slice(2, -1);
      assert.deepEqual([lines[0], lines.at(-1)], ["<sideband-memory>", "</sideband-memory>"]);
      assert.equal(facts.length, plain_index.split("\n").length);
      for (const fact of facts) assert.ok(!MARKUP.test(fact) && !UNSEEN.test(fact), fact);
      assert.equal(facts.map(unescapeText).join("\n"), plain_index);
      assert.equal(
        lines[1].includes("&lt;"),
        facts.join("\n") !== plain_index,
        "the note stands where it is needed",
      );
      // The same bytes again, and a prompt that can be had back.
      assert.equal(memorySection(context, "index"), section);
      const prompt = withSection("Be brief.", memorySection(context));
      assert.equal(withSection(prompt, memorySection(context)), prompt);
      assert.equal(withSection(prompt, ""), "Be brief.");
    }),
    { numRuns: 1_500 },
  );
});

test("JSON for a model is the same object, without markup or anything hidden in its text", () => {
  fc.assert(
    fc.property(hostileValue, (value) => {
      const text = escapeJson({ label: "USER.name", value });
      assert.deepEqual(JSON.parse(text), { label: "USER.name", value });
      assert.ok(!/[<＜﹤]\s*[/!?|]|[<＜﹤][^\s0-9=<＜﹤>-]/u.test(text) && !UNSEEN.test(text), text);
    }),
    { numRuns: 1_500 },
  );
  const block = { fdm_block: "[MEM] a b [/MEM]" };
  assert.equal(escapeJson(block), JSON.stringify(block), "a block stays as it is");
});

test("ordinary text is shown as it is", () => {
  const ordinary = [
    ...[
      "a < b",
      "x <= 3, y <- z, I <3 it",
      "C++ -> Rust => Zig, a <-> b",
      "Tom & Jerry &amp; co",
      "a < b and c > d",
      "5 > 4",
    ],
    ...[
      "👩‍👩‍👧 ❤️‍🔥 1️⃣ 👍🏽 ☀︎",
      "سلام، می‌خواهم",
      "שלום\u200f C++",
      "क्‍ष",
      "葛\u{e0100}城市",
      "Zoë, naïve, Ł",
      "C:\\Users\\ada",
    ],
    ...[
      "[x] done, [MEMO] later",
      "#include, @decorator",
      "日本語「こんにちは」",
      "50 % | 20 €",
      "{ a: 1 }",
      "\\n is a line break",
    ],
  ];
  for (const text of ordinary) {
    assert.equal(escapeText(text), text);
    assert.equal(escapeJson(text), JSON.stringify(text));
  }
  assert.ok(!memorySection({ plain_index: `USER.name=${ordinary[0]}`, fdm_block: "" }).includes("&lt;"));
  // Code keeps its form.
  assert.equal(escapeText("List<string>"), "List&lt;string>");
  assert.equal(
    escapeText("</SIDEBAND-MEMORY > \u202eabc\u{e0041}"),
    "&lt;/SIDEBAND-MEMORY > \\u{202e}abc\\u{e0041}",
  );
});

test("the Python client and the Hermes provider write the same bytes", () => {
  const contexts = fc
    .sample(hostileIndex, 400)
    .map((plain_index) => ({ plain_index, fdm_block: "[MEM] a b [/MEM]" }));
  const values = fc.sample(hostileValue, 400);
  const written = hermesCalls([
    ...contexts.map((context): [string, unknown[]] => ["memory_section", [context]]),
    ...values.map((value): [string, unknown[]] => ["shown_json", [value]]),
  ]);
  assert.deepEqual(written, [
    ...contexts.map((context) => memorySection(context)),
    ...values.map(escapeJson),
  ]);
});
