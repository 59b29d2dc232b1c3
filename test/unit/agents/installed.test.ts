/** The record of what is installed: it undoes an installation byte for byte, and holds nothing of the user's own files. */

import assert from "node:assert/strict";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import fc from "fast-check";
import type { Piece } from "../../../src/agents/agent-files.ts";
import { InstallationRecord, isIntact } from "../../../src/agents/installation-record.ts";
import { changeBetween, textBefore } from "../../../src/agents/text-change.ts";
import { closeHomeFolder } from "../../../src/agents/user-file.ts";
import { temporaryFolder } from "../../fixtures/ends.ts";

const HOOKS = ["SessionStart", "Stop"].map((event) => {
  const hooks = [{ type: "command", command: "sideband hook" }];
  return [event, [{ hooks }]] as const;
});
const SECRET = "sk-of-another-server";
/** Files of a user, in formats of their own. */
const FILES: Record<string, { readonly text: string; readonly piece: Omit<Piece, "path"> }> = {
  "mcp.json": {
    text: `{\n\t"mcpServers": {\n\t\t// mine\n\t\t"other": { "env": { "TOKEN": "${SECRET}" } }, // last\n\t}\n}`,
    piece: { kind: "json", text: '{"command":"sideband","args":["mcp"]}', keys: ["mcpServers", "sideband"] },
  },
  "empty.json": {
    text: "{}",
    piece: { kind: "json", text: '{"command":"sideband"}', keys: ["mcpServers", "sideband"] },
  },
  "config.toml": {
    text: `model = "x"\n[mcp_servers.other]\ntoken = "${SECRET}"`,
    piece: { kind: "toml", text: '[mcp_servers.sideband]\ncommand = "sideband"\n' },
  },
  "hooks.json": {
    text: `{\r\n    "hooks": {\r\n        "Stop": [{"hooks": [{"command": "curl -H ${SECRET}"}]}],\r\n        "Other": []\r\n    }\r\n}`,
    piece: { kind: "hooks", text: JSON.stringify({ hooks: Object.fromEntries(HOOKS) }) },
  },
};
const ENTRY = { agent: "codex", version: "1", command: ["sideband"] };

function makeHome(context: TestContext) {
  const home = temporaryFolder(context);
  for (const [name, { text }] of Object.entries(FILES)) writeFileSync(join(home, name), text);
  const pieces = (change = (text: string) => text): Piece[] => [
    ...Object.entries(FILES).map(([name, { piece }]) => ({
      ...piece,
      path: join(home, name),
      text: change(piece.text),
    })),
    { path: join(home, "new.json"), kind: "json", text: '{"command":"sideband"}', keys: ["sideband"] },
  ];
  const record = new InstallationRecord(home);
  const install = (some = pieces()) => record.install({ ...ENTRY, target: home }, some, false);
  const remove = () => record.remove(record.find("codex", home)!);
  return { home, pieces, record, install, remove, file: join(home, ".sideband", "agents.json") };
}

function assertAsBefore(home: string): void {
  for (const [name, { text }] of Object.entries(FILES))
    assert.equal(readFileSync(join(home, name), "utf8"), text, name);
  assert.ok(!existsSync(join(home, "new.json")));
}

test("the record holds nothing of the user's own settings, and an installation is undone byte for byte", (context) => {
  const { home, record, install, remove, file } = makeHome(context);
  for (let round = 0; round < 2; round++) install();
  for (const name of Object.keys(FILES)) assert.match(readFileSync(join(home, name), "utf8"), /sideband/);
  assert.ok(isIntact(record.find("codex", home)!));
  const text = readFileSync(file, "utf8");
  assert.ok(!text.includes(SECRET), text);
  assert.ok(!text.includes("mine"), text);
  assert.equal(statSync(file).mode & 0o777, 0o600);
  remove();
  assertAsBefore(home);
});

test("after a newer version was installed over an older one, both are undone", (context) => {
  const { home, pieces, install, remove } = makeHome(context);
  install();
  install(
    pieces((text) =>
      text.replaceAll("sideband", "/opt/bin/sideband").replace("[mcp_servers./opt/bin/", "[mcp_servers."),
    ),
  );
  assert.match(readFileSync(join(home, "mcp.json"), "utf8"), /"command": "\/opt\/bin\/sideband"/);
  remove();
  assertAsBefore(home);
});

test("what the user has changed since stays, before a second installation and after it", (context) => {
  const { home, install, remove } = makeHome(context);
  const path = join(home, "mcp.json");
  const change = (from: string, to: string) =>
    writeFileSync(path, readFileSync(path, "utf8").replace(from, to));
  install();
  change("// mine", "// ours");
  install();
  change("// last", "// end");
  remove();
  const left = readFileSync(path, "utf8");
  assert.ok(left.includes("// ours") && left.includes("// end") && !left.includes('"sideband"'), left);
});

const command = (hook: string) => ({ type: "command", command: hook });

/** A piece in a file that a user has, and what becomes of it. */
function makePiece(context: TestContext, piece: Omit<Piece, "path">, text: string) {
  const home = temporaryFolder(context);
  const path = join(home, "file");
  writeFileSync(path, text);
  const record = new InstallationRecord(home);
  const install = (text = piece.text) =>
    record.install({ ...ENTRY, target: home }, [{ ...piece, text, path }], false)[0]?.done;
  const remove = () => record.remove(record.find("codex", home)!)[0].done;
  const write = (text: string) => writeFileSync(path, text);
  return { install, remove, write, read: () => readFileSync(path, "utf8"), record };
}

test("a hook of the user's own stays, also in a group of ours or with a name like ours, and none of ours is left", (context) => {
  const piece = FILES["hooks.json"].piece;
  const named = { Stop: [{ hooks: [command("echo the sideband hook ran")] }] };
  const { install, remove, write, read } = makePiece(context, piece, JSON.stringify({ hooks: named }));
  install();
  const { hooks } = JSON.parse(read());
  hooks.SessionStart[0].hooks.unshift(command("mine"));
  hooks.SessionStart[0].matcher = "startup";
  hooks.Stop[1].hooks[0].timeout = 30;
  write(JSON.stringify({ hooks }));
  install(piece.text.replaceAll("sideband hook", "/opt/sideband hook"));
  const commands = read().match(/"command":\s*"[^"]*hook"/g);
  assert.deepEqual(commands, Array(2).fill('"command":"/opt/sideband hook"'));
  assert.equal(remove(), "restored");
  const mine = { SessionStart: [{ hooks: [command("mine")], matcher: "startup" }] };
  assert.deepEqual(JSON.parse(read()), { hooks: { ...named, ...mine } });
});

test("a hooks file of another shape is refused in one line, or is as good as one", (context) => {
  for (const text of ["null", '{"hooks":[]}', '{"hooks":{"Stop":{}}}', '{"hooks":"none"}']) {
    const { install, read } = makePiece(context, FILES["hooks.json"].piece, text);
    assert.throws(() => install(), /^UserFileError: [^\n]*file: [^\n]*; it is left as it is$/, text);
    assert.equal(read(), text);
  }
  for (const text of [
    "",
    '{"hooks":null}',
    '{"hooks":{"Stop":null}}',
    '{"hooks":{"Stop":[null,{"hooks":{}},[]]}}',
  ]) {
    const { install, remove, read } = makePiece(context, FILES["hooks.json"].piece, text);
    assert.equal(install(), "wrote");
    assert.equal(remove(), "restored");
    assert.equal(read(), text);
  }
});

test("a table with our name is the user's own in every spelling, and a second one is never written", (context) => {
  const piece = FILES["config.toml"].piece;
  for (const text of [
    '[ mcp_servers . "sideband" ] # mine\ncommand = "mine"\n',
    "['mcp_servers'.sideband]\n",
    '[mcp_servers]\nother = { command = "x" }\nsideband = { command = "mine" }\n',
    '[mcp_servers]\nsideband.command = "mine"\n',
    'mcp_servers.sideband.command = "mine"\n',
    'mcp_servers = { other = { args = ["}"] }, sideband = { command = "mine" } }\n',
    '[mcp_servers.sideband.env]\nTOKEN = "x"\n',
  ]) {
    const { install, read } = makePiece(context, piece, text);
    assert.equal(install(), "kept", text);
    assert.equal(read(), text);
  }
  for (const text of [
    'mcp_servers = { other = { command = "x" } }\n',
    "[[mcp_servers]]\n",
    'name = "open\n',
    "[a\n",
  ]) {
    const { install, read } = makePiece(context, piece, text);
    assert.throws(() => install(), /^UserFileError: [^\n]*file: [^\n]*; it is left as it is$/, text);
    assert.equal(read(), text);
  }
});

test("a text that only looks like our table is none, and every form of TOML is passed over", (context) => {
  const text = `\ufeff# [mcp_servers.sideband]
"quoted key" = '[mcp_servers.sideband]' # a 'comment"
long = """
[mcp_servers.sideband]
a \\""" and "" here"""""
literal = '''
[mcp_servers.sideband]\\'''
numbers = [1_000, -3.5e+2, inf, 0xff, [ # nested
  ["a]"], {b = "}", c.d = 1},
], ]
when = 1979-05-27 07:32:00Z
time = 07:32:00
ok = true
[[list]]
sideband = 1
[mcp_servers.other]
sideband.x = {}
`;
  const { install, remove, read } = makePiece(context, FILES["config.toml"].piece, text);
  assert.equal(install(), "wrote");
  assert.equal(remove(), "restored");
  assert.equal(read(), text);
});

test("keys that the user adds to our table stay in it: a new installation leaves them, and a removal says so", (context) => {
  const piece = FILES["config.toml"].piece;
  const before = '[mcp_servers.other]\ncommand = "x"\n';
  for (const added of ["timeout = 20\n", '[mcp_servers.sideband.env]\nTOKEN = "x"\n']) {
    const { install, remove, write, read, record } = makePiece(context, piece, before);
    install();
    write(`${read()}${added}[other]\nx = 1\n`);
    const newer = piece.text.replace('"sideband"', '"/opt/sideband"');
    assert.equal(install(newer), "wrote");
    const text = `${before}\n${newer}${added}[other]\nx = 1\n`;
    assert.equal(read(), text);
    assert.ok(isIntact(record.all()[0]));
    assert.equal(remove(), "left");
    assert.equal(read(), text);
  }
});

test("a change of a text is undone exactly, and only in that text", () => {
  const text = fc.string({ maxLength: 20 });
  fc.assert(
    fc.property(fc.array(fc.tuple(text, text), { maxLength: 6 }), (pairs) => {
      const before = pairs.map(([kept]) => kept).join("");
      const after = pairs.flat().join("");
      const change = changeBetween(before, after);
      assert.equal(textBefore(after, change), before);
      assert.equal(textBefore(`${after}x`, change), undefined);
    }),
  );
  assert.equal(changeBetween("abc", "ac"), null);
});

test("the folder of ours in a home is closed to others, also one that was open; others' folders and links stay", (context) => {
  const { home, install } = makeHome(context);
  const folder = join(home, ".sideband");
  const mode = (path: string) => statSync(path).mode & 0o777;
  install();
  assert.equal(mode(folder), 0o700);
  chmodSync(folder, 0o755);
  closeHomeFolder(home);
  assert.equal(mode(folder), 0o700);
  chmodSync(folder, 0o500);
  closeHomeFolder(home);
  assert.equal(mode(folder), 0o500, "no right is added");
  const linked = join(home, "linked");
  mkdirSync(join(linked, "elsewhere"), { recursive: true, mode: 0o755 });
  symlinkSync(join(linked, "elsewhere"), join(linked, ".sideband"));
  chmodSync(join(linked, "elsewhere"), 0o755);
  closeHomeFolder(linked);
  assert.equal(mode(join(linked, "elsewhere")), 0o755);
  closeHomeFolder(join(home, "nobody"));
});
