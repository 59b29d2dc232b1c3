/** sideband export --as markdown, and the import of what it writes: facts in a section of a person's own file. */

import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import fc from "fast-check";
import { FACT_PLACES } from "../../../src/agent-side/agent-memory.ts";
import { CHANNELS } from "../../../src/base/channels.ts";
import { readFormat } from "../../../src/import/formats.ts";
import { markdownSection, withMarkdownSection } from "../../../src/import/markdown-section.ts";
import { rowsOf } from "../../fixtures/fields.ts";
import { besideOwner, run, withData } from "./run-command.ts";

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

test("export --as markdown writes what a host for code gets, and what is left out is told", () =>
  withData((data) =>
    besideOwner(data, async () => {
      const at = ["--user", "ada", "--project", "loom", "--data", data];
      for (const [label, value] of [
        ["USER.name", "Ada"],
        ["HEALTH.allergy", "hazelnut"],
        ["HOME.key", "box"],
      ])
        await run("remember", label, value, ...at);
      const exported = (...more: string[]) => run("export", "--as", "markdown", ...more, ...at);
      const { out, err } = await exported();
      assert.match(out, /USER\.name=Ada/);
      assert.doesNotMatch(out, /hazelnut|box/);
      assert.match(err, /^2 facts of HEALTH, HOME not written: .*--groups all$/m);
      const lines = async (groups: string) =>
        (await exported(`--groups=${groups}`)).out.match(/^[A-Z]+\.\w+=/gm)?.sort();
      assert.deepEqual(await lines("all"), ["HEALTH.allergy=", "HOME.key=", "USER.name="]);
      assert.deepEqual(await lines("-HEALTH"), ["HOME.key=", "USER.name="]);
      assert.equal((await exported("--groups", "all")).err, "");
      await run("remember", "PROJ.memory_groups", "HOME", ...at);
      assert.match((await exported()).out, /HOME\.key=box/, "the project names it");
      for (const wrong of [
        ["--as", "markdown", "--groups", "health"],
        ["--groups", "HEALTH"],
      ])
        assert.equal((await run("export", ...wrong, ...at)).status, 2);
    }),
  ));

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
    fc.record({
      label: fc.constantFrom(...CHANNELS.map(({ label }) => label)),
      value,
      place: fc.constantFrom(...FACT_PLACES),
    }),
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
      const read = findings.facts.filter(({ isExact }) => isExact);
      const byLabel = new Map(read.map(({ label, value, scope }) => [label, { label, value, place: scope }]));
      assert.equal(read.length, some.length);
      assert.deepEqual(
        some.map(({ label }) => byLabel.get(label)),
        some.map((fact) => ({ ...fact })),
      );
      assert.equal(withMarkdownSection(text, markdownSection(stored)), text);
      const alone = withMarkdownSection(before, markdownSection(stored));
      assert.equal(withMarkdownSection(alone, ""), before.replace(/(?<=[^\n])$/, "\n"));
    }),
  );
});

test("a section has what a team shares and one's own, and is read back where that is shared, and where it is not", () =>
  withData((data, folder) =>
    besideOwner(data, async () => {
      const file = join(folder, "AGENTS.md");
      const ada = ["--user", "ada", "--data", data, "--project", "loom"];
      await run("remember", "PROJ.stack", "Node 20", ...ada);
      await run("remember", "PREF.tone", "dry", ...ada);
      await run("project", "share", "--with", "grace", "--take", "PROJ.stack", "--yes", ...ada);
      await run("remember", "TASK.next", "weave", "--own", ...ada);
      const { out } = await run("export", "--as", "markdown", "--out", file, ...ada);
      assert.equal(out, `wrote 3 facts to ${file}\n`);
      const section = "\n# person\nPREF.tone=dry\n# shared\nPROJ.stack=Node 20\n# own\nTASK.next=weave\n";
      assert.ok(readFileSync(file, "utf8").includes(section), readFileSync(file, "utf8"));
      assert.match((await run("import", file, ...ada)).out, /\n0 facts would be written/);
      writeFileSync(file, readFileSync(file, "utf8").replace("Node 20", "Node 24").replace("weave", "spin"));
      assert.match((await run("import", file, "--yes", ...ada)).out, /\n2 facts written\.\n/);
      const grace = ["--user", "grace", ...ada.slice(2)];
      assert.match(
        (await run("facts", ...grace)).out,
        /^# for all who share loom[^\n]*\nPROJ\.stack=Node 24\n$/,
      );
      const elsewhere = [...ada.slice(0, -1), "cloth"];
      assert.match((await run("import", file, "--yes", ...elsewhere)).out, /\n2 facts written\.\n/);
      assert.match(
        (await run("facts", ...elsewhere)).out,
        /\n# ada, for the project cloth\nTASK\.next=spin\nPROJ\.stack=Node 24\n$/,
      );
    }),
  ));
