/** Hosts that have their MCP servers in a JSON file: where it is, what becomes of the user's file, and what can go wrong. */

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { suite, type TestContext, test } from "node:test";
import { fileURLToPath } from "node:url";
import type { System } from "../../src/agents/agent-files.ts";
import { AGENTS } from "../../src/agents/install.ts";
import { InstallationRecord, isIntact } from "../../src/agents/installation-record.ts";
import { DRAFT_ENDING } from "../../src/agents/user-file.ts";
import { readSystemFolders } from "../../src/config.ts";
import { fieldsOf } from "../fixtures/fields.ts";
import { builtSideband } from "./built.ts";
import { makeHost } from "./host.ts";

const files = fileURLToPath(new URL("../../agents", import.meta.url));

/** A home folder with a space in its name, and the installation of an agent in it. */
function makeHome(t: TestContext) {
  const home = join(mkdtempSync(join(tmpdir(), "sideband-files-")), "Ada Lovelace");
  mkdirSync(home);
  t.after(() => rmSync(dirname(home), { recursive: true, force: true }));
  const record = new InstallationRecord(home);
  const system = { home, platform: process.platform };
  const install = (name: string, { program = "/opt/node", dryRun = false } = {}) => {
    const kind = AGENTS.find((agent) => agent.name === name)!;
    const target = kind.folder(system);
    const command = [program, "/opt/sideband.js"];
    const own = { files, openclawModule: "" };
    const pieces = kind.pieces({ ...own, ...system, isUsual: true, target, command });
    return record.install({ agent: name, target, version: "1", command }, pieces, dryRun);
  };
  const remove = (name: string) => record.remove(record.all().find(({ agent }) => agent === name)!);
  const write = (path: string, text: string | Buffer, mode = 0o644) => {
    mkdirSync(dirname(join(home, path)), { recursive: true });
    writeFileSync(join(home, path), text);
    chmodSync(join(home, path), mode);
    return join(home, path);
  };
  return { home, record, install, remove, write };
}

suite("hosts with a settings file", () => {
  test("each host's folder is the documented one on Linux, macOS and Windows", () => {
    const linux = { platform: "linux", home: "/home/ada" } as const;
    const moved = { ...linux, ...readSystemFolders({ XDG_CONFIG_HOME: "/etc/ada", APPDATA: "" }) };
    const mac = { platform: "darwin", home: "/Users/ada" } as const;
    const windows = { platform: "win32", home: "C:\\Users\\ada" } as const;
    const roaming = { ...windows, ...readSystemFolders({ APPDATA: "D:\\Roaming", XDG_CONFIG_HOME: "here" }) };
    const cases: [name: string, system: System, folder: string][] = [
      ["cursor", linux, "/home/ada/.cursor"],
      ["cursor", windows, "C:\\Users\\ada\\.cursor"],
      ["vscode", linux, "/home/ada/.config/Code/User"],
      ["vscode", moved, "/etc/ada/Code/User"],
      ["vscode", mac, "/Users/ada/Library/Application Support/Code/User"],
      ["vscode", windows, "C:\\Users\\ada\\AppData\\Roaming\\Code\\User"],
      ["vscode", roaming, "D:\\Roaming\\Code\\User"],
      ["windsurf", mac, "/Users/ada/.codeium/windsurf"],
      ["windsurf", windows, "C:\\Users\\ada\\.codeium\\windsurf"],
      ["opencode", linux, "/home/ada/.config/opencode"],
      ["opencode", moved, "/etc/ada/opencode"],
      ["opencode", mac, "/Users/ada/.config/opencode"],
      ["opencode", windows, "C:\\Users\\ada\\.config\\opencode"],
      ["cline", linux, "/home/ada/.cline/data/settings"],
      ["cline", windows, "C:\\Users\\ada\\.cline\\data\\settings"],
      ["claude-desktop", linux, "/home/ada/.config/Claude"],
      ["claude-desktop", mac, "/Users/ada/Library/Application Support/Claude"],
      ["claude-desktop", roaming, "D:\\Roaming\\Claude"],
    ];
    for (const [name, system, folder] of cases)
      assert.equal(AGENTS.find((agent) => agent.name === name)?.folder(system), folder);
  });

  test("each host's entry has the form that it documents", (t) => {
    const { home, install } = makeHome(t);
    const entries: Record<string, [file: string, keys: string[], entry: object]> = {
      cursor: [
        ".cursor/mcp.json",
        ["mcpServers"],
        { command: "/opt/node", args: ["/opt/sideband.js", "mcp"] },
      ],
      vscode: [
        process.platform === "darwin"
          ? "Library/Application Support/Code/User/mcp.json"
          : ".config/Code/User/mcp.json",
        ["servers"],
        { type: "stdio", command: "/opt/node", args: ["/opt/sideband.js", "mcp"] },
      ],
      windsurf: [
        ".codeium/windsurf/mcp_config.json",
        ["mcpServers"],
        { command: "/opt/node", args: ["/opt/sideband.js", "mcp"] },
      ],
      opencode: [
        ".config/opencode/opencode.json",
        ["mcp"],
        { type: "local", command: ["/opt/node", "/opt/sideband.js", "mcp"] },
      ],
      cline: [
        ".cline/data/settings/cline_mcp_settings.json",
        ["mcpServers"],
        { command: "/opt/node", args: ["/opt/sideband.js", "mcp"] },
      ],
    };
    for (const [name, [file, [key], entry]] of Object.entries(entries)) {
      install(name);
      assert.deepEqual(JSON.parse(readFileSync(join(home, file), "utf8")), { [key]: { sideband: entry } });
    }
    const hook = JSON.parse(readFileSync(join(home, ".copilot/hooks/sideband.json"), "utf8"));
    assert.equal(hook.hooks.SessionStart[0].command, "/opt/node /opt/sideband.js hook --host vscode");
  });

  test("comments, line endings and mode stay, and removal gives the file back byte for byte", (t) => {
    const { home, install, remove, write } = makeHome(t);
    const text =
      '\ufeff{\r\n\t// mine\r\n\t"mcp": {\r\n\t\t"other": { "type": "local", "command": ["x"] }, // last\r\n\t},\r\n}';
    const path = write(".config/opencode/opencode.jsonc", text, 0o600);
    install("opencode");
    const after = readFileSync(path, "utf8");
    assert.ok(
      after.startsWith("\ufeff{\r\n\t// mine") && after.includes('}, // last\r\n\t\t"sideband": {\r\n'),
    );
    assert.doesNotMatch(after, /[^\r]\n/);
    assert.equal(statSync(path).mode & 0o777, 0o600);
    // A newer installation of ours calls another program, and the way back is still the same.
    install("opencode", { program: "/opt/newer" });
    assert.ok(readFileSync(path, "utf8").includes("/opt/newer"));
    assert.ok(!existsSync(join(home, ".config/opencode/opencode.json")));
    assert.deepEqual(fieldsOf(remove("opencode"), "done"), ["restored", "removed"]);
    assert.equal(readFileSync(path, "utf8"), text);
    assert.deepEqual(readdirSync(dirname(path)), ["opencode.jsonc"]);
  });

  test("an empty file, and one with null, get the entry and become again what they were", (t) => {
    const { install, remove, write } = makeHome(t);
    for (const text of ["", "\n", '{"mcpServers":null}', "{}"]) {
      const path = write(".codeium/windsurf/mcp_config.json", text);
      install("windsurf");
      assert.ok(readFileSync(path, "utf8").includes("sideband"));
      remove("windsurf");
      assert.equal(readFileSync(path, "utf8"), text);
    }
  });

  test("a server of the user's own with our name stays theirs and is never taken out", (t) => {
    const { record, install, write } = makeHome(t);
    for (const own of ['{"command":"mine"}', "null"]) {
      const text = `{"mcpServers":{"sideband":${own}}}`;
      const path = write(".codeium/windsurf/mcp_config.json", text);
      assert.deepEqual(install("windsurf"), [{ path, done: "kept" }]);
      assert.equal(readFileSync(path, "utf8"), text);
      assert.deepEqual(record.all(), []);
    }
  });

  test("a server of the user's own is found in each file that the host reads", (t) => {
    const { home, install, write } = makeHome(t);
    write(".config/opencode/opencode.jsonc", "{}");
    const path = write(
      ".config/opencode/opencode.json",
      '{"mcp":{"sideband":{"type":"remote","url":"http://a"}}}',
    );
    assert.deepEqual(
      install("opencode").filter(({ done }) => done === "kept"),
      [{ path, done: "kept" }],
    );
    assert.equal(readFileSync(join(home, ".config/opencode/opencode.jsonc"), "utf8"), "{}");
  });

  test("what the user added to our entry or beside it stays, also in an upgrade, and removal takes ours alone", (t) => {
    const { record, install, remove, write } = makeHome(t);
    install("windsurf");
    const [{ placed }] = record.all();
    const [{ path }] = placed;
    const file = JSON.parse(readFileSync(path, "utf8"));
    file.mcpServers.sideband.env = { SIDEBAND_USER_ID: "ada" };
    file.mcpServers.mine = { command: "x" };
    write(".codeium/windsurf/mcp_config.json", JSON.stringify(file, null, 4));
    assert.ok(isIntact(record.all()[0]));
    install("windsurf", { program: "/opt/newer" });
    const upgraded = JSON.parse(readFileSync(path, "utf8"));
    assert.equal(upgraded.mcpServers.sideband.command, "/opt/newer");
    assert.deepEqual(upgraded.mcpServers.sideband.env, { SIDEBAND_USER_ID: "ada" });
    remove("windsurf");
    assert.deepEqual(JSON.parse(readFileSync(path, "utf8")), { mcpServers: { mine: { command: "x" } } });
  });

  test("an entry that the user removed, or a file that was broken since, does not stop a removal", (t) => {
    const { record, install, remove, write } = makeHome(t);
    install("windsurf");
    write(".codeium/windsurf/mcp_config.json", '{"mcpServers":{}}');
    assert.ok(!isIntact(record.all()[0]));
    assert.equal(remove("windsurf")[0].done, "removed");
    install("windsurf");
    const path = write(".codeium/windsurf/mcp_config.json", "{ broken");
    assert.ok(!isIntact(record.all()[0]));
    assert.equal(remove("windsurf")[0].done, "left");
    assert.equal(readFileSync(path, "utf8"), "{ broken");
    assert.deepEqual(record.all(), []);
  });

  test("where a process was killed after the record and before the file, both ways on are open", (t) => {
    const { record, install, remove, write } = makeHome(t);
    const text = '{\n  "mcpServers": {}\n}\n';
    for (const isRepeated of [true, false]) {
      const path = write(".codeium/windsurf/mcp_config.json", text);
      install("windsurf");
      writeFileSync(path, text);
      assert.ok(!isIntact(record.all()[0]));
      if (isRepeated) assert.equal(install("windsurf")[0].done, "wrote");
      assert.equal(remove("windsurf")[0].done, isRepeated ? "restored" : "removed");
      assert.equal(readFileSync(path, "utf8"), text);
      assert.deepEqual(record.all(), []);
    }
  });

  test("a link stays a link, and the file behind it is written, also one that is not there yet", (t) => {
    const { home, install, remove, write } = makeHome(t);
    const kept = write("dotfiles/mcp.json", '{"mcpServers":{}}', 0o640);
    mkdirSync(join(home, ".cursor"));
    symlinkSync("../dotfiles/mcp.json", join(home, ".cursor", "mcp.json"));
    symlinkSync("../dotfiles/hooks.json", join(home, ".cursor", "hooks.json"));
    install("cursor");
    for (const file of ["mcp.json", "hooks.json"]) {
      assert.ok(lstatSync(join(home, ".cursor", file)).isSymbolicLink());
      assert.ok(readFileSync(join(home, "dotfiles", file), "utf8").includes("sideband"));
    }
    assert.equal(statSync(kept).mode & 0o777, 0o640);
    remove("cursor");
    assert.equal(readFileSync(kept, "utf8"), '{"mcpServers":{}}');
    assert.deepEqual(readdirSync(join(home, "dotfiles")), ["mcp.json"]);
    assert.ok(lstatSync(join(home, ".cursor", "hooks.json")).isSymbolicLink());
  });

  test("what cannot be read or must not be written is refused in one line, and nothing at all is written", (t) => {
    const { home, record, install, write } = makeHome(t);
    const cases: [text: string | Buffer, mode: number, fault: RegExp][] = [
      ["{ broken", 0o644, /hooks\.json: it is not JSON, in line 1; it is left as it is$/],
      ["[]", 0o644, /hooks\.json: it is not a JSON object/],
      ['{"hooks":[]}', 0o644, /hooks\.json: hooks is not what it should be/],
      [Buffer.from([0xff, 0xfe, 0x7b, 0x00]), 0o644, /hooks\.json: it is not UTF-8/],
      ["{}", 0o444, /hooks\.json: it is read-only/],
    ];
    for (const [text, mode, fault] of cases) {
      const path = write(".cursor/hooks.json", text, mode);
      assert.throws(() => install("cursor"), fault);
      assert.deepEqual(readFileSync(path), Buffer.from(text));
      assert.deepEqual(readdirSync(join(home, ".cursor")), ["hooks.json"]);
      assert.deepEqual(record.all(), []);
      rmSync(path);
    }
  });

  test("where one of two files cannot be put in place, the other is put back", (t) => {
    const { home, record, install, write } = makeHome(t);
    const path = write(".config/opencode/opencode.json", "{}");
    // In the way of the second file, where nobody looks before.
    mkdirSync(join(home, ".config/opencode/plugins", `sideband.js${DRAFT_ENDING}`), { recursive: true });
    assert.throws(() => install("opencode"), /directory/);
    assert.equal(readFileSync(path, "utf8"), "{}");
    assert.deepEqual(record.all(), []);
    assert.deepEqual(readdirSync(join(home, ".sideband")), []);
  });

  test("a dry run and a second installation write nothing", (t) => {
    const { home, install } = makeHome(t);
    assert.ok(install("cursor", { dryRun: true }).every(({ done }) => done === "wrote"));
    assert.deepEqual(readdirSync(home), []);
    assert.equal(install("cursor").length, 2);
    assert.deepEqual(install("cursor"), []);
  });
});

suite("sideband agents at once and cut off", { concurrency: false }, () => {
  test("installations at once are all recorded, and can all be removed", async (t) => {
    const host = makeHost(t);
    const names = ["cursor", "vscode", "windsurf", "cline", "claude-desktop", "opencode"];
    const results = await Promise.all(
      [...names, "cursor"].map((name) => host.shell(`sideband agents install ${name}`)),
    );
    for (const { status, stderr } of results) assert.equal(status, 0, stderr);
    const status = await host.sideband("agents status");
    for (const name of names) assert.match(status.stdout, new RegExp(`^${name} `, "m"));
    for (const name of names) assert.equal((await host.sideband(`agents remove ${name}`)).status, 0);
    assert.ok(!existsSync(join(host.home, ".cursor")));
  });

  test("an installation that is killed at any moment can be repeated, and removed without a trace", async (t) => {
    const host = makeHost(t);
    const path = join(host.home, ".cursor", "mcp.json");
    const text = '{\n  // mine\n  "mcpServers": {}\n}\n';
    const script = builtSideband();
    mkdirSync(dirname(path));
    const env = { PATH: process.env.PATH ?? "", HOME: host.home };
    let killed = 0;
    for (let delayMs = 0; delayMs < 400; delayMs += 40) {
      writeFileSync(path, text);
      const child = spawn(process.execPath, [script, "agents", "install", "cursor"], {
        env,
        stdio: "ignore",
      });
      const timer = setTimeout(() => child.kill("SIGKILL"), delayMs);
      const [, signal] = await once(child, "exit");
      clearTimeout(timer);
      if (signal === "SIGKILL") killed += 1;
      const again = await host.sideband("agents install cursor");
      assert.equal(again.status, 0, again.stderr);
      assert.ok(readFileSync(path, "utf8").includes('"sideband"'));
      assert.equal((await host.sideband("agents remove cursor")).status, 0);
      assert.equal(readFileSync(path, "utf8"), text);
      assert.deepEqual(readdirSync(dirname(path)), ["mcp.json"]);
    }
    assert.ok(killed > 0);
  });

  test("a home folder with a space, and no sideband on the search path", async (t) => {
    const host = makeHost(t);
    const home = join(host.home, "Ada Lovelace");
    mkdirSync(home);
    const env = { HOME: home, PATH: dirname(process.execPath) };
    for (const name of ["opencode", "gemini-cli", "cursor"])
      assert.equal((await host.sideband(`agents install ${name}`, env)).status, 0);
    const entry = JSON.parse(readFileSync(join(home, ".config/opencode/opencode.json"), "utf8")).mcp.sideband;
    assert.deepEqual(entry.command, [process.execPath, builtSideband(), "mcp"]);
    const list = await host.sideband("agents list", env);
    assert.match(list.stdout, /^cursor +Cursor: MCP server and hook \(~\/\.cursor\)$/m);
    const broken = join(home, ".codeium", "windsurf", "mcp_config.json");
    mkdirSync(dirname(broken), { recursive: true });
    writeFileSync(broken, "{ broken");
    const refused = await host.sideband("agents install windsurf", env);
    assert.equal(refused.status, 1);
    assert.match(
      refused.stderr,
      /^sideband agents install: .*mcp_config\.json: it is not JSON, in line 1; .*\n$/,
    );
    assert.equal(readFileSync(broken, "utf8"), "{ broken");
  });
});
