/** sideband import and export --as markdown, beside an owner in this process: what is said, and what is stored. */

import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import fc from "fast-check";
import { CHANNELS } from "../../../src/base/channels.ts";
import { readFormat } from "../../../src/import/formats.ts";
import { markdownSection, withMarkdownSection } from "../../../src/import/markdown-section.ts";
import { endAfter } from "../../fixtures/ends.ts";
import { rowsOf } from "../../fixtures/fields.ts";
import { startRunning } from "../../http/running-service.ts";
import { besideOwner, run, withData } from "./run-command.ts";

const NOTES = fileURLToPath(new URL("../../fixtures/memories/notes.md", import.meta.url));

/** The words behind "rollback" of the line that undoes an import. */
function undoWords(out: string): string[] {
  const line = out.trimEnd().split("\n").at(-1) ?? "";
  const found = /^undo: .* rollback (--to \S+) (--unchanged-since \S+) (--user) (\S+) (--data) (\S+)$/.exec(
    line,
  );
  assert.ok(found !== null, line);
  return ["rollback", ...found.slice(1).flatMap((words) => words.split(" "))];
}

test("a dry run is the default: it prints the table, writes nothing and begins no store", () =>
  withData(async (data, folder) => {
    const dry = await run("import", NOTES, "--data", data, "--user", "ada");
    assert.deepEqual([dry.status, dry.err], [0, ""]);
    assert.match(dry.out, /^notes\.md: text, for ada\n/);
    assert.match(
      dry.out,
      /\nLINE +WOULD WRITE +FOR THE +WAS +NOW\n7 +USER\.name +\w+ +\(none\) +"Ada Okafor"\n/,
    );
    assert.match(dry.out, /\n16 +PREF\.tone=dry, friendly +line 67 says it again\n/);
    assert.match(dry.out, /\n12 +USER\.pronouns +person +\(new label\) +"she\/her"\n/);
    assert.match(dry.out, /\n29 +PROJ\.api_key=\(not shown\) +This looks like an API key\n/);
    assert.match(
      dry.out,
      /\n29 facts would be written, 19 lines are not imported\. Nothing was written yet: add --yes, or --edit to change it first\.\n/,
    );
    assert.ok(!dry.out.includes("sk-ant-"), "what looks like a secret is not printed");
    const json = await run("import", NOTES, "--json", "--data", data);
    const { facts, not_imported, written } = JSON.parse(json.out);
    assert.deepEqual([facts.length, not_imported.length, written], [29, 19, 0]);
    // A text for an assistant, whose answer is what "import -" takes.
    const prompt = await run("import", "--prompt", "--data", data);
    assert.match(prompt.out, /LABEL=value[\s\S]*\nPREF\.tone: The tone to strike\n[\s\S]*My notes:\n/);
    assert.deepEqual(readdirSync(folder), []);
  }));

test("docs/agents/import.md shows what its example prints", () =>
  withData(async (data, folder) => {
    const guide = readFileSync(new URL("../../../docs/agents/import.md", import.meta.url), "utf8");
    const [, notes] = /printf '(.*)' > notes\.md/.exec(guide)!;
    writeFileSync(join(folder, "notes.md"), notes.replaceAll("\\n", "\n"));
    const { out } = await run("import", join(folder, "notes.md"), "--data", data, "--user", "ada");
    assert.ok(guide.includes(`\`\`\`\n${out.trimEnd()}\n\`\`\``), out);
  }));

test("--yes stores with the file as the writer, and the printed command takes back what has not changed since", () =>
  withData((data) =>
    besideOwner(data, async () => {
      const ada = ["--user", "ada", "--data", data];
      const here = [...ada, "--project", "loom/x"];
      await run("remember", "PREF.tone", "loud", ...ada);
      await run("remember", "PREF.editor", "Neovim", ...ada);
      const before = (await run("facts", ...here)).out;
      const written = await run("import", NOTES, "--yes", ...here);
      assert.deepEqual([written.status, written.err], [0, ""]);
      assert.match(written.out, /\nLINE +WRITTEN +FOR THE /);
      assert.match(written.out, /\n67 +PREF\.tone +person +"loud" +"warm"\n/);
      assert.match(written.out, /\n24 +PROJ\.stack +project +\(none\) /);
      assert.match(written.out, /\n27 +TASK\.deadline +worktree +\(none\) /);
      assert.match(written.out, /\nthere already: PREF\.editor \(line 11\)\n/);
      assert.match(written.out, /\n28 facts written\.\n/);
      const { revisions } = JSON.parse((await run("history", "PREF.tone", "--json", ...here)).out);
      assert.deepEqual(rowsOf(revisions, "value", "written_by"), [
        ["warm", "import: notes.md"],
        ["loud", "cli"],
      ]);
      const again = await run("import", NOTES, "--yes", ...here);
      assert.match(
        again.out,
        /\n0 facts would be written, 29 facts are there already, 19 lines are not imported\.\n/,
      );
      // What was written for the person is in no project: the command has none.
      const undo = undoWords(written.out);
      // What has changed since, or came later, stays.
      await run("remember", "PREF.tone", "calm", ...here);
      await run("remember", "PET.cat", "Tom", ...here);
      const undone = await run(...undo);
      assert.match(
        undone.out,
        /\nPREF\.tone: stays as it is, since it has changed again\n27 facts changed, /,
      );
      const now = before.replace("loud", "calm");
      assert.deepEqual(
        (await run("facts", ...here)).out.split("\n").sort(),
        [...now.split("\n"), "PET.cat=Tom"].sort(),
      );
    }),
  ));

test("where no history is kept, nothing is said to be undone by a command", () =>
  withData((data) =>
    besideOwner(
      data,
      async () => {
        const ada = ["--user", "ada", "--data", data];
        await run("remember", "PREF.tone", "loud", ...ada);
        const { out } = await run("import", NOTES, "--yes", ...ada);
        const again = await run("remember", "PREF.tone", "x", ...ada);
        assert.match(again.out, /^PREF\.tone: was .*; no undo: the earlier value is not kept\n$/);
        assert.match(out, /\nIt cannot be rolled back: the service keeps no history of some facts\.\n$/);
      },
      { SIDEBAND_HISTORY: "0" },
    ),
  ));

test("bad input gets one line that says what to do, and writes nothing", () =>
  withData(async (data, folder) => {
    const file = (name: string, text: string) => {
      writeFileSync(join(folder, name), text);
      return join(folder, name);
    };
    const empty = file("empty", "");
    const half = file("half.jsonl", '{"type":"entity","name":"me","observations":[]}\n{"type":"ent');
    const unknown = file("other.json", '{"a":{"b":1}}');
    const owned = (user: string) => ({ memory: "Likes tea", user_id: user });
    const several = file("several.json", JSON.stringify({ results: ["ada", "bob"].map(owned) }));
    const calls: [number, RegExp, ...string[]][] = [
      [
        1,
        /cannot import other\.json: it is JSON, but none that is known; .* \(--as NAME says which\)$/,
        unknown,
      ],
      [1, /several\.json: .* 2 users \(ada, bob\): name one with --of$/, several, "--user", "eve"],
      [1, /there is no file nope$/, "nope"],
      [1, /is a folder: name a file in it$/, folder],
      [1, /cannot import empty: it is empty$/, empty, "--yes"],
      [1, /cannot import half\.jsonl: line 2 is not JSON; is the file whole\?$/, half],
      [2, /--as takes one of sideband, lines, mcp-memory/, empty, "--as", "xml"],
      [2, /give FILE \("-" for standard input\) or --prompt; .* sideband accounts import$/, "--yes"],
      [
        2,
        /give FILE \("-" for standard input\) or --prompt; .* sideband accounts import$/,
        empty,
        "--prompt",
      ],
      [2, /--yes stores and --dry-run does not/, empty, "--yes", "--dry-run"],
    ];
    for (const [status, message, ...call] of calls) {
      const refused = await run("import", ...call, "--data", data);
      assert.deepEqual([refused.status, refused.out], [status, ""], call.join(" "));
      assert.match(refused.err, /^sideband import: [^\n]+\n$/);
      assert.match(refused.err.replace(/ \(sideband import --help.*/, "").trimEnd(), message);
    }
    const ofAda = await run("import", several, "--of", "ada", "--data", data);
    assert.match(ofAda.out, /Likes tea +it is bob's: --of bob imports it\n/);
    const values = [
      "USER.name=\tAda",
      `USER.os=${"x".repeat(1025)}`,
      "USER.gpu= ",
      "PREF.tone=password: hunter2!x",
    ];
    const { out } = await run("import", file("values", values.join("\n")), "--json", "--data", data);
    const { facts, not_imported } = JSON.parse(out);
    assert.deepEqual(facts, []);
    assert.deepEqual(rowsOf(not_imported, "line", "why"), [
      [1, "the value has line breaks or control characters"],
      [2, "the value has 1025 bytes, and 1024 are the most"],
      [3, "the value is empty"],
      [4, "This looks like a password"],
    ]);
    assert.ok(!existsSync(data));
  }));

/** Values that Markdown, a shell or a prompt could take for something else. */
const HOSTILE = {
  "USER.name": "# Ada **O** `x` ``` <b>&lt;/b> &amp;lt; [a](b)",
  "USER.os": "  two  spaces = a \\u{41} tab? ",
  "USER.role": "a\u202eb\u200f \u{e0041} 👩‍💻 שלום",
  "PREF.tone": "- PREF.format=x; # until 2020-01-01T00:00:00Z",
  "PREF.format": "```",
  "PREF.avoid": "<!-- /sideband-memory -->",
  "TASK.next": "# project",
};

test("export --as markdown, then import: the same facts, whatever is in them, and the rest of the file stays", () =>
  withData((data, folder) =>
    besideOwner(data, async () => {
      const memoryOf = (user: string, project: string) => [
        "--user",
        user,
        "--project",
        project,
        "--data",
        data,
      ];
      const ada = memoryOf("ada", "loom/x");
      const lines = Object.entries(HOSTILE).map(([label, value]) => `${label}=${value}\n`);
      writeFileSync(join(folder, "facts"), lines.join(""));
      const stored = await run("import", join(folder, "facts"), "--yes", "--json", ...ada);
      assert.equal(JSON.parse(stored.out).written, lines.length, stored.out);
      await run("remember", "PREF.units", "metric", "--scope", "project", ...ada);
      await run("remember", "TASK.reminder", "tea", "--until", "2099-01-01T00:00:00Z", ...ada);
      const factsOf = async (memory: string[]) =>
        JSON.parse((await run("facts", "--json", ...memory)).out).facts.map(
          ({ label, value, place, expires_at }: Record<string, string>) => ({
            label,
            value,
            place,
            expires_at,
          }),
        );
      const facts = await factsOf(ada);
      assert.equal(facts.length, lines.length + 2);

      const own = "# Loom\n\nKeep commits small.\n";
      const file = join(folder, "CLAUDE.md");
      const exported = (...more: string[]) => run("export", "--as", "markdown", ...more, ...ada);
      writeFileSync(file, own, { mode: 0o644 });
      assert.equal((await exported("--out", file)).out, `wrote ${facts.length} facts to ${file}\n`);
      const text = readFileSync(file, "utf8");
      assert.ok(text.startsWith(`${own}\n<!-- sideband-memory`), text);
      assert.ok(!/[\u202e\u{e0041}]/u.test(text), "nothing is hidden");
      assert.equal(statSync(file).mode & 0o777, 0o644);
      // Once more takes the place of the earlier one.
      await exported("--out", file);
      assert.equal(readFileSync(file, "utf8"), text);
      assert.equal(`${own}\n${(await exported()).out}`, text);
      // What would be damaged, or must not be written, is refused and stays.
      const latin = Buffer.from("# Métier à tisser\n", "latin1");
      const refused: [as: string, bytes: Buffer, mode: number, fault: string][] = [
        ["markdown", latin, 0o644, "it is not UTF-8 text"],
        ["markdown", Buffer.from(own), 0o444, "it is read-only"],
        ["jsonl", latin, 0o444, "it is read-only"],
      ];
      for (const [i, [as, bytes, mode, fault]] of refused.entries()) {
        const other = join(folder, `other-${i}`);
        writeFileSync(other, bytes, { mode });
        const { status, err } = await run("export", "--as", as, "--out", other, ...ada);
        assert.deepEqual([status, err], [1, `sideband export: ${other}: ${fault}\n`]);
        assert.deepEqual([readFileSync(other), statSync(other).mode & 0o777], [bytes, mode]);
      }
      assert.deepEqual(
        readdirSync(folder).filter((name) => name.endsWith(".new")),
        [],
      );

      const same = JSON.parse((await run("import", file, "--json", ...ada)).out);
      // What else the file says is the project's, as the file is.
      assert.deepEqual(rowsOf(same.facts, "line", "label", "place"), [
        [3, "LOOM.keep_commits_small", "project"],
      ]);
      assert.deepEqual(
        [same.same.length, same.not_imported.map(({ line }: { line: number }) => line)],
        [facts.length, [1]],
      );
      writeFileSync(file, text.replace(own, ""));
      const eve = memoryOf("eve", "mill/y");
      assert.match((await run("import", file, "--yes", ...eve)).out, /\n9 facts written\.\n/);
      assert.deepEqual(await factsOf(eve), facts);

      await run("forget", "--all", "--yes", "--user", "ada", "--data", data);
      writeFileSync(file, text);
      const none = { status: 0, err: "ada has no facts\n" };
      const taken = `took the earlier section out of ${file}\n`;
      assert.deepEqual(await exported("--out", file), { ...none, out: taken });
      assert.equal(readFileSync(file, "utf8"), own);
      for (const path of [file, join(folder, "none.md")])
        assert.deepEqual(await exported("--out", path), { ...none, out: "no file was written\n" });
      assert.ok(!existsSync(join(folder, "none.md")));
      assert.equal((await exported("--json")).status, 2);
      assert.doesNotMatch((await run("export", "--help")).out, /--json/);
      assert.equal((await run("export", "--as", "csv")).status, 2);
    }),
  ));

test("a section of any facts in any file is read back exactly", () => {
  const part = fc.constantFrom(
    ..."`#=<>&[]\\*_-|!:;~ ",
    "```",
    "&lt;",
    "amp;",
    "\\u{",
    "202e}",
    "\u202e",
    "\u200d",
    "é",
    "ש",
  );
  const value = fc.array(part, { minLength: 1, maxLength: 12 }).map((parts) => parts.join(""));
  const facts = fc.uniqueArray(
    fc.record({ label: fc.constantFrom(...CHANNELS.map(({ label }) => label)), value }),
    {
      minLength: 1,
      maxLength: 12,
      selector: ({ label }) => label,
    },
  );
  const around = fc.constantFrom("", "# Title\n", "```sh\nx\n```\n", "a\r\nb");
  fc.assert(
    fc.property(facts, around, around, (some, before, after) => {
      const stored = some.map((fact) => ({ ...fact, channel: 0, revision: 1, updated_at: "" }));
      const text = withMarkdownSection(before, markdownSection(stored)) + after;
      const { findings } = readFormat(text, undefined, {
        name: "AGENTS.md",
        labels: CHANNELS,
        userId: "ada",
      });
      assert.deepEqual(
        findings.facts.filter(({ isExact }) => isExact).map(({ label, value }) => ({ label, value })),
        some.map(({ label, value }) => ({ label, value })),
      );
      assert.equal(withMarkdownSection(text, markdownSection(stored)), text);
      const alone = withMarkdownSection(before, markdownSection(stored));
      assert.equal(withMarkdownSection(alone, ""), before.replace(/(?<=[^\n])$/, "\n"));
    }),
  );
});

test("an export of Sideband brings places, ends and labels along", () =>
  withData(async (data, folder) => {
    const file = join(folder, "ada.jsonl");
    await besideOwner(data, async () => {
      const ada = ["--user", "ada", "--data", data];
      await run(
        "labels",
        "add",
        "TRIP.goal",
        "--description",
        "where to",
        "--max-bytes",
        "9",
        "--data",
        data,
      );
      await run("remember", "TRIP.goal", "sea", ...ada);
      await run("remember", "USER.name", "Ada", "--until", "2099-01-01T00:00:00Z", ...ada);
      await run("remember", "TASK.next", "weave", "--project", "loom/x", ...ada);
      assert.equal((await run("export", ...ada, "--out", file)).status, 0);
    });
    const other = join(folder, "other");
    await besideOwner(other, async () => {
      const eve = ["--user", "eve", "--data", other];
      const dry = await run("import", file, ...eve);
      assert.match(
        dry.out,
        /^ada\.jsonl: an export of Sideband of ada, for eve\nnot looked at: keys and earlier values\n/,
      );
      assert.match(dry.out, /\nlabels that would be added: TRIP\.goal\n/);
      assert.match((await run("import", file, "--yes", ...eve)).out, /\n3 facts written\.\n/);
      assert.match((await run("labels", "--data", other)).out, /\nTRIP\.goal +person +where to \(added /);
      const { out } = await run("facts", "--json", "--project", "loom/x", ...eve);
      assert.deepEqual(rowsOf(JSON.parse(out).facts, "label", "value", "place", "expires_at"), [
        ["USER.name", "Ada", "person", "2099-01-01T00:00:00.000Z"],
        ["TASK.next", "weave", "worktree", undefined],
        ["TRIP.goal", "sea", "person", undefined],
      ]);
    });
  }));

test("more facts than a step takes: what was written is said, what was not is said, and it can be rolled back", (t) =>
  withData(async (_, folder) => {
    const running = endAfter(t, await startRunning());
    const key = await running.newKey("limited", "free");
    t.after(() => {
      delete process.env.SIDEBAND_API_KEY;
    });
    process.env.SIDEBAND_API_KEY = key;
    const call = (path: string, body: object) => running.call("POST", path, { key, body });
    const labels = Array.from({ length: 60 }, (_, i) => `TRIP.stop_${i}`);
    for (const label of labels) await call("/channels", { label, description: "a stop" });
    // A free key may write 1,000 facts a month: 45 are left.
    const facts = labels.slice(0, 40).map((label) => ({ label, value: "before" }));
    for (let left = 955; left > 0; left -= 40)
      await call("/encode/batch", { user_id: "bob", facts: facts.slice(0, left) });
    const stops = join(folder, "stops");
    writeFileSync(stops, labels.map((label) => `${label}=here\n`).join(""));
    const ada = ["--user", "ada", "--url", running.url];
    const written = await run("import", stops, "--yes", ...ada);
    assert.equal(written.status, 1);
    assert.match(written.out, /\n40 facts written\.\n/);
    assert.match(
      written.err,
      /^sideband import: not written: TRIP\.stop_40, .*TRIP\.stop_59: .*1000 encodes a month/,
    );
    const [, to] =
      /undo: .* rollback --to (\S+) --unchanged-since \S+ --user ada --url http/.exec(written.out) ?? [];
    assert.match((await run("rollback", "--to", to, ...ada)).out, /40 facts changed/);
    assert.equal((await run("facts", ...ada)).err, "ada has no facts\n");
  }));

test("an import names the labels that it added", () =>
  withData(async (data, folder) => {
    const file = join(folder, "labels.jsonl");
    const lineOf = (label: string, channel: number) => {
      const terms = { example: "", oneOf: null, maxBytes: null, ttlS: null, scope: null, hidden: false };
      const record = { label, channel, description: "x", ...terms, createdAtMs: 1 };
      return JSON.stringify({ kind: "label", account: "default", label: record });
    };
    writeFileSync(file, `${lineOf("FAMILY.wife", 40)}\n${lineOf("FAMILY.child", 41)}\n`);
    const imported = await run("accounts", "import", file, "--new-master-key", "--data", data);
    assert.equal(imported.out, "added 2 labels: FAMILY.wife, FAMILY.child\nimported 0 facts from 2 lines\n");
    const again = JSON.parse((await run("accounts", "import", file, "--json", "--data", data)).out);
    assert.deepEqual(again.labels_added, []);
  }));

test("20,000 lines are listed in a table that a person can read, and all of them with --json", () =>
  withData(async (data, folder) => {
    const file = join(folder, "long.md");
    writeFileSync(file, "- x\n".repeat(20_000));
    const { status, out } = await run("import", file, "--data", data);
    assert.equal(status, 0);
    assert.ok(out.length < 20_000, String(out.length));
    assert.match(out, /\nand 19,799 more: --json has all of them\n/);
    assert.match(out, /\n1 fact would be written, 19999 lines are not imported\./);
    const { out: json } = await run("import", file, "--json", "--data", data);
    assert.equal(JSON.parse(json).not_imported.length, 19_999);
  }));

test("a file with more facts than a person has is refused in one line", () =>
  withData(async (data, folder) => {
    const file = join(folder, "many.jsonl");
    const facts = Array.from({ length: 10_001 }, (_, i) => ({
      label: "PREF.tone",
      value: "x",
      place: `p${i}`,
    }));
    writeFileSync(file, JSON.stringify({ kind: "user", account: "default", user_id: "ada", facts }));
    const { status, err } = await run("import", file, "--data", data);
    assert.deepEqual(
      [status, err],
      [
        1,
        "sideband import: cannot import many.jsonl: it holds more than 10,000 facts, which is the most that one import takes\n",
      ],
    );
  }));
