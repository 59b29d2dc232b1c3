/** What commands print: no value, name or file moves the cursor, turns text around or hides, and --json stays exact. */

import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { terminalText } from "../../../src/agent-side/escaped-text.ts";
import { CLASS_A, CLASS_B } from "../../../src/codec/alphabet-data.ts";
import { besideOwner, run, withData } from "./run-command.ts";

/** Turned around, and the letter A as a tag. */
const TURNED = "pay \u202eecila\u202c \u{e0041}";
const SHOWN = "pay \\u202eecila\\u202c \\udb40\\udc41";
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are among what it looks for.
const OBEYED = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069\u{e0041}]/u;

test("every command prints what a terminal would obey or hide as an escape, and JSON stays the same object", () =>
  withData((data, folder) =>
    besideOwner(data, async () => {
      const ada = ["--user", TURNED, "--project", "loom", "--data", data];
      await run("remember", "PREF.tone", TURNED, "--scope", "project", ...ada);
      const said: Record<string, string> = {};
      const calls = ["facts", "recall PREF.tone", "log", "history PREF.tone", "users", "context"];
      for (const call of calls) {
        const { status, out, err } = await run(
          ...call.split(" "),
          ...(call === "users" ? ada.slice(4) : ada),
        );
        assert.equal(status, 0, err);
        said[call] = out + err;
      }
      for (const [call, text] of Object.entries(said)) {
        assert.doesNotMatch(text, OBEYED, call);
        assert.ok(text.includes("ecila"), call);
      }
      assert.ok(said.facts.includes(`PREF.tone=${SHOWN}\n`), said.facts);
      const { out } = await run("facts", "--json", ...ada);
      assert.doesNotMatch(out, OBEYED);
      assert.deepEqual([JSON.parse(out).user_id, JSON.parse(out).facts[0].value], [TURNED, TURNED]);
      const file = join(folder, "export.jsonl");
      await run("export", "--user", TURNED, "--out", file, "--data", data);
      const line = readFileSync(file, "utf8");
      assert.doesNotMatch(line, OBEYED);
      assert.equal(JSON.parse(line).facts[0].value, TURNED);

      const missing = join(folder, "a\u001b[2Jb\u202e.md");
      for (const call of [["accounts", "import", missing], ["import", missing], [`\u001b[2J`]]) {
        const { status, err } = await run(...call);
        assert.ok(status > 0 && err.includes("\\u001b[2J"), err);
        assert.doesNotMatch(err, OBEYED);
      }
      writeFileSync(missing, "Tone: dry\n");
      const dry = await run("import", missing, ...ada);
      assert.ok(dry.out.includes("\\u001b[2Jb\\u202e.md"), dry.out);
      assert.doesNotMatch(dry.out, OBEYED);
    }),
  ));

test("lines, tabs, emoji, joined scripts and the letters of a block are printed as they are", () => {
  for (const text of ["a\n\tb\n", "👩‍💻 ❤️ שלום\u200f", CLASS_A, CLASS_B])
    assert.equal(terminalText(text), text);
  assert.equal(terminalText("a\r\u001b[1mb\ud800"), "a\\u000d\\u001b[1mb\\ud800");
});
