/** A user's JSON file is changed in its text: an entry goes in and out again, and every other byte stays. */

import assert from "node:assert/strict";
import { suite, test } from "node:test";
import fc from "fast-check";
import {
  hasEntry,
  hasFields,
  type JsonValue,
  withFields,
  withoutFields,
} from "../../../src/agents/json-text.ts";

const KEYS = ["mcpServers", "sideband"];
const ENTRY = { command: "sideband", args: ["mcp"] };
const isOurs = (entry: JsonValue) => hasFields(entry, ENTRY);
const put = (text: string) => withFields(text, KEYS, ENTRY, isOurs);
const take = (text: string) => withoutFields(text, KEYS, isOurs);

suite("json text", () => {
  test("where a key is there twice, the last one counts, as a host reads it", () => {
    const first = '"mcpServers": {"mine": {}}';
    const text = `{${first}, "mcpServers": {"sideband": {"command": "sideband", "args": ["mcp"]}}}`;
    assert.equal(put(text), text);
    assert.equal(take(text), `{${first}, "mcpServers": {}}`);
    assert.equal(
      put(`{${first}, "mcpServers": {}}`),
      `{${first}, "mcpServers": {"sideband":${JSON.stringify(ENTRY)}}}`.replace(
        '"sideband":',
        '"sideband": ',
      ),
    );
    assert.ok(!hasEntry(`{"mcpServers": {"sideband": {}}, "mcpServers": {}}`, KEYS));
  });

  test("an entry is put at the end, in the style of the file, and comments stay beside what they are about", () => {
    const text = [
      "// My servers",
      "{",
      "\t/* kept */",
      '\t"mcpServers": {',
      '\t\t"mine": { "command": "x" }, // the first',
      '\t\t"other": { "command": "y" } // the last',
      "\t\t// nothing below",
      "\t},",
      '\t"theme": "dark", // a comma at the end',
      "}",
      "",
    ].join("\r\n");
    const expected = [
      "// My servers",
      "{",
      "\t/* kept */",
      '\t"mcpServers": {',
      '\t\t"mine": { "command": "x" }, // the first',
      '\t\t"other": { "command": "y" }, // the last',
      "\t\t// nothing below",
      '\t\t"sideband": {',
      '\t\t\t"command": "sideband",',
      '\t\t\t"args": [',
      '\t\t\t\t"mcp"',
      "\t\t\t]",
      "\t\t}",
      "\t},",
      '\t"theme": "dark", // a comma at the end',
      "}",
      "",
    ].join("\r\n");
    assert.equal(put(text), expected);
    assert.equal(take(expected), text);
    assert.equal(put(expected), expected);
  });

  test("each form of a file that has no entry gets one", () => {
    const cases: [before: string, after: string][] = [
      [
        "",
        '{\n  "mcpServers": {\n    "sideband": {\n      "command": "sideband",\n      "args": [\n        "mcp"\n      ]\n    }\n  }\n}\n',
      ],
      ["{}", '{"mcpServers": {"sideband":{"command":"sideband","args":["mcp"]}}}'],
      ['{"mcpServers":{}}', '{"mcpServers":{"sideband": {"command":"sideband","args":["mcp"]}}}'],
      ['{"a":1}', '{"a":1, "mcpServers": {"sideband":{"command":"sideband","args":["mcp"]}}}'],
      ['{"mcpServers":null}', '{"mcpServers":{"sideband":{"command":"sideband","args":["mcp"]}}}'],
    ];
    for (const [before, after] of cases) assert.equal(put(before), after, before);
    for (const before of ["\ufeff{}", "\ufeff", '{\n  "mcpServers": {\n    // none yet\n  }\n}', "{\n}\n"])
      assert.deepEqual(JSON.parse(plain(put(before))), { mcpServers: { sideband: ENTRY } }, before);
    assert.ok(put("\ufeff").startsWith("\ufeff{"));
  });

  test("an entry of the user's own with our name stays theirs, whatever it is", () => {
    for (const own of [
      '{"command":"mine"}',
      "null",
      "[]",
      '"off"',
      '{"command":"sideband","args":["mcp","--user","a"]}',
    ]) {
      const text = `{"mcpServers":{"sideband":${own}}}`;
      assert.equal(put(text), text);
      assert.equal(take(text), undefined);
      assert.ok(hasEntry(text, KEYS));
    }
  });

  test("what was added to our entry stays when its fields change, and goes with it", () => {
    const text =
      '{\n  "mcpServers": {\n    "sideband": { "command": "old", "args": ["mcp"], "env": { "A": "1" } }\n  }\n}\n';
    const changed = withFields(text, KEYS, ENTRY, (entry) => hasFields(entry, { command: "old" }));
    assert.deepEqual(JSON.parse(changed).mcpServers.sideband, { ...ENTRY, env: { A: "1" } });
    assert.equal(take(changed), '{\n  "mcpServers": {\n  }\n}\n');
  });

  test("what follows our entry in its line is not put behind a comment of the line before", () => {
    const entry = `"sideband": ${JSON.stringify(ENTRY)}`;
    const other = '{"mcpServers": {"other": {}, // mine\n  ';
    assert.equal(take(`${other}${entry}}}`), '{"mcpServers": {"other": {} // mine\n  }}');
    assert.equal(take(`${other}${entry}, "last": {}}}`), `${other} "last": {}}}`);
  });

  test("an item of a list is found by its fields, among the user's own", () => {
    const keys = ["hooks", "sessionStart", "-"];
    const hook = { command: "sideband hook" };
    const mine = (entry: JsonValue) => hasFields(entry, hook);
    const text = '{\n  "hooks": {\n    "sessionStart": [\n      { "command": "echo" }\n    ]\n  }\n}\n';
    const after = withFields(text, keys, hook, mine);
    assert.deepEqual(JSON.parse(after).hooks.sessionStart, [{ command: "echo" }, hook]);
    assert.equal(withFields(after, keys, hook, mine), after);
    assert.equal(withoutFields(after, keys, mine), text);
    assert.equal(hasEntry(after, keys), false);
    assert.throws(() => withFields('{"hooks":{"sessionStart":{}}}', keys, hook, mine), /sessionStart is not/);
  });

  test("what is not a JSON object is refused, with the line where it ends to be one", () => {
    const cases: [text: string, fault: RegExp][] = [
      ["[]", /not a JSON object/],
      ['"text"', /not a JSON object/],
      ['{"mcpServers":[]}', /mcpServers is not what it should be/],
      ['{"mcpServers":"none"}', /mcpServers is not what it should be/],
      ['{\n  "a": 1\n  "b": 2\n}', /line 3/],
      ['{\r\n"a": \r\n}', /line 3/],
      ["{'a': 1}", /line 1/],
      ['{"a": 01}', /line 1/],
      ['{"a": "\u0001"}', /line 1/],
      ["{ /* never closed }", /line 1/],
      ["{} {}", /line 1/],
      ["{,}", /line 1/],
      [`{"a":${"[".repeat(300)}${"]".repeat(300)}}`, /line 1/],
    ];
    for (const [text, fault] of cases) assert.throws(() => put(text), fault, text);
  });

  test("any file of JSON: the entry is added, everything else is the same, and it can be taken out", () => {
    const indents = fc.constantFrom<(string | number)[]>(0, 2, 4, "\t");
    const servers = fc.dictionary(
      fc.string().filter((key) => key !== "sideband"),
      fc.jsonValue(),
    );
    const files = fc.record({
      rest: fc.dictionary(fc.string(), fc.jsonValue()),
      servers,
      hasServers: fc.boolean(),
    });
    fc.assert(
      fc.property(files, indents, fc.boolean(), ({ rest, servers: own, hasServers }, indent, isWindows) => {
        const { mcpServers: _, ...others } = rest as Record<string, unknown>;
        const object = hasServers ? { mcpServers: own, ...others } : others;
        const json = JSON.stringify(object, null, indent);
        const text = isWindows ? json.replaceAll("\n", "\r\n") : json;
        const after = put(text);
        assert.deepEqual(JSON.parse(after), {
          ...JSON.parse(json),
          mcpServers: { ...(hasServers ? (JSON.parse(json).mcpServers as object) : {}), sideband: ENTRY },
        });
        assert.equal(/[^\r]\n/.test(after), /[^\r]\n/.test(text));
        const rested = take(after) ?? "";
        assert.deepEqual(JSON.parse(rested), {
          ...JSON.parse(json),
          mcpServers: hasServers ? JSON.parse(json).mcpServers : {},
        });
      }),
    );
  });
});

/** Without comments and the byte order mark. */
function plain(text: string): string {
  return text.replace("\ufeff", "").replaceAll(/\/\/.*/g, "");
}
