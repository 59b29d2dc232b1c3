/** sideband import --edit, and what asks for a project, beside an owner in this process. */

import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { rowsOf } from "../../fixtures/fields.ts";
import { besideOwner, run, withData } from "./run-command.ts";

/** An editor that does what a person would: a program that gets the file. */
function editor(folder: string, body: string): string {
  const path = join(folder, "editor.mjs");
  writeFileSync(
    path,
    `import { readFileSync, writeFileSync } from "node:fs";\nconst path = process.argv[2];\nlet text = readFileSync(path, "utf8");\n${body}\nwriteFileSync(path, text);\n`,
  );
  return `"${process.execPath}" "${path}"`;
}

test("--edit: what the editor leaves is imported, with changed labels, without removed lines and with added ones", (t) =>
  withData((data, folder) =>
    besideOwner(data, async () => {
      const before = process.env.EDITOR;
      t.after(() => {
        if (before === undefined) delete process.env.EDITOR;
        else process.env.EDITOR = before;
      });
      delete process.env.VISUAL;
      const notes = join(folder, "notes.md");
      writeFileSync(notes, "## Family\n- Wife: Grace\n- Likes tea\n## Project\n- Goal: ship\n");
      process.env.EDITOR = editor(
        folder,
        `if (!text.includes("# person\\n# line 2, a new label\\nFAMILY.wife=Grace\\n")) process.exit(3);
text = text.replace("FAMILY.wife", "FAMILY.spouse").replace(/FAMILY\\.likes_tea=.*\\n/, "PREF.tone=dry = short \\nno label\\n");`,
      );
      const ada = ["--user", "ada", "--data", data];
      const { out, err } = await run(
        "import",
        notes,
        "--edit",
        "--yes",
        "--json",
        ...ada,
        "--project",
        "loom",
      );
      assert.equal(err, "");
      const { facts, not_imported } = JSON.parse(out);
      assert.deepEqual(rowsOf(facts, "line", "label", "value", "place"), [
        [2, "FAMILY.spouse", "Grace", "person"],
        [3, "PREF.tone", "dry = short ", "person"],
        [5, "PROJ.goal", "ship", "project"],
      ]);
      assert.deepEqual(not_imported, [{ line: 3, text: "no label", why: "it is no LABEL=value" }]);
      assert.match((await run("facts", ...ada)).out, /^FAMILY\.spouse=Grace$/m);
      process.env.EDITOR = `"${process.execPath}" -e "process.exit(1)"`;
      const failed = await run("import", notes, "--edit", "--yes", ...ada);
      assert.deepEqual([failed.status, failed.out], [1, ""]);
      assert.match(failed.err, /the editor .* failed: nothing was written/);
      const unasked = await run("import", notes, "--edit", ...ada);
      assert.match(unasked.err, /--edit needs --yes where nobody can be asked/);
    }),
  ));

test("what belongs to a project asks for one; --person leaves it out", () =>
  withData((data, folder) =>
    besideOwner(data, async () => {
      const notes = join(folder, "notes.md");
      writeFileSync(notes, "Wife: Grace\n## Project\n- Goal: ship\n");
      process.env.SIDEBAND_PROJECT = "off";
      try {
        const ada = ["--user", "ada", "--data", data];
        const plan = await run("import", notes, ...ada);
        assert.match(
          plan.out,
          /\nLINE +OF A PROJECT +FOR THE +WAS +NOW\n3 +PROJ\.goal +\? +\(none\) +"ship"\n/,
        );
        assert.match(plan.out, /1 fact would be written, 1 fact is of a project, 1 line is not imported/);
        const wife = ["remember", /\S+\.wife/.exec(plan.out)![0], "Ada"];
        assert.equal((await run(...wife, ...ada)).status, 0);
        const over = await run("import", notes, ...ada);
        assert.match(over.out, /1 fact would be written, 1 over another value, 1 fact is of a project/);
        const asked = await run("import", notes, "--yes", ...ada);
        assert.deepEqual([asked.status, asked.out], [1, ""]);
        assert.match(
          asked.err,
          /nothing was written\. Which project is PROJ\.goal of\? Name it with --project/,
        );
        const person = await run("import", notes, "--yes", "--person", ...ada);
        assert.match(person.out, /\n3 +PROJ\.goal=ship +it belongs to a project: name it with --project\n/);
        assert.match(person.out, /\n1 fact written\.\n/);
        const placed = await run("import", notes, "--yes", "--project", "loom", ...ada);
        assert.match(placed.out, /\n3 +PROJ\.goal +project +\(none\) +"ship"\n/);
      } finally {
        delete process.env.SIDEBAND_PROJECT;
      }
    }),
  ));

test("a secret is printed neither as a value nor in the label that its words would make", () =>
  withData(async (data, folder) => {
    const notes = join(folder, "notes.md");
    writeFileSync(notes, "- The alarm password is Kittiwake77!\n- Wifi password: Seestern2019!\n");
    const { out } = await run("import", notes, "--data", data);
    assert.ok(!/kittiwake|seestern/i.test(out), out);
    assert.match(out, /\n1 +\(not shown\) +This looks like a password\n/);
    assert.match(out, /\n2 +NOTE\.wifi_password=\(not shown\) +This looks like a password\n/);
  }));
