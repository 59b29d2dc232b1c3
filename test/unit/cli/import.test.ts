/** sideband import, beside an owner in this process: what is said, and what is stored. */

import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
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
      await run("remember", "PET.cat", "Tom", "--description", "who lives here", ...ada);
      await run("pin", "PET.cat", ...ada);
      assert.equal((await run("export", ...ada, "--out", file)).status, 0);
    });
    const other = join(folder, "other");
    await besideOwner(other, async () => {
      const eve = ["--user", "eve", "--data", other];
      const dry = await run("import", file, ...eve);
      assert.match(
        dry.out,
        /^ada\.jsonl: an export of Sideband of ada, for eve\nnot looked at: keys, earlier values, and who wrote what when\n/,
      );
      assert.match(dry.out, /\nlabels that would be added: TRIP\.goal\n/);
      assert.match((await run("import", file, "--yes", ...eve)).out, /\n4 facts written\.\n/);
      assert.match((await run("labels", "--data", other)).out, /\nTRIP\.goal +person +where to \(added /);
      const { out } = await run("facts", "--json", "--project", "loom/x", ...eve);
      assert.deepEqual(rowsOf(JSON.parse(out).facts, "label", "value", "place", "expires_at"), [
        ["USER.name", "Ada", "person", "2099-01-01T00:00:00.000Z"],
        ["TASK.next", "weave", "worktree", undefined],
        ["TRIP.goal", "sea", "person", undefined],
        ["PET.cat", "Tom", "person", undefined],
      ]);
      const catOf = async () => {
        const answer = JSON.parse((await run("facts", "--json", ...eve)).out);
        return answer.facts.find(({ label }: { label: string }) => label === "PET.cat");
      };
      const { pinned, description } = await catOf();
      assert.deepEqual([pinned, description], [true, "who lives here"]);
      // A pin comes back also where the value is there.
      await run("unpin", "PET.cat", ...eve);
      assert.match((await run("import", file, "--yes", ...eve)).out, /\n1 fact written\.\n/);
      assert.equal((await catOf()).pinned, true);
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
