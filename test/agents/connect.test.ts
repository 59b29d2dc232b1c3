/** `sideband connect`, `disconnect`, `off` and `on`, as a person types them, and what hooks and MCP servers make of them. */

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { userInfo } from "node:os";
import { join } from "node:path";
import { suite, test } from "node:test";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import type { KeyAccess } from "../../src/memory/records.ts";
import { sharedRunning } from "../http/running-service.ts";
import { closedPort } from "../unit/sdk/scripted-server.ts";
import { builtSideband } from "./built.ts";
import { type Host, makeHost } from "./host.ts";

const running = sharedRunning();

const newKey = async (user: string | null, access: KeyAccess = "write") =>
  (await running.service.core.keys.create({ account: "acme", tier: "unlimited", user, access })).key;

const settingsOf = ({ home }: Host) => join(home, ".sideband", "settings.json");

async function said(host: Host, words: string, env?: Record<string, string>): Promise<string> {
  const { status, stdout, stderr } = await host.sideband(words, env);
  assert.equal(status, 0, `${words}: ${stderr}`);
  return stdout;
}

async function refusal(host: Host, words: string, env?: Record<string, string>): Promise<string> {
  const { status, stderr } = await host.sideband(words, env);
  assert.equal(status, 1, words);
  return stderr;
}

suite("connect", { concurrency: false }, () => {
  test("facts of two machines come together at a service, after a plan; what differs stays, and disconnect brings them back", async (t) => {
    const key = await newKey("ada");
    const [one, two] = [makeHost(t), makeHost(t)];
    await said(one, "remember FAMILY.wife Grace");
    await said(one, "remember TASK.next ship --project loom/main");
    await said(two, "remember FAMILY.wife Greta");
    await said(two, "remember FAMILY.dog Rex");

    const plan = await one.sideband(`connect ${running.url}/`, { SIDEBAND_API_KEY: key });
    assert.equal(plan.status, 1);
    assert.match(plan.stdout, /FAMILY\.wife .*"Grace"/);
    assert.match(plan.stdout, /nothing was changed/);
    assert.match(await said(one, "agents status"), /\.sideband\/data answers/);

    const connected = await said(one, `connect ${running.url}/ --yes`, { SIDEBAND_API_KEY: key });
    assert.match(connected, /2 facts written/);
    assert.match(connected, /connected: the memory of ada is at http/);
    assert.equal(statSync(settingsOf(one)).mode & 0o777, 0o600);
    const again = await said(one, `connect ${running.url} --yes`, { SIDEBAND_API_KEY: key });
    assert.match(again, /there already: .*FAMILY\.wife/);

    const second = await said(two, `connect ${running.url} --yes`, { SIDEBAND_API_KEY: key });
    assert.match(second, /1 fact with another value there, which stays .*FAMILY\.wife/);
    assert.equal(await said(two, "facts --person"), await said(one, "facts --person"));
    assert.match(
      await said(two, "facts --person"),
      /FAMILY\.wife=Grace\nFAMILY\.dog=Rex|FAMILY\.dog=Rex\nFAMILY\.wife=Grace/,
    );
    assert.match(await said(two, "agents status"), new RegExp(`memory of ada .*${running.url} answers`));
    const start = JSON.stringify({ hook_event_name: "SessionStart", cwd: two.home });
    const section = async (env: Record<string, string>) =>
      (await two.program("sideband hook", { input: start, env })).stdout;
    assert.match(await section({ SIDEBAND_GROUPS: "USER,FAMILY" }), /FAMILY\.wife=Grace/);
    // A prompt for code has the standard groups, and those that are named.
    assert.doesNotMatch(await section({}), /FAMILY/);

    // A memory that the call or the environment names is another one, and gets neither the key nor the user.
    assert.match(await said(two, `facts --person --data ${two.home}/.sideband/data`), /FAMILY\.wife=Greta/);
    assert.match(await refusal(two, `facts --person --url ${running.url}`), /asks for a key/);

    const parted = await said(two, "disconnect --take --replace --yes");
    assert.match(await said(two, "facts --person"), /FAMILY\.wife=Grace/);
    assert.match(await said(two, "facts --project loom/main"), /TASK\.next=ship/);
    assert.equal("service" in JSON.parse(readFileSync(settingsOf(two), "utf8")), false);
    assert.match(await refusal(two, "disconnect"), /connected to no service/);
    const [, moment] = /^to take them back, once disconnected: .* rollback --to (\S+)$/m.exec(parted) ?? [];
    await said(two, `rollback --to ${moment}`);
    assert.match(await said(two, "facts --person"), /FAMILY\.wife=Greta/);
  });

  test("a wrong address or key is one clear line, and changes nothing", async (t) => {
    const host = makeHost(t);
    await said(host, "remember FAMILY.wife Grace");
    const env = { SIDEBAND_API_KEY: await newKey("ada", "read") };
    assert.match(
      await refusal(host, "connect memory.example/", env),
      /write the whole address: https:\/\/memory\.example\n/,
    );
    assert.match(
      await refusal(host, "connect http://memory.example", env),
      /write https:\/\/memory\.example\n/,
    );
    assert.match(await refusal(host, "connect https://memory.example/?key=1", env), /of the service alone/);
    assert.match(await refusal(host, `connect ${await closedPort()} --yes`, env), /cannot reach/);
    assert.match(await refusal(host, `connect ${running.url} --yes`, env), /this key only reads/);
    assert.match(await refusal(host, `connect ${running.url} --user bob`, env), /for the user ada alone/);
    const wrong = { SIDEBAND_API_KEY: running.key.replace(/.$/, (last) => (last === "x" ? "y" : "x")) };
    assert.match(await refusal(host, `connect ${running.url} --yes`, wrong), /does not know this key/);
    assert.match(await said(host, "agents status"), /\.sideband\/data answers/);
    // Without facts a key that reads is enough, and an account's key is for the user of this machine.
    assert.match(await said(host, `connect ${running.url} --no-facts --yes`, env), /memory of ada is at/);
    const own = { SIDEBAND_API_KEY: running.key };
    assert.match(
      await said(host, `connect ${running.url} --no-facts --yes`, own),
      new RegExp(`memory of ${userInfo().username} is at`),
    );
  });

  test("settings that cannot be read are named, and no other memory is used", async (t) => {
    const host = makeHost(t);
    mkdirSync(join(host.home, ".sideband"));
    writeFileSync(settingsOf(host), "{");
    assert.match(await refusal(host, "facts"), /settings\.json cannot be read/);
  });

  test("off: a session is told so, and neither hooks nor the MCP server read or store; a clone is off too; on takes it back", async (t) => {
    const host = makeHost(t);
    const [repository, clone] = ["loom", "clone"].map((name) => join(host.home, name));
    for (const folder of [repository, clone]) execFileSync("git", ["init", "-q", folder]);
    const git = (folder: string, ...args: string[]) => execFileSync("git", args, { cwd: folder });
    await said(host, "remember USER.name Grace");
    const transcript = join(host.home, "transcript.jsonl");
    writeFileSync(transcript, '{"role":"assistant"}\n'.repeat(30));
    const hook = async (event: string, cwd: string, env = {}) => {
      const input = JSON.stringify({ hook_event_name: event, cwd, transcript_path: transcript });
      const { stdout, stderr } = await host.program("sideband hook", { input, env });
      return stdout + stderr;
    };
    assert.match(await hook("Stop", repository), /"decision":"block"/);
    assert.match((await host.shell(`cd ${repository} && sideband off`)).stdout, /^memory is off for loom-/);
    const line = /^\{"systemMessage":"Sideband is off for loom-\w+: \\"sideband on\\" turns it on"\}$/;
    assert.match(await hook("SessionStart", repository), line);
    for (const event of ["SubagentStart", "PreCompact", "Stop"])
      assert.equal(await hook(event, repository), "");
    assert.match(await hook("SessionStart", clone), /USER\.name=Grace/);

    // A remote that comes later turns nothing on. With it, a clone is the same repository.
    git(repository, "remote", "add", "origin", "https://example.com/ada/loom.git");
    assert.match(await hook("SessionStart", repository), line);
    await host.shell(`cd ${repository} && sideband off`);
    git(clone, "remote", "add", "origin", "https://example.com/ada/loom.git");
    assert.match(await hook("SessionStart", clone), line);

    const client = new Client({ name: "test", version: "1.0.0" });
    const env = { PATH: process.env.PATH ?? "", HOME: host.home };
    const command = { command: process.execPath, args: [builtSideband(), "mcp"], env, cwd: repository };
    await client.connect(new StdioClientTransport({ ...command, stderr: "ignore" }));
    t.after(() => client.close());
    assert.deepEqual((await client.listTools()).tools, []);
    const called = await client.callTool({ name: "recall", arguments: {} });
    assert.match(JSON.stringify(called), /memory_off: Sideband is off for loom-/);

    assert.match((await host.shell(`cd ${repository} && sideband on`)).stdout, /^memory is on for loom-/);
    assert.match(await hook("SessionStart", clone), /USER\.name=Grace/);
    const session = await hook("SessionStart", clone, { SIDEBAND_OFF: "1" });
    assert.equal(session, '{"systemMessage":"Sideband is off for this session: SIDEBAND_OFF is set"}');
    assert.match(await refusal(host, "off"), /in no git repository/);

    // The person's word in a host: its server has no tools from then on, and the hooks say nothing in that conversation.
    const one = new Client({ name: "test", version: "1.0.0" });
    await one.connect(new StdioClientTransport({ ...command, stderr: "ignore" }));
    t.after(() => one.close());
    const section = async () => JSON.stringify(await one.getPrompt({ name: "context" }));
    assert.match(await section(), /USER\.name=Grace/);
    const [message] = (await one.getPrompt({ name: "off" })).messages;
    assert.deepEqual((await one.listTools()).tools, []);
    assert.match(JSON.stringify(await one.callTool({ name: "recall", arguments: {} })), /memory_off/);
    await assert.rejects(section(), /off for the rest of this session/);
    writeFileSync(transcript, `${JSON.stringify({ role: "user", message })}\n`, { flag: "a" });
    for (const event of ["SessionStart", "SubagentStart", "PreCompact", "Stop"])
      assert.equal(await hook(event, clone), "");
  });

  test("an unknown setting is named with the one that was meant: by a command, and by a hook when a session starts", async (t) => {
    const host = makeHost(t);
    const env = { SIDEBAND_PROJCT: "x" };
    const line =
      "sideband: unknown setting SIDEBAND_PROJCT (did you mean SIDEBAND_PROJECT?) (docs/CONFIG.md lists them)\n";
    assert.equal((await host.sideband("agents list", env)).stderr, line);
    const stop = JSON.stringify({ hook_event_name: "Stop", cwd: host.home });
    assert.equal((await host.shell("sideband hook", { input: stop, env })).stderr, "");
    const start = JSON.stringify({ hook_event_name: "SessionStart", cwd: host.home });
    const off = { ...env, SIDEBAND_OFF: "1" };
    assert.equal((await host.shell("sideband hook", { input: start, env: off })).stderr, line);
  });
});
