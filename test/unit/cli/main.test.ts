/** The command line: help for everything, clear errors, and exit statuses that scripts can rely on. */

import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, type TestContext, test } from "node:test";
import { OperatorError } from "../../../src/base/errors.ts";
import { COMMANDS, main } from "../../../src/cli/main.ts";

const folder = mkdtempSync(join(tmpdir(), "sideband-cli-"));
after(() => rmSync(folder, { recursive: true }));

/** Runs the command line and returns what it said. */
async function run(context: TestContext, ...args: string[]) {
  const said = { out: "", err: "" };
  const log = context.mock.method(console, "log", (line: string) => {
    said.out += `${line}\n`;
  });
  const error = context.mock.method(console, "error", (line: string) => {
    said.err += `${line}\n`;
  });
  try {
    return { status: await main(args), ...said };
  } finally {
    log.mock.restore();
    error.mock.restore();
  }
}

function file(name: string, ...lines: string[]): string {
  const path = join(folder, name);
  writeFileSync(path, lines.join("\n"));
  return path;
}

const GOOD = JSON.stringify({ profile: [{ label: "USER.name", value: "Ada" }] });

test("--version prints the version of package.json", async (context) => {
  const manifest = JSON.parse(readFileSync(new URL("../../../package.json", import.meta.url), "utf8"));
  for (const flag of ["--version", "-v"]) {
    const { status, out } = await run(context, flag);
    assert.deepEqual([status, out], [0, `${manifest.version}\n`]);
  }
});

test("--help lists every command, and every command has its own", async (context) => {
  const overview = await run(context, "--help");
  assert.equal(overview.status, 0);
  assert.ok(overview.out.split("\n").length <= 24, "it fits a terminal");
  for (const name of Object.keys(COMMANDS))
    assert.match(overview.out, new RegExp(`\\b${name.split(" ")[0]}\\b`));
  const all = await run(context, "help", "all");
  const names = [...all.out.matchAll(/^ {2}(\S+(?: \S+)?) {2}/gm)].map((match) => match[1]);
  assert.deepEqual(names, Object.keys(COMMANDS));
  for (const name of names) {
    for (const flag of ["--help", "-h"]) {
      const { status, out } = await run(context, ...name.split(" "), flag);
      assert.equal(status, 0);
      assert.match(out, new RegExp(`^usage: sideband ${name}\\b`));
      assert.match(out, /Exit status/);
    }
  }
});

test("no command is a wrong call that shows the overview; an unknown one is named", async (context) => {
  const none = await run(context);
  assert.equal(none.status, 2);
  assert.match(none.out, /usage: sideband COMMAND/);
  for (const name of ["remind", "__proto__", "Measure", ""]) {
    const { status, err } = await run(context, name);
    assert.equal(status, 2);
    assert.ok(err.includes(`there is no command "${name}"`));
  }
});

test("another spelling is a wrong call, and one line says what to write", async (context) => {
  for (const [line, instead] of [
    ["import --from notes.md --write", "import FILE"],
    ["import all.jsonl --with-keys", "accounts import FILE"],
    ["import all.jsonl --master-key=old.key", "accounts import FILE"],
    ["backup /backups/today", "backup create FOLDER"],
    ["backup --verify /backups/today", "backup verify BACKUP"],
    ["verify /backups/today", "verify --data FOLDER, or sideband backup verify BACKUP"],
    ["labels rename FAMILY.wife FAMILY.spouse", "rename LABEL TO"],
    ["list", "facts"],
    ["ls FAMILY", "facts GROUP"],
    ["show FAMILY.wife", "recall LABEL, or sideband facts for all"],
    ["search wife", "find WORDS"],
    ["add FAMILY.wife Grace", "remember LABEL VALUE"],
    ["delete FAMILY.wife", "forget LABEL"],
    ["end TASK.next friday", "remember LABEL --until WHEN, or --never"],
    ["ending", "facts --ending"],
    ["restore /backups/today --data new", "backup restore BACKUP, or sideband restore LABEL REVISION"],
  ]) {
    const { status, out, err } = await run(context, ...line.split(" "));
    const expected = `sideband ${line.split(" ")[0]}: write sideband ${instead}\n`;
    assert.deepEqual([status, out, err], [2, "", expected]);
  }
  const { status, err } = await run(context, "export", "--as", "csv");
  assert.equal(status, 2);
  assert.match(err, /--as takes one of jsonl, markdown/);
});

test("help before a command is that command's help", async (context) => {
  for (const name of ["remember", "keys create"]) {
    const { status, out } = await run(context, "help", ...name.split(" "));
    assert.equal(status, 0);
    assert.match(out, new RegExp(`^usage: sideband ${name} `));
  }
  assert.match((await run(context, "help", "keys")).out, /^usage: sideband keys revoke/m);
  const unknown = await run(context, "help", "nonsense");
  assert.deepEqual([unknown.status, unknown.out], [2, ""]);
  assert.match((await run(context, "help")).out, /usage: sideband COMMAND/);
});

test("a mistyped command is answered with the one that was probably meant", async (context) => {
  for (const [typed, meant] of [
    ["rember", "remember"],
    ["Facts", "facts"],
    ["key", "keys"],
    ["servce", "serve"],
  ]) {
    const { status, err } = await run(context, typed, "list");
    assert.equal(status, 2);
    assert.equal(
      err,
      `sideband: there is no command "${typed}"; did you mean "sideband ${meant}"? sideband help all lists them\n`,
    );
  }
  for (const typed of ["remind", "", "x"])
    assert.doesNotMatch((await run(context, typed)).err, /did you mean/, typed);
});

test("the first word of a group of commands shows the help of each", async (context) => {
  for (const [group, verb] of [
    ["keys", "revoke"],
    ["agents", "install"],
  ]) {
    const alone = await run(context, group);
    assert.equal(alone.status, 2);
    assert.match(alone.out, new RegExp(`^usage: sideband ${group} `));
    assert.match(alone.out, new RegExp(`^usage: sideband ${group} ${verb}`, "m"));
    assert.equal((await run(context, group, "--help")).status, 0);
    const unknown = await run(context, group, "delete");
    assert.equal(unknown.status, 2);
    assert.match(
      unknown.err,
      new RegExp(`^sideband: there is no command "${group} delete"; .*${group} ${verb}.*\n$`),
    );
  }
});

test("wrong options and arguments are a wrong call", async (context) => {
  const calls: [string, ...string[]][] = [
    ["it takes FILE.jsonl", "measure"],
    ["it takes FILE.jsonl", "measure", "a", "b"],
    ["there is no option --nonsense", "measure", "--nonsense", "a"],
    ["there is no option --jsn", "facts", "--jsn"],
    [
      'there is no option -5; put an argument that begins with "-" last, after --',
      ...["remember", "USER.name", "-5 degrees"],
    ],
    ["--data needs a value", "facts", "--data"],
    ['--data needs a value; write one that begins with "-" as --data=VALUE', "facts", "--data", "--json"],
    ["Option '--json' does not take an argument", "facts", "--json=1"],
  ];
  for (const [text, ...call] of calls) {
    const { status, err } = await run(context, ...call);
    assert.equal(status, 2, call.join(" "));
    assert.equal(err, `sideband ${call[0]}: ${text} (sideband ${call[0]} --help says how to call it)\n`);
  }
});

test("what is wrong for the operator is one line, whatever the error is called; any other error stays as it is", async (context) => {
  const command = await COMMANDS.read();
  let error: Error = new (class NewError extends OperatorError {
    override name = "NewError";
  })("the folder is odd");
  const failing = async () => ({ ...command, run: () => Promise.reject(error) });
  context.mock.method(COMMANDS, "read", failing);
  const { status, err } = await run(context, "read");
  assert.deepEqual([status, err], [1, "sideband read: the folder is odd\n"]);
  error = new Error("a programmer's");
  await assert.rejects(run(context, "read"), error);
});

test("measure prints one JSON object whose counts add up", async (context) => {
  const profile = {
    profile: [
      { label: "USER.name", value: "Ada" },
      { label: "MY.own", value: "東京" },
    ],
  };
  const path = file("good.jsonl", GOOD, "", JSON.stringify(profile), "");
  const { status, out } = await run(context, "measure", path, "--json");
  assert.equal(status, 0);
  const result = JSON.parse(out);
  assert.deepEqual(
    [result.profiles, result.facts, result.carried, result.exact, result.chars, result.lossless_profiles],
    [2, 3, 3, 3, 8, 2],
  );
  assert.equal(result.tokens, 512);
  const text = await run(context, "measure", path);
  assert.match(text.out, /profiles +2, 2 of them carried whole and exact/);
});

test("measure shows how far it is: at a terminal in one line, elsewhere in a line every ten seconds", async (context) => {
  const path = file("progress.jsonl", GOOD, GOOD, GOOD, "");
  const said: string[] = [];
  context.mock.method(process.stderr, "write", (text: string) => said.push(text) > 0);
  let nowMs = 0;
  context.mock.method(Date, "now", () => {
    nowMs += 6_000;
    return nowMs;
  });
  const { isTTY } = process.stderr;
  try {
    process.stderr.isTTY = true;
    await run(context, "measure", path, "--json");
    assert.deepEqual(
      said.map((text) => text.replace(/^.*profiles/s, "profiles")),
      ["profiles: 1/3, 12 s left", "profiles: 2/3, 6 s left", "profiles: 3/3, 0 s left", "\r\u001b[K"],
    );
    said.length = 0;
    process.stderr.isTTY = false;
    await run(context, "measure", path, "--json");
    assert.match(said.join(""), /^█+░+ profiles: 2\/3, 6 s left\n$/);
  } finally {
    process.stderr.isTTY = isTTY;
  }
});

test("a bad line ends with status 1, file and line number", async (context) => {
  const many = JSON.stringify({
    profile: Array.from({ length: 257 }, (_, i) => ({ label: `l${i}`, value: "x" })),
  });
  const bad: [string, RegExp][] = [
    ["{not json", /:3 is not JSON/],
    ["null", /:3: expected/],
    ["[]", /:3: expected/],
    ["{}", /:3: expected/],
    [many, /:3: 257 facts/],
    ['{"profile":[{"label":"a","value":""}]}', /:3: .*0 bytes/],
    ['{"profile":[{"label":"a","value":"\\ud800"}]}', /:3: .*well-formed/],
  ];
  for (const [line, problem] of bad) {
    const { status, err } = await run(context, "measure", file("bad.jsonl", GOOD, "", line));
    assert.equal(status, 1);
    assert.match(err, problem);
    assert.match(err, /bad\.jsonl/);
  }
});

test("a file that is not there, or is a folder, ends with status 1 and says so", async (context) => {
  for (const path of [join(folder, "absent.jsonl"), folder]) {
    const { status, err } = await run(context, "measure", path);
    assert.equal(status, 1);
    assert.match(err, /cannot read/);
  }
});

test("a file without a profile ends with status 1 and says what belongs into it", async (context) => {
  for (const path of [file("empty.jsonl"), file("blank.jsonl", "", " ", "")]) {
    const { status, out, err } = await run(context, "measure", path, "--json");
    assert.deepEqual([status, out], [1, ""]);
    assert.match(err, /^sideband measure: .*\.jsonl holds no profile: give it lines of [^\n]+\n$/);
  }
});
